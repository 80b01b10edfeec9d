// Finding outputs in downloads: which download, which bytes, and the verdict if there is none.
#include "server/origin_trace.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "device/fake_device.hpp"
#include "device/fresh_memory.hpp"
#include "judge/catch.hpp"

namespace warpgrade::server {
static bool operator==(const Segment& a, const Segment& b) {
    return a.at == b.at && a.bytes == b.bytes && a.piece == b.piece && a.from == b.from;
}
}  // namespace warpgrade::server

using namespace warpgrade::server;
using namespace warpgrade::device::testing;

namespace {

using Problem = OriginVerdict::Problem;
using Numbers = std::vector<int>;
using Segments = std::vector<Segment>;

class KeepingDevice : public FakeDevice {
  public:
    bool keeps_origin() const override { return true; }
};

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
    return std::as_bytes(std::span(values));
}

// From `first` on, all different.
Numbers count_from(int first, std::size_t count) {
    Numbers values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = first + 7 * static_cast<int>(i);
    return values;
}
Numbers part(const Numbers& of, std::size_t from, std::size_t count) {
    const auto begin = of.begin() + static_cast<std::ptrdiff_t>(from);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}
Numbers join(std::initializer_list<Numbers> parts) {
    Numbers all;
    for (const Numbers& each : parts) all.insert(all.end(), each.begin(), each.end());
    return all;
}

struct Trace {
    KeepingDevice device;
    OriginLog log{device};
    DevicePtr memory = device.allocate(1 << 20, {"cudaMalloc", 0});
    OriginVerdict verdict;

    template <class T>
    void down(const std::vector<T>& values, std::size_t offset) {
        device.write(memory + offset, bytes_of(values));
        log.record_download(wire::Region::range(memory + offset, bytes_of(values).size()));
    }
    // Nothing: it was not found, as the verdict says.
    std::optional<Segments> find(const Numbers& out, std::vector<std::size_t> rows = {},
                                 const Numbers& before = Numbers()) {
        OriginBuffer buffer;
        buffer.kind = OriginBuffer::Kind::out, buffer.before = bytes_of(before), buffer.after = bytes_of(out);
        verdict = {};
        Tracer tracer(buffer, log, rows);
        if (!tracer.trace(verdict)) return std::nullopt;
        return tracer.segments();
    }
};

}  // namespace

TEST_CASE_METHOD(Trace, "trace: the last copy that holds the output is where it comes from, at an element's place") {
    const auto out = count_from(1000, 40);
    down(out, 0);
    down(join({{5, 6}, out}), 4096);
    down(count_from(9, 40), 8192);
    CHECK(find(out) == Segments{{0, 160, 1, 8}});
    std::vector<std::byte> shifted(161);
    std::memcpy(shifted.data() + 1, out.data(), 160);
    down(shifted, 12288);
    CHECK(find(out) == Segments{{0, 160, 1, 8}});
}

TEST_CASE_METHOD(Trace, "trace: rows of a padded array, from its first to its last element") {
    const auto out = count_from(1000, 15);
    Numbers padded{-1, -2, -3};
    for (std::size_t y = 0; y < 3; ++y) padded = join({padded, part(out, 5 * y, 5), y < 2 ? Numbers(3) : Numbers()});
    down(padded, 0);
    CHECK(find(out, {5}) == Segments{{0, 20, 0, 12}, {20, 20, 0, 44}, {40, 20, 0, 76}});
    CHECK(find(out, {4, 5, 15}) == Segments{{0, 20, 0, 12}, {20, 20, 0, 44}, {40, 20, 0, 76}});
    // The same with a wrong element in one row: not such rows.
    for (const std::size_t wrong : {12u, 23u}) {
        auto other = padded;
        ++other[wrong];
        Trace damaged;
        damaged.down(other, 0);
        CHECK(damaged.find(out, {5}) != find(out, {5}));
    }
}

TEST_CASE_METHOD(Trace, "trace: rows that begin alike are tried at so many places") {
    const Numbers row{1, 2}, rows = join({row, {8, 9, 10, 11}});
    const auto with_false_starts = [&](int count) {
        Numbers all;
        for (int i = 0; i < count; ++i) all = join({all, row, {100 + i}});
        Trace trace;
        trace.down(join({all, row, {-1}, {8, 9}, {-1}, {10, 11}}), 0);
        const auto found = trace.find(rows, {2});
        return found && found->size() == 3 && found->at(1).from == found->at(0).from + 12;
    };
    CHECK(with_false_starts(0));
    CHECK(with_false_starts(15));
    CHECK_FALSE(with_false_starts(16));
}

TEST_CASE_METHOD(Trace, "trace: pieces in whatever order, of a warp's elements and more anywhere in a copy") {
    const auto a = count_from(1000, 100), b = count_from(50000, 100);
    down(a, 0);
    down(b, 4096);
    CHECK(find(join({part(b, 10, 50), part(a, 20, 32)})) == Segments{{0, 200, 1, 40}, {200, 128, 0, 80}});
    // Only forwards, and no shorter piece unless it is a whole download.
    CHECK(find(join({part(a, 60, 40), part(a, 0, 40)})) == std::nullopt);
    CHECK(find(join({part(b, 10, 50), part(a, 20, 31), part(b, 60, 40)})) == std::nullopt);
    CHECK(verdict.element == 81);
    down(part(a, 20, 31), 8192);
    CHECK(find(join({part(b, 10, 50), part(a, 20, 31), part(b, 60, 40)})) ==
          Segments{{0, 200, 1, 40}, {200, 124, 2, 0}, {324, 160, 1, 240}});
}

TEST_CASE_METHOD(Trace, "trace: of copies of the same bytes the next one goes on, else the last") {
    const auto all = count_from(1000, 192);
    down(part(all, 0, 64), 0);
    down(part(all, 64, 64), 256);
    down(part(all, 64, 64), 4096);
    down(part(all, 128, 64), 8192);
    down(part(all, 128, 64), 16384);
    CHECK(find(part(all, 0, 128)) == Segments{{0, 256, 0, 0}, {256, 256, 1, 0}});
    CHECK(find(join({part(all, 0, 64), part(all, 128, 64)})) == Segments{{0, 256, 0, 0}, {256, 256, 3, 0}});
    CHECK(find(join({part(all, 128, 64), part(all, 64, 64)})) == Segments{{0, 256, 3, 0}, {256, 256, 2, 0}});
}

TEST_CASE_METHOD(Trace, "trace: single elements that came one by one: side by side, or a few") {
    const auto out = count_from(1000, 40);
    const auto bring = [&](Trace& trace, std::size_t count, std::size_t distance) {
        for (std::size_t i = 0; i < count; ++i) trace.down(part(out, i, 1), distance * i);
    };
    Trace beside, few, many;
    bring(beside, 40, 4);
    CHECK(beside.find(out).value().size() == 40);
    bring(few, 33, 8);  // the last one may be of any size
    CHECK(few.find(part(out, 0, 33)).value().size() == 33);
    bring(many, 34, 8);
    CHECK_FALSE(many.find(part(out, 0, 34)));
    // Of a copy only its first elements.
    Trace longer;
    longer.down(join({part(out, 0, 3), {-1}}), 0);
    longer.down(part(out, 3, 3), 64);
    CHECK_FALSE(longer.find(part(out, 0, 6)));
    longer.down(part(out, 0, 3), 128);
    CHECK(longer.find(part(out, 0, 6)).value().size() == 2);
    // Rows as long as a scalar argument says, at equal distances.
    CHECK(many.find(part(out, 0, 34), {1}).value().size() == 34);
    Trace uneven;
    bring(uneven, 1, 8);
    for (std::size_t i = 1; i < 40; ++i) uneven.down(part(out, i, 1), 8 * i * i);
    CHECK_FALSE(uneven.find(out, {1}));
    Trace backwards;
    for (std::size_t i = 0; i < 40; ++i) backwards.down(part(out, i, 1), 4096 - 8 * i);
    CHECK_FALSE(backwards.find(out, {1}));
}

TEST_CASE_METHOD(Trace, "trace: what was not written is left out") {
    const auto a = count_from(1000, 64), before = count_from(-5000, 100);
    const int fresh = static_cast<int>(0x01010101u * fresh_byte);
    down(a, 0);
    CHECK(find(join({part(a, 0, 64), part(before, 64, 36)}), {}, before) == Segments{{0, 256, 0, 0}});
    CHECK(find(join({part(before, 0, 36), part(a, 0, 64)}), {}, before) == Segments{{144, 256, 0, 0}});
    CHECK(find(join({Numbers(3, fresh), part(a, 0, 64)}), {}, before) == Segments{{12, 256, 0, 0}});
    // Where it goes on behind a gap, a few elements are enough.
    CHECK(find(join({part(a, 0, 40), part(before, 40, 5), part(a, 40, 10), part(before, 55, 5)}), {}, before) ==
          Segments{{0, 160, 0, 0}, {180, 40, 0, 160}});
    // A short beginning of a copy, where what follows was not written.
    CHECK(find(join({part(a, 0, 10), part(before, 10, 90)}), {}, before) == Segments{{0, 40, 0, 0}});
    CHECK_FALSE(find(join({part(a, 0, 10), {1, 2, 3}}), {}, before));
}

TEST_CASE_METHOD(Trace, "trace: what is said of an output that did not come") {
    const auto out = count_from(1000, 100);
    CHECK_FALSE(find(out));
    CHECK((verdict.problem == Problem::no_download && verdict.element == 0));
    auto changed = out;
    changed[0] = 1, changed[49] = 2;
    down(join({changed, {7, 7, 7}}), 0);
    CHECK_FALSE(find(out));
    CHECK((verdict.problem == Problem::changed && verdict.element == 0));
    CHECK(verdict.sample == std::vector<std::byte>{std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0}});
    // Half of the elements agree, or fewer.
    for (const std::size_t same : {50u, 49u}) {
        Trace half;
        half.down(join({count_from(-900, 100 - same), part(out, 100 - same, same)}), 0);
        CHECK_FALSE(half.find(out));
        CHECK((half.verdict.problem == Problem::changed) == (same == 50));
    }
    // For an output of few elements, any download that is large enough gives the sample.
    for (const std::size_t count : {4u, 5u}) {
        Trace few;
        few.down(count_from(-900, count), 0);
        CHECK_FALSE(few.find(part(out, 0, count)));
        CHECK((few.verdict.problem == Problem::changed) == (count == 4));
        CHECK(few.verdict.element == 0);
    }
    // All of them somewhere else, and where the first stands; or only some.
    Trace moved;
    moved.down(join({part(out, 60, 40), {-1}, part(out, 0, 60)}), 0);
    Numbers turned(out.rbegin(), out.rend());
    CHECK_FALSE(moved.find(turned));
    CHECK((moved.verdict.problem == Problem::moved && moved.verdict.element == 1 && moved.verdict.elsewhere == 38));
    turned[32] = -77;
    CHECK_FALSE(moved.find(turned));
    CHECK(moved.verdict.problem == Problem::not_found);
    turned[32] = out[67], turned[33] = -77;
    CHECK_FALSE(moved.find(turned));
    CHECK(moved.verdict.problem == Problem::moved);
}

TEST_CASE("trace: where what began together parts") {
    const auto out = count_from(1000, 20);
    Trace trace;
    trace.down(join({part(out, 0, 7), {-1}}), 0);
    trace.down(join({part(out, 0, 3), {-2}}), 4096);
    trace.down(join({part(out, 12, 5), {-3}}), 8192);
    CHECK_FALSE(trace.find(out));
    CHECK((trace.verdict.problem == Problem::not_found && trace.verdict.element == 7));
}

TEST_CASE("a returned value is found as any type that the device may have had it in") {
    const auto find = [](const auto& came, OriginQuery::Result result) {
        Trace trace;
        trace.down(std::vector(1, came), 0);
        return find_value(result, trace.log).has_value();
    };
    const auto whole = [](std::int64_t value, unsigned bytes) {
        const std::uint64_t mask = bytes == 8 ? ~0ULL : (1ULL << (8 * bytes)) - 1;
        return OriginQuery::Result{OriginQuery::Result::Type::whole, bytes, static_cast<std::uint64_t>(value) & mask};
    };
    const auto floating = [](auto value) {
        OriginQuery::Result result{OriginQuery::Result::Type::floating, sizeof value, 0};
        std::memcpy(&result.bits, &value, sizeof value);
        return result;
    };
    for (const unsigned bytes : {1u, 2u, 4u, 8u}) {
        CAPTURE(bytes);
        CHECK(find(std::int8_t{-5}, whole(-5, bytes)));
        CHECK(find(std::int16_t{-5}, whole(-5, bytes)));
        CHECK(find(std::int32_t{-5}, whole(-5, bytes)));
        CHECK(find(std::int64_t{-5}, whole(-5, bytes)));
        CHECK(find(-5.0f, whole(-5, bytes)));
        CHECK(find(-5.0, whole(-5, bytes)));
        CHECK_FALSE(find(std::int64_t{-6}, whole(-5, bytes)));
    }
    CHECK(find(std::uint8_t{200}, whole(200, 4)));
    CHECK(find(std::uint16_t{60000}, whole(60000, 4)));
    CHECK(find(std::uint32_t{4'000'000'000}, whole(4'000'000'000, 8)));
    CHECK_FALSE(find(std::uint16_t{0x0105}, whole(0x0205, 2)));
    CHECK_FALSE(find(std::numeric_limits<double>::infinity(), whole(-1, 8)));
    CHECK(find(2.5f, floating(2.5f)));
    CHECK(find(2.5f, floating(2.5)));
    CHECK(find(0.1, floating(0.1f)));
    CHECK(find(std::int32_t{-3}, floating(-3.0)));
    CHECK(find(std::uint32_t{4'000'000'000}, floating(4e9)));
    CHECK(find(std::int64_t{1} << 40, floating(0x1p40f)));
    CHECK(find(std::nan("1"), floating(std::nanf(""))));
    CHECK(find(std::nanf("1"), floating(std::nan(""))));
    CHECK_FALSE(find(0.0f, floating(std::nan(""))));
    CHECK_FALSE(find(-0.5f, floating(0.5)));
    CHECK_FALSE(find(std::int16_t{3}, floating(3.0f)));  // no device returns such a sum
}

TEST_CASE("a returned value stands anywhere in a small copy, at the ends of a large one") {
    const auto place = [](std::size_t count, std::size_t at, bool also_before = false) -> std::optional<Segment> {
        Trace trace;
        Numbers all(count, -1);
        all[at] = 4711;
        if (also_before) trace.down(Numbers{4711}, 8192);
        trace.down(all, 0);
        if (also_before) trace.down(Numbers{0}, 8192);
        return find_value({OriginQuery::Result::Type::whole, 4, 4711}, trace.log);
    };
    for (const std::size_t at : {0u, 1u, 17u, 30u, 31u}) CHECK(place(32, at) == Segment{0, 4, 0, 4 * at});
    for (const std::size_t at : {0u, 1u, 31u, 32u}) CHECK(place(33, at) == Segment{0, 4, 0, 4 * at});
    for (const std::size_t at : {2u, 17u, 30u}) CHECK_FALSE(place(33, at));
    CHECK(place(32, 5, true) == Segment{0, 4, 1, 20});
    Trace bytes;
    bytes.down(std::vector<std::uint8_t>{9, 9, 77}, 0);
    CHECK(find_value({OriginQuery::Result::Type::whole, 1, 77}, bytes.log) == Segment{0, 1, 0, 2});
}
