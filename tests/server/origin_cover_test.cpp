// Origin of outputs: how uploads are explained, and how correct programs download results.
#include <numeric>
#include <random>

#include "device/fake_device.hpp"
#include "judge/catch.hpp"
#include "server/origin_check.hpp"
#include "server/origin_cover.hpp"

using namespace warpgrade::server;
using namespace warpgrade::device::testing;

namespace {

// All different, and no element is like padding.
std::vector<float> numbers(std::size_t count) {
    std::vector<float> all(count);
    std::iota(all.begin(), all.end(), 1.5f);
    return all;
}

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
    return std::as_bytes(std::span(values));
}

std::vector<float> transposed(const std::vector<float>& from, std::size_t rows, std::size_t columns) {
    std::vector<float> to(from.size());
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
    return to;
}

// Rows of `width` elements, `pitch` apart, with `fill` between them.
template <class T>
std::vector<T> padded(const std::vector<T>& from, std::size_t width, std::size_t pitch, T fill) {
    std::vector<T> to(from.size() / width * pitch, fill);
    for (std::size_t i = 0; i < from.size(); ++i) to[i / width * pitch + i % width] = from[i];
    return to;
}

template <class T>
std::uint64_t cost(const std::vector<T>& source, const std::vector<T>& up) {
    UploadCover cover;
    cover.add_source(bytes_of(source), sizeof(T));
    cover.explain(bytes_of(up));
    return cover.cost();
}

// A device on which launch 1 has written everything.
class WrittenDevice : public FakeDevice {
  public:
    bool keeps_origin() const override { return true; }
    // One word of each warp may have another writer.
    void read_writers(DevicePtr, std::span<WriterTag> words) const override {
        for (std::size_t i = 0; i < words.size(); ++i) words[i] = i % 32 == 5 ? fifth.value_or(who) : who;
    }
    std::optional<WriterTag> fifth;
    WriterTag who = 1;
};

struct Call {
    WrittenDevice device;
    OriginLog log{device};
    DevicePtr memory = device.allocate(1 << 20, {"cudaMalloc", 0});

    void down(std::span<const float> values, std::size_t at = 0) {
        device.write(memory + 4 * at, std::as_bytes(values));
        log.record_download({memory + 4 * at, values.size_bytes(), values.size_bytes(), 1});
    }
    OriginVerdict check(const std::vector<float>& out, std::vector<std::uint64_t> sizes) const {
        OriginQuery query;
        OriginBuffer buffer;
        const std::vector<float> before(out.size(), -1.0f);
        buffer.kind = OriginBuffer::Kind::out, buffer.before = bytes_of(before), buffer.after = bytes_of(out);
        query.buffers = {buffer};
        for (const auto size : sizes) query.scalars.push_back({size, 4, true});
        return check_origin(query, log);
    }
};

using Problem = OriginVerdict::Problem;

}  // namespace

TEST_CASE("origin: inputs that host code pads are inputs") {
    const auto [width, pitch] = GENERATE(table<std::size_t, std::size_t>({{1, 32}, {3, 16}, {17, 64}, {100, 101}}));
    CAPTURE(width, pitch);
    const auto source = numbers(200 * width);
    CHECK(cost(source, padded(source, width, pitch, 0.0f)) <= 8);
    CHECK(cost(source, padded(source, width, pitch, -1.0f)) <= 8);
}

TEST_CASE("origin: an element that begins as the padding before it does is no part of the padding") {
    std::vector<int> source(4000);
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<int>(i * 256 + 256);  // low byte: 0
    CHECK(cost(source, padded(source, 20, 33, 0)) <= 8);
    // Among other elements of one byte as well.
    UploadCover cover;
    const std::vector<char> letters(100, 'x');
    cover.add_source(bytes_of(letters), 1);
    cover.add_source(bytes_of(source), 4);
    cover.explain(bytes_of(padded(source, 40, 60, 0)));
    CHECK(cover.cost() <= 12 * source.size() / 40);
}

TEST_CASE("origin: runs of different values side by side are data, not padding") {
    std::mt19937 random(1);
    std::vector<int> votes;
    for (int warp = 0; warp < 1000; ++warp) votes.insert(votes.end(), 32, static_cast<int>(random() & 1));
    CHECK(cost(std::vector<int>{}, votes) > votes.size() * sizeof(int) / 16);
}

TEST_CASE("origin: what came down may go up again, but in no other order") {
    const auto source = numbers(64 * 64);
    const auto turned = transposed(source, 64, 64);
    SECTION("all of it, and a part") {
        UploadCover cover;
        cover.add_download(bytes_of(source));
        cover.explain(bytes_of(source));
        cover.explain(bytes_of(source).first(4000));
        CHECK(cover.cost() == 0);
    }
    SECTION("elements that came one by one") {
        UploadCover cover;
        for (const float& value : source) cover.add_download(std::as_bytes(std::span(&value, 1)));
        cover.explain(bytes_of(turned));
        CHECK(cover.cost() >= 4 * source.size());
    }
    SECTION("rows that came one by one, and elements that go up one by one") {
        UploadCover cover;
        for (std::size_t row = 0; row < 64; ++row) cover.add_download(bytes_of(source).subspan(256 * row, 256));
        for (const float& value : turned) cover.explain(std::as_bytes(std::span(&value, 1)));
        CHECK(cover.cost() >= 2 * source.size());
    }
}

TEST_CASE("origin: rows of a padded result are found, however short they are") {
    const auto [width, pitch] = GENERATE(table<std::size_t, std::size_t>({{1, 32}, {3, 16}, {31, 32}}));
    const auto out = numbers(50 * width);
    const auto all = padded(out, width, pitch, 0.0f);
    Call call;
    SECTION("in one copy") { call.down(all); }
    SECTION("row by row") {
        for (std::size_t row = 0; row < 50; ++row) call.down(std::span(all).subspan(row * pitch, width), row * pitch);
    }
    CHECK(call.check(out, {50, width}).problem == Problem::none);
    // Such rows are told by the function's sizes.
    if (width < 31) CHECK(call.check(out, {50 * width}).problem != Problem::none);
}

TEST_CASE("origin: the output array may go up before kernels write to it, whatever stands in it") {
    const auto garbage = numbers(1000);
    std::vector<float> out(1000);
    std::iota(out.begin(), out.end(), 9000.25f);
    Call call;
    call.log.record_upload(wire::Region::range(call.memory, bytes_of(garbage).size()), bytes_of(garbage), true);
    LaunchRecord record;
    record.written_to = {call.memory};
    SECTION("it is only written") {
        call.log.record_launch(record);
        call.down(out);
        CHECK(call.check(out, {1000}).problem == Problem::none);
    }
    SECTION("a kernel has read it") {
        record.read_from = {call.memory};
        call.log.record_launch(record);
        call.down(out);
        CHECK(call.check(out, {1000}).problem == Problem::unexpected_upload);
    }
    SECTION("some of it came down as the host had sent it") {
        call.log.record_launch(record);
        call.device.who = writer::host;
        call.down(garbage);
        call.device.who = 1;
        call.down(out);
        CHECK(call.check(out, {1000}).problem == Problem::unexpected_upload);
    }
    SECTION("it was copied on the device") {
        call.log.record_launch(record);
        call.log.record_copy({call.memory, 4000, 4000, 1}, {call.memory, 4000, 4000, 1});
        call.down(out);
        CHECK(call.check(out, {1000}).problem == Problem::unexpected_upload);
    }
}

TEST_CASE("origin: what host code wrote is seen among what a kernel wrote, and the other way round") {
    const auto out = numbers(320);
    Call call;
    SECTION("a few elements are the host's") { call.device.fifth = writer::host; }
    SECTION("all but a few") { call.device.who = writer::host, call.device.fifth = 1; }
    call.down(out);
    CHECK(call.check(out, {320}).problem == Problem::written_by_host);
}

TEST_CASE("origin: elements that host code has cleared and no kernel has written are nobody's work") {
    auto out = numbers(320);
    for (std::size_t i = 5; i < out.size(); i += 32) out[i] = 0.0f;
    Call call;
    call.device.fifth = writer::host;
    call.down(out);
    CHECK(call.check(out, {320}).problem == Problem::none);
}

TEST_CASE("origin: what explaining costs, to the byte") {
    const auto source = numbers(1000);
    const auto part = [&](std::size_t from, std::size_t count) {
        return bytes_of(source).subspan(4 * from, 4 * count);
    };
    UploadCover cover;
    cover.add_source(bytes_of(source), 4);
    std::uint64_t before = 0;
    const auto up = [&](Bytes bytes) {
        cover.explain(bytes);
        return cover.cost() - std::exchange(before, cover.cost());
    };
    CHECK(up(part(0, 3)) == 0);
    CHECK(up(part(3, 1)) == 0);
    CHECK(up(part(0, 1000)) == 0);
    CHECK(up(part(500, 100)) == 8);  // somewhere else
    CHECK(up(part(600, 1)) == 0);
    CHECK(up(part(585, 20)) == 1);  // a little before the last one's end
    CHECK(up(part(588, 20)) == 8);  // further before it
    CHECK(up(part(700, 4)) == 8);
    CHECK(up(part(710, 3)) == 12);  // too short to be found
    CHECK(up(part(0, 4)) == 0);
    const std::vector<float> strange{-1.25f, -2.5f};
    CHECK(up(bytes_of(strange)) == 8);
    CHECK(up(bytes_of(strange)) == 4);  // each is free the second time, except after an unexplained one
    CHECK(cover.unexplained_words().size() == 6);
    REQUIRE(cover.first_unexplained().size() == 8);
    CHECK(std::memcmp(cover.first_unexplained().data(), &source[710], 8) == 0);
}

TEST_CASE("origin: what padding costs, to the byte") {
    const auto cost_of = [](std::initializer_list<std::vector<int>> pieces) {
        UploadCover cover;
        const std::vector<int> source{-11, -12, -13, -14};
        cover.add_source(bytes_of(source), 4);
        for (const auto& piece : pieces) cover.explain(bytes_of(piece));
        return cover.cost();
    };
    using Ints = std::vector<int>;
    CHECK(cost_of({Ints(100, 7)}) == 8);
    CHECK(cost_of({Ints(100, 7), Ints(100, 7)}) == 8);  // the same again
    CHECK(cost_of({Ints(100, 7), Ints(99, 7)}) == 16);
    CHECK(cost_of({Ints(100, 7), Ints(100, 9)}) == 16);
    CHECK(cost_of({Ints(2, 7)}) == 8);
    CHECK(cost_of({Ints(1, 7)}) == 4);
    Ints two(50, 7);
    two.insert(two.end(), 50, 9);
    CHECK(cost_of({two}) == 8 + 32);
    Ints short_second(50, 7);
    short_second.insert(short_second.end(), 3, 9);
    CHECK(cost_of({short_second}) == 8 + 12);
    UploadCover cover;
    const Ints input{-11}, pairs{7, 7, 9, 5, 5, 5, 3};
    cover.add_source(bytes_of(input), 4);
    cover.explain(bytes_of(pairs));
    CHECK(cover.unexplained_words() == std::vector<std::uint32_t>{9, 3});
    // Of elements of a byte, padding may have any length.
    UploadCover letters;
    const std::vector<char> source{'a', 'b', 'c', 'd'}, nine(9, 'y');
    letters.add_source(bytes_of(source), 1);
    letters.explain(bytes_of(nine));
    CHECK(letters.cost() == 8);
}

TEST_CASE("origin: what came down is gone on with where the last piece ended") {
    const auto a = numbers(200);
    auto b = a;
    for (float& value : b) value += 7000;
    const auto part = [](const std::vector<float>& of, std::size_t from, std::size_t count) {
        return bytes_of(of).subspan(4 * from, 4 * count);
    };
    UploadCover cover;
    cover.add_download(bytes_of(a).first(15));  // less than can be found
    cover.add_download(bytes_of(a)), cover.add_download(bytes_of(b));
    cover.explain(part(a, 0, 32));
    cover.explain(part(a, 32, 1));
    cover.explain(part(b, 0, 32));
    CHECK(cover.cost() == 0);
    cover.explain(part(a, 33, 4));  // a came before: found again as any place
    CHECK(cover.cost() == 8);
    cover.explain(part(a, 37, 2));
    CHECK(cover.cost() == 8);
    cover.explain(part(b, 0, 31));
    CHECK(cover.cost() == 16);
}

TEST_CASE("origin: of a returned value only its own bytes count") {
    const auto problem = [](unsigned bytes, std::uint64_t bits, WriterTag who = 1, float came = 77.0f) {
        Call call;
        call.device.who = who;
        const std::vector<float> all{came};
        call.down(all);
        OriginQuery query;
        query.result = {OriginQuery::Result::Type::whole, bytes, bits};
        return check_origin(query, call.log).problem;
    };
    // Nothing, as of no elements, whatever stands behind it.
    CHECK(problem(4, 0) == Problem::none);
    CHECK(problem(4, 0xFFFF'FFFF'0000'0000) == Problem::none);
    CHECK(problem(1, 0xFFFF'FFFF'FFFF'FF00) == Problem::none);
    CHECK(problem(2, 0xFFFF'FFFF'FFFF'0000) == Problem::none);
    CHECK(problem(4, 0x8000'0000) == Problem::not_found);
    CHECK(problem(8, 1ULL << 63) == Problem::not_found);
    CHECK(problem(4, 77) == Problem::none);
    CHECK(problem(4, 77, writer::host) == Problem::written_by_host);
    CHECK(problem(4, 77, writer::scattered) == Problem::scattered);
    CHECK(problem(4, 0xFFFF'FFFF'0000'0000, writer::host, 0.0f) == Problem::none);
}

TEST_CASE("origin: an output that was left alone speaks for no other one") {
    const auto came = numbers(100), old = numbers(50);
    std::vector<float> invented(100);
    std::iota(invented.begin(), invented.end(), 5000.5f);
    Call call;
    call.down(came);
    const auto buffer = [](unsigned argument, const std::vector<float>& before, const std::vector<float>& after) {
        OriginBuffer one;
        one.kind = OriginBuffer::Kind::out, one.argument = argument;
        one.before = bytes_of(before), one.after = bytes_of(after);
        return one;
    };
    const std::vector<float> empty(100, -1.0f);
    OriginQuery query;
    query.buffers = {buffer(0, old, old), buffer(1, empty, invented)};
    const auto verdict = check_origin(query, call.log);
    CHECK(verdict.problem == Problem::not_found);
    CHECK(verdict.argument == 1);
    query.buffers = {buffer(0, old, old), buffer(1, empty, came)};
    CHECK(check_origin(query, call.log).problem == Problem::none);
}
