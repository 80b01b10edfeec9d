// Requests with a byte too many: whoever sends one does not speak this protocol, whatever it asks for.
#include <functional>
#include <map>

#include "server/session_fixture.hpp"

using namespace warpgrade::server;
using namespace warpgrade::server::testing;

namespace {

constexpr std::uint8_t yes = 1;

// A request of each kind that has an end, with handles that exist.
std::map<Op, Writer> requests(ServerFixture& client) {
    const FunctionId function = client.kernel("store_to");
    const ModuleId module = 1;
    const DevicePtr address = client.allocate(64);
    const auto stream = client.call(Op::create_stream, Writer().put(yes).put(yes)).first<StreamId>();
    const auto event = client.call(Op::create_event, Writer().put(yes)).first<EventId>();
    Writer image, copy, fill;
    wire::put(image, ImageDescriptor{});
    for (int twice = 0; twice < 2; ++twice) Region::range(address, 16).put(copy);
    wire::Transfer{}.put(copy);
    Region::range(address, 16).put(fill);
    wire::Transfer{}.put(fill.put(yes));
    constexpr std::uint64_t bytes = 64;
    return {{Op::hello, Writer().put(wire::version)},
            {Op::unload_module, Writer().put(module)},
            {Op::find_function, Writer().put(module).put_string("store_to")},
            {Op::find_symbol, Writer().put(module).put_string("factor")},
            {Op::share_symbol, Writer().put(module).put_string("factor")},
            {Op::set_dynamic_shared, Writer().put(function).put(bytes)},
            {Op::allocate, Writer().put(bytes).put_string("cudaMalloc")},
            {Op::allocate_host, Writer().put(bytes).put(std::uint64_t{0}).put_string("cudaMallocHost")},
            {Op::free_memory, Writer().put(address)},
            {Op::free_ordered, Writer().put(address).put(stream)},
            {Op::reserve_memory, Writer().put(bytes).put_string("cudaMallocAsync")},
            {Op::allocate_reserved, Writer().put(address)},
            {Op::memory_info, {}},
            {Op::find_allocation, Writer().put(address)},
            {Op::read, ServerFixture::transfer(Region::range(address, 16))},
            {Op::copy, copy},
            {Op::fill, fill},
            {Op::prefetch, Writer().put(address).put(bytes).put(yes)},
            {Op::create_image, image},
            {Op::destroy_image, Writer().put(ImageId{1})},
            {Op::occupancy, Writer().put(function).put(32u).put(bytes)},
            {Op::create_stream, Writer().put(yes).put(yes)},
            {Op::destroy_stream, Writer().put(stream)},
            {Op::synchronize_stream, Writer().put(stream)},
            {Op::query_stream, Writer().put(stream)},
            {Op::stream_wait_event, Writer().put(stream).put(event)},
            {Op::host_function, Writer().put(stream)},
            {Op::create_event, Writer().put(yes)},
            {Op::destroy_event, Writer().put(event)},
            {Op::record_event, Writer().put(event).put(stream)},
            {Op::synchronize_event, Writer().put(event)},
            {Op::query_event, Writer().put(event)},
            {Op::elapsed_time, Writer().put(event).put(event)},
            {Op::synchronize_device, {}},
            {Op::set_limit, Writer().put(yes).put(bytes)},
            {Op::reset, {}},
            {Op::refused_free, Writer().put(address)},
            {Op::refused_copy, Writer().put(address).put(bytes).put(bytes).put(yes)},
            {Op::wrong_direction, Writer().put(yes).put(yes).put(yes)},
            {Op::variable_address, Writer().put(address).put(yes).put(yes)},
            {Op::unmapped_host, Writer().put(address)},
            {Op::over_stack, Writer().put(bytes)},
            {Op::look_at_launch, Writer().put(1u)},
            {Op::host_fault, Writer().put(address).put(yes)},
            {Op::running_writes, {}},
            {Op::leave, {}},
            {Op::take_output, {}}};
}

}  // namespace

TEST_CASE_METHOD(ServerFixture, "a request with a byte too many ends the connection, the same without it does not") {
    const auto op = static_cast<Op>(GENERATE(range(std::size_t{0}, wire::ops.size())));
    const auto all = requests(*this);
    const auto found = all.find(op);
    if (found == all.end()) return;  // streamed, or of any length
    CAPTURE(wire::ops.at(static_cast<std::size_t>(op)).name);
    Writer request = found->second;
    SECTION("as it should be") {
        send_frame(op, ++sequence, request.bytes());
        CHECK_NOTHROW(receive());
        CHECK(call(Op::hello, Writer().put(wire::version)).status == 0);
    }
    SECTION("a byte too many") {
        send_frame(op, ++sequence, request.put(yes).bytes());
        CHECK(is_closed());
    }
}
