// Numbers that are facts of CUDA, of the machine or of the format, and what structures hold before anybody fills them.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>

#include "device/address_space.hpp"
#include "device/analysis.hpp"
#include "device/device.hpp"
#include "device/fields.hpp"
#include "device/kinds.hpp"
#include "device/order.hpp"
#include "device/origin.hpp"
#include "device/protocol.hpp"
#include "device/records.hpp"
#include "device/report.hpp"
#include "judge/catch.hpp"
#include "vgpu/model/host_costs.hpp"

using namespace warpgrade::device;

TEST_CASE("errors have the numbers of cudaError_t") {
    // cudaError_t in driver_types.h of CUDA 13, by the names of its enumerators.
    CHECK(error::success == 0);                           // cudaSuccess
    CHECK(error::invalid_value == 1);                     // cudaErrorInvalidValue
    CHECK(error::memory_allocation == 2);                 // cudaErrorMemoryAllocation
    CHECK(error::initialization_error == 3);              // cudaErrorInitializationError
    CHECK(error::invalid_configuration == 9);             // cudaErrorInvalidConfiguration
    CHECK(error::invalid_symbol == 13);                   // cudaErrorInvalidSymbol
    CHECK(error::invalid_device_pointer == 17);           // cudaErrorInvalidDevicePointer
    CHECK(error::invalid_channel_descriptor == 20);       // cudaErrorInvalidChannelDescriptor
    CHECK(error::invalid_memcpy_direction == 21);         // cudaErrorInvalidMemcpyDirection
    CHECK(error::invalid_device_function == 98);          // cudaErrorInvalidDeviceFunction
    CHECK(error::no_device == 100);                       // cudaErrorNoDevice
    CHECK(error::invalid_device == 101);                  // cudaErrorInvalidDevice
    CHECK(error::device_kernel_image_is_invalid == 200);  // cudaErrorInvalidKernelImage
    CHECK(error::no_kernel_image_for_device == 209);      // cudaErrorNoKernelImageForDevice
    CHECK(error::unsupported_limit == 215);               // cudaErrorUnsupportedLimit
    CHECK(error::invalid_ptx == 218);                     // cudaErrorInvalidPtx
    CHECK(error::unsupported_ptx_version == 222);         // cudaErrorUnsupportedPtxVersion
    CHECK(error::invalid_resource_handle == 400);         // cudaErrorInvalidResourceHandle
    CHECK(error::not_ready == 600);                       // cudaErrorNotReady
    CHECK(error::illegal_address == 700);                 // cudaErrorIllegalAddress
    CHECK(error::launch_out_of_resources == 701);         // cudaErrorLaunchOutOfResources
    CHECK(error::launch_timeout == 702);                  // cudaErrorLaunchTimeout
    CHECK(error::assert_failed == 710);                   // cudaErrorAssert
    CHECK(error::hardware_stack_error == 714);            // cudaErrorHardwareStackError
    CHECK(error::illegal_instruction == 715);             // cudaErrorIllegalInstruction
    CHECK(error::misaligned_address == 716);              // cudaErrorMisalignedAddress
    CHECK(error::invalid_address_space == 717);           // cudaErrorInvalidAddressSpace
    CHECK(error::invalid_pc == 718);                      // cudaErrorInvalidPc
    CHECK(error::launch_failure == 719);                  // cudaErrorLaunchFailure
    CHECK(error::cooperative_launch_too_large == 720);    // cudaErrorCooperativeLaunchTooLarge
    CHECK(error::not_permitted == 800);                   // cudaErrorNotPermitted
    CHECK(error::not_supported == 801);                   // cudaErrorNotSupported
    CHECK(error::unknown == 999);                         // cudaErrorUnknown
}

TEST_CASE("state spaces lie side by side, a window each, and none over another") {
    using namespace address_space;
    constexpr std::uint64_t tib = std::uint64_t{1} << 40;
    CHECK(window == tib);
    std::uint64_t at = tib;
    for (const std::uint64_t base : {shared_base, local_base, const_base, param_base, code_base}) {
        CHECK(base == at);
        at += window;
    }
    CHECK(global_base == 7 * tib);
    CHECK(global_end == global_base + tib / 2);
    CHECK(host_base == global_end);
    CHECK(host_end == 16 * tib);
    CHECK(page_bytes == 4096);
    CHECK(user_end == 128 * tib - page_bytes);  // x86-64 with four levels of page tables, but for the last page
}

TEST_CASE("a frame begins with the protocol's mark, and is otherwise empty") {
    const wire::Header header;
    std::array<char, 24> bytes{};
    std::memcpy(bytes.data(), &header, sizeof header);
    std::array<char, 24> expected{'W', 'G', 'G', 'D'};
    CHECK(bytes == expected);
    CHECK(static_cast<int>(wire::Op::hello) == 0);
    CHECK((wire::flag_sticky | wire::flag_output | wire::flag_running) == 7);
    for (const auto flag : {wire::flag_sticky, wire::flag_output, wire::flag_running}) CHECK(std::has_single_bit(flag));
    // A chunk of 1 MiB and 4096 bytes in front of it.
    wire::Header large;
    large.size = 1'052'672;
    CHECK(wire::header_error(large) == nullptr);
    ++large.size;
    CHECK(wire::header_error(large) != nullptr);
}

TEST_CASE("names on the wire have 64 KiB at most, arguments of a kernel 32,764 bytes") {
    const std::string longest(65536, 'n');
    wire::Writer writer;
    writer.put_string(longest + "n").put_string(longest + "n", 70000);
    wire::Reader reader(writer.bytes());
    CHECK(reader.get_string() == longest);
    CHECK_THROWS_AS(reader.get_string(), wire::ProtocolError);
    CHECK(wire::max_parameter_bytes == 32764);  // CUDA C++ Programming Guide, "__global__ function parameters"
}

TEST_CASE("places on the wire are empty before they are filled") {
    wire::Writer writer;
    wire::Region{}.put(writer);
    wire::Transfer{}.put(writer);
    wire::Reader reader(writer.bytes());
    for (int i = 0; i < 3; ++i) CHECK(reader.get<std::uint64_t>() == 0);
    CHECK(reader.get<std::uint64_t>() == 1);  // one row
    CHECK(reader.get<std::uint32_t>() == 0);
    CHECK(reader.get_bool());
    CHECK(reader.get<std::uint64_t>() == 0);
    CHECK(reader.get<std::uint64_t>() == 0);
    reader.expect_end();
}

TEST_CASE("a device of which nothing is known has nothing, but warps of 32 threads and 64 KiB of constants") {
    const auto properties = to_json(DeviceProperties{});
    for (const auto& [name, value] : properties.items()) {
        CAPTURE(name);
        if (name == "warp_size")
            CHECK(value == 32);
        else if (name == "total_const_mem")
            CHECK(value == 65536);
        else if (value.is_array())
            CHECK(value == nlohmann::json{1, 1, 1});
        else if (value.is_string())
            CHECK(value == "");
        else
            CHECK(value == 0);
    }
}

TEST_CASE("a kernel of which nothing is known needs nothing") {
    wire::Writer writer;
    wire::put(writer, FunctionInfo{});
    CHECK(std::ranges::all_of(writer.bytes(), [](std::byte b) { return b == std::byte{0}; }));
    CHECK((ParamInfo{}.offset == 0 && ParamInfo{}.bytes == 0));
    wire::Writer image;
    wire::put(image, ImageDescriptor{});
    const auto bytes = image.bytes();
    // All zero, but that integers are unsigned and addresses are clamped in three dimensions.
    CHECK(std::ranges::count(bytes, std::byte{1}) == 4);
    CHECK(std::ranges::count(bytes, std::byte{0}) == std::ssize(bytes) - 4);
    CHECK((ImageDescriptor{}.kind == ChannelKind::unsigned_integer &&
           ImageDescriptor{}.address_mode[2] == AddressMode::clamp));
}

TEST_CASE("a launch, a report and an answer of which nothing is known say so") {
    const auto launch = to_json(LaunchRecord{});
    CHECK((launch.at("grid") == nlohmann::json{1, 1, 1} && launch.at("block") == nlohmann::json{1, 1, 1}));
    for (const char* zero :
         {"dynamic_shared_bytes", "static_shared_bytes", "registers_per_thread", "stream", "most_block_instructions"})
        CHECK(launch.at(zero) == 0);
    for (const char* unknown : {"counters", "start_ns", "duration_ns"}) CHECK(launch.at(unknown).is_null());
    CHECK((launch.at("cooperative") == false && launch.at("part_of_result") == true && launch.at("error").is_null()));
    for (const char* zero : {"theoretical", "achieved", "blocks_per_multiprocessor"})
        CHECK(launch.at("occupancy").at(zero) == 0);
    const auto counters = to_json(Counters{});
    for (const auto& [name, value] : counters.items()) CHECK(value == 0);
    CHECK(LineCounters{}.line == 0);
    CHECK((SymbolInfo{}.address == 0 && SymbolInfo{}.bytes == 0));
    CHECK((HostVisibleMemory{}.address == 0 && HostVisibleMemory{}.bytes == 0 && !HostVisibleMemory{}.file));
    CHECK((AllocationRecord{}.bytes == 0 && AllocationOrigin("cudaMalloc").code == 0));
    CHECK((FoundMemory{}.base == 0 && !FoundMemory{}.freed));
    CHECK((MemoryInfo{}.free_bytes == 0 && MemoryInfo{}.total_bytes == 0));
    CHECK(MemoryAccess{} == MemoryAccess{0, 0, MemoryUse::read});
    CHECK(Dim3{2, 3, 5}.count() == 30);
    CHECK_FALSE(DeviceError(1, "").sticky);

    const OriginVerdict none;
    CHECK((none.problem == OriginVerdict::Problem::none && none.argument == -1 && none.element == 0));
    CHECK((none.elsewhere == 0 && none.bytes == 0 && none.changes == 0));
    CHECK_FALSE((none.mapped || none.compared || none.needs_kernels));
    CHECK((OriginBuffer{}.argument == 0 && OriginBuffer{}.element_bytes == 4));
    CHECK((OriginScalar{}.bits == 0 && OriginScalar{}.bytes == 4 && OriginScalar{}.whole));
    CHECK((OriginQuery::Result{}.bytes == 4 && OriginQuery::Result{}.bits == 0));
}

TEST_CASE("a device's analysis tells nothing of itself, and a finding is one") {
    struct Bare : Analysis {
        std::vector<LaunchRecord> take_records() override { return {}; }
    };
    Bare bare;
    CHECK_FALSE((bare.talks_to_host(0) || bare.keeps_origin()));
    CHECK(bare.runs_kernels());
    CHECK_FALSE((bare.read_arguments(0) || bare.find_memory(1)));
    std::array<WriterTag, 2> words{5, 6};
    bare.read_writers(0, words);
    CHECK(words == std::array{writer::nobody, writer::nobody});
    CHECK((bare.take_transfers().complete && bare.take_waits().complete));
    CHECK((Diagnostic{}.count == 1 && Diagnostic{}.weight == 0));
    CHECK((SourcePlace{}.line == 0 && SourcePlace{}.code == 0));
    CHECK((MemoryPlace{}.bytes == 0 && MemoryPlace{}.address == 0 && !MemoryPlace{}.variable));
    CHECK((Report{}.analysed && Report{}.clock_ns == 0 && !Report{}.connected && CallError{}.code == 0));
    CHECK((LaunchTime{}.start_ns == 0 && LaunchTime{}.duration_ns == 0 && !TransferTime{}.page_locked));
    CHECK((TransferTime{}.stream == 0 && TransferTime{}.bytes == 0 && !TransferTime{}.blocking));
    const Kind unknown = find_kind("no such device");
    CHECK((unknown.sandboxed && unknown.repeatable && unknown.analysed));
    CHECK(find_kind("plain:2").name == "plain");
    BoundedList<int> list;
    list.add(1, 1);
    CHECK(list.complete);
    list.add(2, 1);
    CHECK((!list.complete && list.items == std::vector{1}));
}

TEST_CASE("an order has a word") {
    for (std::size_t i = 0; i < std::size(order_names); ++i)
        CHECK(parse_order(order_names[i]) == static_cast<Order>(i));
    CHECK(parse_order("ahead") == Order::ahead);
    CHECK_THROWS_WITH(parse_order("back"), "unknown order 'back'; use forward, reverse, interleaved or ahead");
}

TEST_CASE("who wrote a word: launches have the numbers that nobody else has") {
    CHECK_FALSE(writer::is_launch(writer::nobody));
    CHECK(writer::is_launch(1));
    CHECK(writer::is_launch(16384));  // as many as one call can have
    CHECK(writer::is_launch(writer::last_launch));
    CHECK_FALSE(writer::is_launch(writer::last_launch + 1));
    CHECK(writer::nobody == 0);  // what fresh memory holds
    const std::array others{writer::scattered, writer::fill, writer::host};
    for (std::size_t i = 0; i < others.size(); ++i) {
        CHECK_FALSE(writer::is_launch(others[i]));
        CHECK(std::ranges::count(others, others[i]) == 1);
    }
}

TEST_CASE("what work costs outside of kernels is what was measured on H100s") {
    // docs/design-device.md; what that does not name was measured in the same way.
    const warpgrade::vgpu::HostCosts costs;
    CHECK((costs.launch_issue_ns == 3600 && costs.copy_issue_ns == 1000));
    CHECK((costs.query_ns == 260 && costs.wake_ns == 2500));
    CHECK((costs.link_latency_ns == 2200 && costs.device_copy_latency_ns == 3900 && costs.fill_latency_ns == 1500));
    CHECK((costs.pinned_bytes_per_ns == 55 && costs.pageable_bytes_per_ns == 16));
    CHECK((costs.mapped_read_bytes_per_ns == 50 && costs.mapped_write_bytes_per_ns == 52));
    CHECK((costs.migration_bytes_per_ns == 9 && costs.migration_latency_ns == 80'000));
    CHECK((costs.device_bytes_per_ns == 3350 && costs.device_efficiency == 0.89));
}
