// Origin of outputs: verdicts on calls in which the device did the work, and on calls in which it did not.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "device/fake_device.hpp"
#include "device/origin_request.hpp"
#include "judge/catch.hpp"
#include "server/origin_check.hpp"

using namespace warpgrade::server;
using namespace warpgrade::device::testing;
using Problem = OriginVerdict::Problem;
using Floats = std::vector<float>;

namespace {

// A device whose kernels the test runs itself; it keeps the writer of each word.
class OriginDevice : public FakeDevice {
  public:
    [[nodiscard]] bool keeps_origin() const override { return keeps; }
    [[nodiscard]] bool runs_kernels() const override { return runs; }
    void begin_call() override { writers.clear(); }
    void read_writers(DevicePtr address, std::span<WriterTag> words) const override {
        for (std::size_t i = 0; i < words.size(); ++i) {
            const auto found = writers.find((address + 4 * i) / 4);
            words[i] = found == writers.end() ? writer::nobody : found->second;
        }
    }
    void mark_written(DevicePtr address, std::uint64_t bytes, WriterTag who) override {
        for (std::uint64_t word = address / 4; word < (address + bytes + 3) / 4; ++word) writers[word] = who;
    }
    void visit_host_memory(const std::function<void(const HostMemoryView&)>& visit) override {
        for (const auto& [address, page] : pages) visit({address, page.bytes, page.writers, 1});
    }
    struct Page {
        std::vector<std::byte> bytes = std::vector<std::byte>(4096);
        std::vector<WriterTag> writers = std::vector<WriterTag>(1024, writer::nobody);
    };
    std::map<std::uint64_t, Page> pages;  // of the program's, registered
    std::map<std::uint64_t, WriterTag> writers;
    bool keeps = true, runs = true;
};

Descriptor file_of(const std::vector<std::byte>& bytes) {
    Descriptor file(memfd_create("program", MFD_CLOEXEC));
    if (::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
        throw std::runtime_error("a file in memory");
    return file;
}

// One call of a function in(in, n) -> out, as the session and the judge see it.
class Call {
  public:
    explicit Call(Floats input) : in(std::move(input)), before(in.size(), -7.5f) {}

    DevicePtr allocate(std::size_t count) { return device.allocate(4 * count, "test"); }
    DevicePtr up(const Floats& values) {
        const DevicePtr address = allocate(values.size());
        up(address, values);
        return address;
    }
    void up(DevicePtr address, const Floats& values) {
        const auto bytes = std::as_bytes(std::span(values));
        device.write(address, bytes);
        device.mark_written(address, bytes.size(), writer::host);
        log.record_upload(wire::Region::range(address, bytes.size()), bytes, true);
    }
    // A launch that reads `from` and writes these values to `to`.
    void kernel(const std::vector<DevicePtr>& from, DevicePtr to, const Floats& values,
                const std::vector<std::uint32_t>& arguments = {}) {
        decide_launch(arguments);
        device.write(to, std::as_bytes(std::span(values)));
        device.mark_written(to, 4 * values.size(), ++launches);
        LaunchRecord record;
        record.read_from = from;
        record.written_to = {device.find_allocation(to)->address};
        log.record_launch(record);
    }
    // The request for it, as session_execute.cpp reads it.
    void decide_launch(const std::vector<std::uint32_t>& arguments, std::uint32_t blocks = 1) {
        wire::Writer request;
        for (const std::uint32_t each : {1u, blocks, 1u, 1u, 32u, 1u, 1u}) request.put(each);
        request.put(std::uint64_t{0}).put(std::uint32_t{0}).put(std::uint8_t{0});
        for (const std::uint32_t argument : arguments) request.put(argument);
        log.record_decision(wire::Op::launch, request.bytes());
    }
    Floats down(DevicePtr address, std::size_t count) {
        Floats values(count);
        log.record_download(wire::Region::range(address, 4 * count));
        device.read(address, std::as_writable_bytes(std::span(values)));
        return values;
    }

    // `other`: the same call with other inputs, and what it returned.
    OriginVerdict returns(const Floats& out, std::vector<OriginScalar> scalars = {}, const Call* other = nullptr,
                          const Floats& other_out = {}) {
        OriginQuery query;
        query.buffers.push_back({OriginBuffer::Kind::in, 0, 4, std::as_bytes(std::span(in)), {}, {}});
        query.buffers.push_back({OriginBuffer::Kind::out,
                                 1,
                                 4,
                                 std::as_bytes(std::span(before)).first(4 * out.size()),
                                 std::as_bytes(std::span(out)),
                                 {}});
        query.scalars = std::move(scalars);
        query.program_images = {100};
        if (other) {
            query.buffers[0].other = std::as_bytes(std::span(other->in));
            query.buffers[1].other = std::as_bytes(std::span(other->before)).first(4 * out.size());
            query.buffers[1].other_after = std::as_bytes(std::span(other_out));
        }
        return ask(query, other);
    }
    OriginVerdict returns_value(float value, const Call* other = nullptr, float other_value = 0) {
        OriginQuery query;
        query.buffers.push_back({OriginBuffer::Kind::in, 0, 4, std::as_bytes(std::span(in)), {}, {}});
        if (other) query.buffers[0].other = std::as_bytes(std::span(other->in));
        query.result = {OriginQuery::Result::Type::floating, 4, 0};
        std::memcpy(&query.result->bits, &value, 4);
        std::memcpy(&query.result->other_bits, &other_value, 4);
        query.program_images = {100};
        return ask(query, other);
    }
    // The query travels as from the judge.
    OriginVerdict ask(const OriginQuery& query, const Call* other = nullptr) const {
        OriginFile memory;
        const OriginMessage message = make_origin_message(query, memory);
        const Descriptor file = file_of(program);
        const OriginRequest request(nlohmann::json::parse(message.question), memory.descriptor(), file,
                                    !program.empty());
        return check_origin(request.query(), log, other ? &other->log : nullptr);
    }

    OriginDevice device;
    OriginLog log{device};
    Floats in, before;
    std::vector<std::byte> program;
    WriterTag launches = 0;
};

Floats numbers(std::size_t count, float first = 1000.5f) {
    Floats values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = first + static_cast<float>((i * 7919) % 10007);
    return values;
}
Floats doubled(Floats values) {
    for (float& v : values) v = 2 * v + 0.25f;
    return values;
}
Floats reversed(Floats values) {
    std::ranges::reverse(values);
    return values;
}
OriginScalar number(std::uint64_t value) { return {value, 4, true}; }

}  // namespace

TEST_CASE("what a kernel wrote and a copy brought back is the device's work") {
    Call call(numbers(1000));
    const auto d = call.up(call.in), e = call.allocate(1000);
    call.kernel({d}, e, doubled(call.in));
    const auto verdict = call.returns(call.down(e, 1000));
    CHECK(verdict.problem == Problem::none);
    CHECK(verdict.not_part.empty());
}

TEST_CASE("a result that host code computed, changed or moved is told with its first element") {
    Call call(numbers(256));
    const auto d = call.up(call.in), e = call.allocate(256);
    SECTION("nothing came down") {
        call.kernel({d}, e, doubled(call.in));
        CHECK(call.returns(doubled(call.in)).problem == Problem::no_download);
    }
    SECTION("something else came down") {
        call.kernel({d}, e, numbers(256, 1e6f));
        call.down(e, 256);
        const auto verdict = call.returns(doubled(call.in));
        CHECK(verdict.problem == Problem::not_found);
        CHECK(verdict.argument == 1);
        CHECK(verdict.element == 0);
    }
    SECTION("one element was repaired") {
        call.kernel({d}, e, doubled(call.in));
        auto out = call.down(e, 256);
        const float came = std::exchange(out[17], 3.5f);
        const auto verdict = call.returns(out);
        CHECK(verdict.problem == Problem::changed);
        CHECK(verdict.element == 17);
        CHECK(std::memcmp(verdict.sample.data(), &came, 4) == 0);
    }
    SECTION("turned round") {
        call.kernel({d}, e, doubled(call.in));
        const auto verdict = call.returns(reversed(call.down(e, 256)));
        CHECK(verdict.problem == Problem::moved);
        CHECK(verdict.elsewhere == 255 - verdict.element);
    }
    SECTION("sorted") {
        call.kernel({d}, e, doubled(call.in));
        auto out = call.down(e, 256);
        std::ranges::sort(out);
        CHECK(call.returns(out).problem != Problem::none);
    }
}

// The output comes from host memory that the download has filled only in part: wrong, but not computed by the host.
TEST_CASE("what nothing wrote was not computed by host code") {
    Call call(numbers(256));
    const auto d = call.up(call.in), e = call.allocate(256);
    call.kernel({d}, e, doubled(call.in));
    auto out = call.down(e, 64);
    out.resize(256, std::bit_cast<float>(0xCDCDCDCD));
    CHECK(call.returns(out).problem == Problem::none);
    out[200] = doubled(call.in)[200];
    CHECK(call.returns(out).problem == Problem::not_found);
}

TEST_CASE("ways to bring a result back that are right") {
    Call call(numbers(240));
    const auto d = call.up(call.in), e = call.allocate(1024);
    const Floats result = doubled(call.in);
    SECTION("in pieces, the last first") {
        call.kernel({d}, e, result);
        Floats out(240);
        for (const std::size_t at : {200u, 100u, 0u}) {
            const auto piece = call.down(e + 4 * at, at == 200 ? 40 : 100);
            std::ranges::copy(piece, out.begin() + static_cast<std::ptrdiff_t>(at));
        }
        CHECK(call.returns(out).problem == Problem::none);
    }
    SECTION("element by element, side by side") {
        call.kernel({d}, e, result);
        Floats out;
        for (std::size_t i = 0; i < 240; ++i) out.push_back(call.down(e + 4 * i, 1)[0]);
        CHECK(call.returns(out).problem == Problem::none);
    }
    SECTION("with padding behind each row of 5, which host code leaves out") {
        Floats padded(48 * 8, 0.0f);
        for (std::size_t i = 0; i < 240; ++i) padded[i / 5 * 8 + i % 5] = result[i];
        call.kernel({d}, e, padded);
        const auto all = call.down(e, padded.size());
        Floats out;
        for (std::size_t y = 0; y < 48; ++y) out.insert(out.end(), &all[8 * y], &all[8 * y] + 5);
        CHECK(call.returns(out, {number(48), number(5)}).problem == Problem::none);
    }
    SECTION("the rest stays as it was") {
        call.kernel({d}, e, result);
        Floats out = call.before;
        std::ranges::copy(call.down(e, 60), out.begin());
        CHECK(call.returns(out).problem == Problem::none);
    }
    SECTION("one value all over needs no device") { CHECK(call.returns(Floats(240, 0.0f)).problem == Problem::none); }
    SECTION("an output that was not touched") { CHECK(call.returns(call.before).problem == Problem::none); }
}

TEST_CASE("a result that host code sent up is not the device's work") {
    Call call(numbers(1024));
    const Floats result = doubled(call.in);
    SECTION("and a kernel copied") {
        const auto d = call.up(call.in), t = call.up(result), e = call.allocate(1024);
        call.kernel({d, t}, e, result);
        const auto verdict = call.returns(call.down(e, 1024));
        CHECK(verdict.problem == Problem::unexpected_upload);
        CHECK(verdict.bytes >= 4096);
        CHECK(std::memcmp(verdict.sample.data(), result.data(), 4) == 0);
    }
    SECTION("and no kernel touched") {
        const auto t = call.up(result);
        const auto verdict = call.returns(call.down(t, 1024));
        CHECK(verdict.problem == Problem::written_by_host);
        CHECK(verdict.element == 1);  // one value may be what the host filled the rest with
    }
    SECTION("in an order of its own, though it is the input") {
        const auto t = call.up(reversed(call.in)), e = call.allocate(1024);
        call.kernel({t}, e, reversed(call.in));
        CHECK(call.returns(call.down(e, 1024)).problem == Problem::unexpected_upload);
    }
    SECTION("as device code made at run time") {
        call.log.record_module(std::as_bytes(std::span(result)));
        call.program.resize(100);
        const auto d = call.up(call.in), e = call.allocate(1024);
        call.kernel({d}, e, result);
        CHECK(call.returns(call.down(e, 1024)).problem == Problem::unknown_code);
        const auto compiled = std::as_bytes(std::span(result));
        call.program.insert(call.program.end(), compiled.begin(), compiled.end());
        CHECK(call.returns(call.down(e, 1024)).problem == Problem::none);
    }
    SECTION("what came down before may go up again, what comes down later may not") {
        const auto d = call.up(call.in), e = call.allocate(1024), f = call.allocate(1024);
        call.kernel({d}, e, numbers(1024, 5e6f));
        const auto between = call.down(e, 1024);
        call.kernel({call.up(between)}, f, result);
        CHECK(call.returns(call.down(f, 1024)).problem == Problem::none);
    }
}

TEST_CASE("ways to send inputs up that are right") {
    Call call(numbers(600));
    const auto e = call.allocate(600);
    const auto check = [&] {
        call.kernel({}, e, doubled(call.in), {600, 20, 32, 19});
        CHECK(call.returns(call.down(e, 600), {number(20), number(30)}).problem == Problem::none);
    };
    SECTION("in pieces, with one element of overlap") {
        for (std::size_t at = 0; at < 600; at += 100) {
            const std::size_t begin = at == 0 ? 0 : at - 1;
            call.up(Floats(call.in.begin() + static_cast<std::ptrdiff_t>(begin),
                           call.in.begin() + static_cast<std::ptrdiff_t>(at + 100)));
        }
        check();
    }
    SECTION("rows of 30, padded with zeros to 32") {
        Floats padded(20 * 32, 0.0f);
        for (std::size_t i = 0; i < 600; ++i) padded[i / 30 * 32 + i % 30] = call.in[i];
        call.up(padded);
        check();
    }
    SECTION("rows that begin with what they are padded with") {
        for (std::size_t i = 0; i < 600; i += 30) call.in[i] = 0;
        Floats padded(20 * 32, 0.0f);
        for (std::size_t i = 0; i < 600; ++i) padded[i / 30 * 32 + i % 30] = call.in[i];
        call.up(padded);
        check();
    }
    SECTION("twice, and the output's old contents as well") {
        call.up(call.in);
        call.up(call.in);
        call.up(call.before);
        check();
    }
}

TEST_CASE("a returned value comes from the device") {
    Call call(numbers(1000));
    const auto d = call.up(call.in), e = call.allocate(1);
    const float sum = std::accumulate(call.in.begin(), call.in.end(), 0.0f);
    SECTION("from a kernel") {
        call.kernel({d}, e, {sum}, {1000});
        call.down(e, 1);
        CHECK(call.returns_value(sum).problem == Problem::none);
    }
    SECTION("added up by host code") {
        call.kernel({d}, e, {12.0f}, {1000});
        call.down(e, 1);
        const auto verdict = call.returns_value(sum);
        CHECK(verdict.problem == Problem::not_found);
        CHECK(verdict.argument == -1);
    }
    SECTION("somewhere in a large array that came down") {
        call.kernel({}, d, call.in, {1000});
        call.down(d, 1000);
        CHECK(call.returns_value(call.in[517]).problem == Problem::not_found);
    }
    SECTION("nothing of nothing") { CHECK(call.returns_value(0).problem == Problem::none); }
}

namespace {

// A kernel has written more than the function returns, and all of that came down.
struct Table : Call {
    explicit Table(float first) : Call(numbers(8, first)) {
        const auto d = up(in), e = allocate(512);
        kernel({d}, e, numbers(512, first + 1e6f));
        came = down(e, 512);
    }
    [[nodiscard]] Floats row(std::size_t number) const {
        const auto begin = came.begin() + static_cast<std::ptrdiff_t>(64 * number);
        return {begin, begin + 64};
    }
    Floats came;
};

}  // namespace

TEST_CASE("of more than is returned, host code takes the same place whatever the inputs are") {
    Table mine(1000.5f), other(2000.5f);
    mine.before = other.before = Floats(64, -7.5f);
    CHECK(mine.returns(mine.row(3), {}, &other, other.row(3)).problem == Problem::none);
    const auto verdict = mine.returns(mine.row(3), {}, &other, other.row(4));
    CHECK(verdict.problem == Problem::picked);
    CHECK(verdict.argument == 1);
    CHECK(verdict.compared);
    CHECK_FALSE(verdict.needs_kernels);
    CHECK(verdict.changes > OriginVerdict::max_changes);
    CHECK(mine.returns_value(mine.came[1], &other, other.came[1]).problem == Problem::none);
    const auto value = mine.returns_value(mine.came[1], &other, other.came[0]);
    CHECK(value.problem == Problem::picked);
    CHECK(value.argument == -1);
    // Without its kernels the other run has nothing to compare.
    other.device.runs = false;
    for (const auto& same : {mine.returns(mine.row(3), {}, &other, other.row(3)),
                             mine.returns_value(mine.came[1], &other, other.came[1])}) {
        CHECK(same.problem == Problem::picked);
        CHECK(same.needs_kernels);
    }
}

TEST_CASE("where no more comes down than is returned there is nothing to take") {
    Call mine(numbers(64)), other(numbers(64, 5.5f));
    Floats out[2];
    for (Call* call : {&mine, &other}) {
        const auto d = call->up(call->in), e = call->allocate(64);
        call->kernel({d}, e, doubled(call->in));
        out[call == &other] = call->down(e, 64);
    }
    CHECK(mine.returns(out[0], {}, &other, reversed(out[1])).problem == Problem::none);
}

TEST_CASE("launches that the result does not come from are named") {
    Call call(numbers(512));
    const auto d = call.up(call.in), middle = call.allocate(512), show = call.allocate(512), e = call.allocate(512);
    call.kernel({d}, show, numbers(512, 3e6f));    // 1: for show
    call.kernel({d}, middle, numbers(512, 4e6f));  // 2
    call.kernel({middle}, e, numbers(512, 5e6f));  // 3: overwritten
    call.kernel({middle}, e, doubled(call.in));    // 4
    call.kernel({e}, show, numbers(512, 6e6f));    // 5
    const auto verdict = call.returns(call.down(e, 512));
    CHECK(verdict.problem == Problem::none);
    CHECK(verdict.not_part == std::vector<std::size_t>{1, 3, 5});
}

TEST_CASE("launches whose results came down and went up again are part of what is made of them") {
    Call call(numbers(512));
    const auto d = call.up(call.in), e = call.allocate(512), f = call.allocate(512), g = call.allocate(512);
    call.kernel({d}, e, numbers(512, 3e6f));  // 1: comes down too late
    call.kernel({d}, f, doubled(call.in));    // 2
    const auto came = call.down(f, 512);
    SECTION("as it came") {
        call.kernel({call.up(came)}, g, doubled(call.in));  // 3: only stores it
        call.down(e, 512);
        CHECK(call.returns(call.down(g, 512)).not_part == std::vector<std::size_t>{1});
    }
    SECTION("an input that goes up later needs nothing that came") {
        call.kernel({call.up(call.in)}, g, doubled(call.in));
        CHECK(call.returns(call.down(g, 512)).not_part == std::vector<std::size_t>{1, 2});
    }
    SECTION("nor does one that goes up in pieces, or again") {
        const auto half = [&](std::ptrdiff_t from) {
            return Floats(call.in.begin() + from, call.in.begin() + from + 256);
        };
        std::vector<DevicePtr> pieces;
        for (const std::ptrdiff_t from : {0, 256, 0, 256}) pieces.push_back(call.up(half(from)));
        call.kernel(pieces, g, doubled(call.in));
        CHECK(call.returns(call.down(g, 512)).not_part == std::vector<std::size_t>{1, 2});
    }
}

TEST_CASE("small copies on the device do not arrange a result") {
    Call call(numbers(64));
    const auto d = call.up(call.in), e = call.allocate(64), f = call.allocate(64);
    call.kernel({d}, e, doubled(call.in));
    Floats out(64);
    for (std::size_t i = 0; i < 64; ++i) {
        const auto from = wire::Region::range(e + 4 * i, 4), to = wire::Region::range(f + 4 * (63 - i), 4);
        call.device.copy(to.address, from.address, 4);
        call.device.mark_written(to.address, 4, 1);  // as the device would pass it on
        call.log.record_copy(to, from);
    }
    CHECK(call.returns(call.down(f, 64)).problem == Problem::scattered);
}

TEST_CASE("small copies on the device do not arrange what a kernel then reads") {
    const auto width = GENERATE(4u, 20u);
    CAPTURE(width);
    const auto run = [&](Call& call) {
        const auto d = call.up(call.in), e = call.allocate(64), f = call.allocate(64);
        for (std::size_t i = 0; i + width / 4 <= 64; i += width / 4)
            call.log.record_copy(wire::Region::range(f + 4 * (64 - i) - width, width),
                                 wire::Region::range(d + 4 * i, width));
        call.kernel({f}, e, doubled(call.in));
        return call.down(e, 64);
    };
    Call call(numbers(64)), other(numbers(64, 3000.5f));
    const auto out = run(call);
    run(other);
    // It is wrong even if the other run does the same.
    const auto verdict = call.returns(out, {number(64)}, &other);
    CHECK(verdict.problem == Problem::rearranged);
    CHECK_FALSE(verdict.compared);
    CHECK(call.returns(out, {number(64)}).problem == Problem::rearranged);
    // Rows as long as a scalar argument says are allowed, however short they are.
    CHECK(call.returns(out, {number(width / 4)}).problem == (width == 4 ? Problem::rearranged : Problem::none));
}

TEST_CASE("nothing is kept of a call where the device keeps no origins, and of requests only what decides") {
    for (const bool keeps : {false, true}) {
        Call call(numbers(64));
        call.device.keeps = keeps;
        const auto d = call.up(call.in), e = call.allocate(64);
        call.kernel({d}, e, doubled(call.in));
        call.down(e, 64);
        call.log.record_copy(wire::Region::range(d, 64), wire::Region::range(e, 64));
        call.log.record_module(std::as_bytes(std::span(call.in)));
        call.log.record_decision(wire::Op::synchronize_device, {});
        const std::size_t kept = keeps ? 1 : 0;
        CHECK(call.log.uploads().size() == kept);
        CHECK(call.log.downloads().size() == kept);
        CHECK(call.log.steps().size() == 2 * kept);
        CHECK(call.log.images().size() == kept);
        CHECK(call.log.decisions().size() == kept);
        call.log.begin_call();
        CHECK((call.log.uploads().empty() && call.log.steps().empty() && call.log.decisions().empty()));
    }
}

namespace {

// Two arrays of two floats each that a program registers, somewhere; a launch reads the first and writes the second.
struct RegisteredArrays : Call {
    RegisteredArrays(std::uint64_t in_at, std::uint64_t out_at) : Call(numbers(2)) {
        for (const std::uint64_t at : {in_at, out_at}) {
            device.pages[at / 4096 * 4096];
            for (const auto op : {wire::Op::allocate_host, wire::Op::register_host}) {
                const std::uint64_t address = op == wire::Op::register_host ? at : at / 4096 * 4096;
                // A page is shared once.
                if (op == wire::Op::register_host || at == in_at || at / 4096 != in_at / 4096)
                    log.record_decision(op, wire::Writer().put(std::uint64_t{8}).put(address).bytes());
            }
            log.register_host(at, 8);
        }
        wire::Writer launch;
        launch.put_bytes(std::vector<std::byte>(41)).put(in_at).put(out_at + 4);
        log.record_decision(wire::Op::launch, launch.bytes());
        auto& page = device.pages[out_at / 4096 * 4096];
        for (std::size_t i = 0; i < 2; ++i) {
            std::memcpy(&page.bytes[out_at % 4096 + 4 * i], &in[i], 4);
            page.writers[out_at % 4096 / 4 + i] = 1;
        }
        log.record_wait();
        log.record_decision(wire::Op::unregister_host, wire::Writer().put(in_at).bytes());
        log.record_decision(wire::Op::free_memory, wire::Writer().put(in_at / 4096 * 4096).bytes());
        log.unregister_host(in_at);
    }
};

}  // namespace

TEST_CASE("registered memory is what the program registers, wherever it lies in its pages") {
    const std::uint64_t page = 0x7000'0000'0000;
    const RegisteredArrays together(page + 0x290, page + 0x160), apart(page + 0x1160, page + 0x290);
    const auto &mine = together.log.decisions(), &other = apart.log.decisions();
    CHECK(mine.size() == 4);  // two registrations, the launch, the end of the first
    CHECK(std::ranges::equal(
        mine, other, [](const Decision& a, const Decision& b) { return a.op == b.op && a.payload == b.payload; }));
    for (const RegisteredArrays* call : {&together, &apart}) {
        REQUIRE(call->log.downloads().size() == 1);
        const auto& piece = call->log.downloads()[0];
        CHECK(piece.mapped);
        CHECK(std::ranges::equal(piece.bytes, std::as_bytes(std::span(call->in))));
        CHECK(piece.writers == std::vector<WriterTag>{1, 1});
    }
    // What lies beside it in the page comes as well, after it.
    RegisteredArrays beyond(page + 0x290, page + 0x160);
    beyond.device.pages[page].writers[1000] = 1;
    beyond.log.begin_call();
    beyond.log.record_wait();
    CHECK(beyond.log.downloads().size() == 2);
    CHECK(beyond.log.downloads()[0].bytes.size() == 8);
    CHECK(beyond.log.downloads()[1].address == page + 0x168);
}

TEST_CASE("a question with places outside of its file is refused") {
    Call call(numbers(8));
    OriginQuery query;
    OriginFile memory;
    const auto asked = nlohmann::json::parse(make_origin_message(query, memory).question);
    auto outside = asked;
    outside["buffers"] = {{{"kind", 0},
                           {"argument", 0},
                           {"element_bytes", 4},
                           {"before", {0, 1 << 20}},
                           {"after", {0, 0}},
                           {"other", {0, 0}}}};
    CHECK_THROWS(OriginRequest(outside, memory.descriptor(), Descriptor(), false));
    CHECK_THROWS(OriginRequest(asked, memory.descriptor(), Descriptor(), true));
}

TEST_CASE("a question without bytes travels: of a function that takes numbers alone") {
    OriginFile memory;
    OriginQuery query;
    query.scalars.push_back({7, 4, true});
    const OriginMessage message = make_origin_message(query, memory);
    const OriginRequest request(nlohmann::json::parse(message.question), memory.descriptor(), Descriptor(), false);
    CHECK(request.query().scalars.at(0).bits == 7);
}

TEST_CASE("questions of all sizes travel in one file") {
    OriginFile memory;
    for (const std::size_t count : {std::size_t{8}, std::size_t{100'000}, std::size_t{100}}) {
        const auto in = numbers(count);
        OriginQuery query;
        query.buffers.push_back(
            {OriginBuffer::Kind::in, 0, 4, std::as_bytes(std::span(in)), {}, std::as_bytes(std::span(in)).last(8)});
        const OriginMessage message = make_origin_message(query, memory);
        const OriginRequest request(nlohmann::json::parse(message.question), memory.descriptor(), Descriptor(), false);
        CHECK(std::ranges::equal(request.query().buffers.at(0).before, std::as_bytes(std::span(in))));
        CHECK(std::ranges::equal(request.query().buffers.at(0).other, std::as_bytes(std::span(in)).last(8)));
    }
}
