// Uploads and decisions of host code, checked by two runs of the same call with different inputs.
#include <algorithm>
#include <numeric>
#include <random>

#include "device/fake_device.hpp"
#include "judge/catch.hpp"
#include "server/origin_uploads.hpp"

using namespace warpgrade::server;
using namespace warpgrade::device::testing;
using Problem = OriginVerdict::Problem;
using Numbers = std::vector<int>;

namespace {

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
    return std::as_bytes(std::span(values));
}

// Host code of one process, as the session records it in the log.
struct Run {
    class Device : public FakeDevice {
      public:
        [[nodiscard]] bool keeps_origin() const override { return true; }
        std::vector<HostData> take_host_data() override { return std::exchange(host_data, {}); }
        [[nodiscard]] bool runs_kernels() const override { return runs; }
        [[nodiscard]] std::optional<std::vector<bool>> read_arguments(FunctionId) const override { return read; }
        std::optional<std::vector<bool>> read;
        std::vector<HostData> host_data;
        bool runs = true;
    };

    explicit Run(Numbers values) : in(std::move(values)) {}

    DevicePtr allocate(std::size_t count) {
        wire::Writer request;
        request.put(std::uint64_t{4 * count}).put_string("cudaMalloc");
        log.record_decision(wire::Op::allocate, request.bytes());
        return device.allocate(4 * count, "test");
    }
    // Rows of `width` bytes, `pitch` apart at both ends.
    void up(const wire::Region& region, std::span<const std::byte> bytes) {
        wire::Writer request;
        region.put(request);
        wire::Transfer{}.put(request);
        request.put_bytes(bytes);
        log.record_decision(wire::Op::write, request.bytes());
        log.record_upload(region, bytes, true);
    }
    void up(DevicePtr to, std::span<const int> values) {
        up(wire::Region::range(to, values.size_bytes()), std::as_bytes(values));
    }
    void launch(std::vector<std::uint32_t> arguments = {}, std::uint32_t blocks = 1, std::uint32_t kernel = 1) {
        wire::Writer request;
        for (const std::uint32_t each : {kernel, blocks, 1u, 1u, 32u, 1u, 1u}) request.put(each);
        request.put(std::uint64_t{0}).put(std::uint32_t{0}).put(std::uint8_t{0});
        for (const std::uint32_t argument : arguments) request.put(argument);
        log.record_decision(wire::Op::launch, request.bytes());
        log.record_launch({});
    }
    void fill(DevicePtr at, std::uint8_t value, std::uint64_t bytes) {
        wire::Writer request;
        wire::Region::range(at, bytes).put(request);
        request.put(value);
        wire::Transfer{}.put(request);
        log.record_decision(wire::Op::fill, request.bytes());
    }
    Numbers down(DevicePtr from, const Numbers& values) {
        device.write(from, bytes_of(values));
        log.record_download(wire::Region::range(from, 4 * values.size()));
        return values;
    }

    Device device;
    OriginLog log{device};
    Numbers in;
};

Numbers numbers(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    Numbers values(count);
    for (int& value : values) value = static_cast<int>(random());
    return values;
}
Numbers digits(std::size_t count, unsigned seed) {
    auto values = numbers(count, seed);
    for (int& value : values) value &= 7;
    return values;
}

// Runs the same host code with two inputs.
template <class HostCode>
OriginVerdict compare(const Numbers& mine, const Numbers& other, HostCode&& host_code, bool runs = true) {
    Run first(mine), second(other);
    second.device.runs = runs;
    host_code(first);
    host_code(second);
    OriginQuery query;
    query.buffers.push_back({OriginBuffer::Kind::in, 0, 4, bytes_of(first.in), {}, bytes_of(second.in)});
    OriginVerdict verdict;
    const bool is_input = check_uploads(query, first.log, &second.log, verdict);
    CHECK(is_input == (verdict.problem == Problem::none));
    return verdict;
}
template <class HostCode>
OriginVerdict compare(HostCode&& host_code) {
    return compare(numbers(1024, 1), numbers(1024, 2), host_code);
}
template <class HostCode>
Problem problem_of(HostCode&& host_code) {
    return compare(host_code).problem;
}

}  // namespace

TEST_CASE("two runs: inputs may go up whole, in pieces, in rows with gaps and element by element") {
    const auto [mine, other] = GENERATE(table<Numbers, Numbers>(
        {{numbers(1024, 1), numbers(1024, 2)}, {digits(1024, 1), digits(1024, 2)}, {Numbers(1024), Numbers(1024)}}));
    int number = 0;
    const auto check = [&](auto host_code) {
        CAPTURE(mine[0], ++number);
        CHECK(compare(mine, other, host_code).problem == Problem::none);
    };
    check([](Run& run) { run.up(run.allocate(1024), run.in); });
    check([](Run& run) {  // pieces, the last first
        const auto d = run.allocate(1024);
        for (std::size_t at = 1024; at >= 128; at -= 128)
            run.up(d + 4 * (at - 128), std::span(run.in).subspan(at - 128, 128));
    });
    check([](Run& run) {  // one buffer for all pieces
        const auto d = run.allocate(128);
        for (std::size_t at = 0; at < 1024; at += 128) run.up(d, std::span(run.in).subspan(at, 128)), run.launch();
    });
    check([](Run& run) {  // with a halo
        for (std::size_t at = 0; at + 66 <= 1024; at += 64) run.up(run.allocate(66), std::span(run.in).subspan(at, 66));
    });
    check([](Run& run) { run.up({run.allocate(2048), 256, 128, 32}, bytes_of(run.in)); });
    check([](Run& run) {
        run.up({run.allocate(1024 * 8), 128, 20, 204}, bytes_of(run.in).first(4080));
    });                   // short rows
    check([](Run& run) {  // padded by host code
        Numbers padded(1024 / 16 * 20, 0);
        for (std::size_t i = 0; i < 1024; ++i) padded[i / 16 * 20 + i % 16] = run.in[i];
        run.up(run.allocate(padded.size()), padded);
    });
    check([](Run& run) {
        const auto d = run.allocate(1024);
        for (std::size_t i = 0; i < 1024; ++i) run.up(d + 4 * i, std::span(run.in).subspan(i, 1));
    });
    check([](Run& run) {  // from the last to the first, each to its own place
        const auto d = run.allocate(1024);
        for (std::size_t i = 1024; i-- > 0;) run.up(d + 4 * i, std::span(run.in).subspan(i, 1)), run.launch();
    });
}

TEST_CASE("two runs: what does not depend on the inputs is the host's to choose") {
    CHECK(problem_of([](Run& run) {
              Numbers table(300);  // whatever it is good for
              std::iota(table.begin(), table.end(), 17);
              run.up(run.allocate(300), table);
              for (std::uint32_t i = 0; i < 1000; ++i) run.launch({i, 1000 - i}, i + 1);
              for (int i = 0; i < 100; ++i) run.fill(run.allocate(64), static_cast<std::uint8_t>(i), 4);
          }) == Problem::none);
}

TEST_CASE("two runs: copies that arrange elements are seen, however they are cut") {
    CHECK(problem_of([](Run& run) {
              const Numbers turned(run.in.rbegin(), run.in.rend());
              run.up(run.allocate(1024), turned);
          }) == Problem::rearranged);
    CHECK(problem_of([](Run& run) {  // one copy for each element
              const auto d = run.allocate(1024);
              for (std::size_t i = 0; i < 1024; ++i) run.up(d + 4 * (1023 - i), std::span(run.in).subspan(i, 1));
          }) == Problem::rearranged);
    CHECK(problem_of([](Run& run) {  // twice, with launches between, so that all copies are replaced
              const auto d = run.allocate(1024);
              for (std::size_t i = 0; i < 1024; ++i)
                  for (int twice = 0; twice < 2; ++twice)
                      run.up(d + 4 * (1023 - i), std::span(run.in).subspan(i, 1)), run.launch();
          }) == Problem::rearranged);
    CHECK(problem_of([](Run& run) {  // rows as columns
              const auto d = run.allocate(1024);
              for (std::size_t row = 0; row < 32; ++row)
                  run.up({d + 4 * row, 128, 4, 32}, bytes_of(run.in).subspan(128 * row, 128));
          }) == Problem::rearranged);
    CHECK(problem_of([](Run& run) {  // the same, with a gap between any two elements
              const auto d = run.allocate(2048);
              for (std::size_t row = 0; row < 32; ++row)
                  run.up({d + 8 * row, 256, 4, 32}, bytes_of(run.in).subspan(128 * row, 128));
          }) == Problem::rearranged);
    CHECK(problem_of([](Run& run) {  // every other element
              Numbers picked;
              for (std::size_t i = 0; i < 1024; i += 2) picked.push_back(run.in[i]);
              run.up(run.allocate(512), picked);
          }) == Problem::rearranged);
    const auto verdict = compare([](Run& run) {
        const Numbers turned(run.in.rbegin(), run.in.rend());
        run.up(run.allocate(1024), turned);
    });
    const int first = numbers(1024, 1).back();
    REQUIRE(verdict.sample.size() >= 4);
    CHECK(std::memcmp(verdict.sample.data(), &first, 4) == 0);
}

TEST_CASE("two runs: a single word that host code has computed is seen, in whatever it travels") {
    const auto sum_of = [](const Run& run) {
        return std::accumulate(run.in.begin(), run.in.end(), 0u, [](unsigned a, int b) { return a + unsigned(b); });
    };
    CHECK(problem_of([&](Run& run) {
              run.up(run.allocate(1024), run.in);
              run.up(run.allocate(1), Numbers{static_cast<int>(sum_of(run))});
          }) == Problem::unexpected_upload);
    CHECK(problem_of([&](Run& run) { run.launch({1024, sum_of(run)}); }) == Problem::value_dependent);
    CHECK(problem_of([&](Run& run) {  // in the padding of a struct
              run.device.read = std::vector<bool>(4, true);
              run.launch({1024, sum_of(run)});
          }) == Problem::none);
    CHECK(problem_of([&](Run& run) {
              run.device.read = std::vector<bool>(8, true);
              run.launch({1024, sum_of(run)});
          }) == Problem::value_dependent);
    CHECK(problem_of([&](Run& run) { run.launch({}, 1 + sum_of(run) % 64); }) == Problem::value_dependent);
    CHECK(problem_of([&](Run& run) { run.launch({}, 1, 1 + sum_of(run) % 64); }) == Problem::value_dependent);
    CHECK(problem_of([&](Run& run) { run.fill(run.allocate(1), static_cast<std::uint8_t>(sum_of(run)), 4); }) ==
          Problem::value_dependent);
    CHECK(problem_of([&](Run& run) { run.fill(run.allocate(1), 0, 1 + sum_of(run) % 64); }) ==
          Problem::value_dependent);
    CHECK(problem_of([&](Run& run) { run.allocate(1 + sum_of(run) % 64); }) == Problem::value_dependent);
    CHECK(problem_of([&](Run& run) {  // the length of a piece of the inputs
              run.up(run.allocate(1024), std::span(run.in).first(1 + sum_of(run) % 1000));
          }) == Problem::value_dependent);
    CHECK(problem_of([&](Run& run) {  // the destination of a constant word
              run.up(run.allocate(1024) + 4 * (sum_of(run) % 1024), Numbers{1});
          }) == Problem::value_dependent);
    CHECK(problem_of([&](Run& run) {  // which piece of the inputs
              run.up(run.allocate(64), std::span(run.in).subspan(sum_of(run) % 512, 64));
          }) != Problem::none);
    CHECK(problem_of([&](Run& run) {
              for (unsigned i = 0; i < 1 + sum_of(run) % 64; ++i) run.launch();
          }) == Problem::value_dependent);
}

TEST_CASE("two runs: what came down may go up again, unchanged") {
    const auto results = [](const Run& run) {
        Numbers changed = run.in;
        for (int& value : changed) value ^= 0x55555;
        return changed;
    };
    CHECK(problem_of([&](Run& run) {
              const auto d = run.allocate(1024);
              run.up(d, run.down(d, results(run)));
          }) == Problem::none);
    CHECK(problem_of([&](Run& run) {
              const auto d = run.allocate(1024);
              auto came = run.down(d, results(run));
              std::partial_sum(came.begin(), came.end(), came.begin(), [](int a, int b) { return a ^ b; });
              run.up(d, came);
          }) == Problem::unexpected_upload);
}

TEST_CASE("two runs: what came down may only go up again if kernels have made it in both") {
    const auto mine = numbers(1024, 1), other = numbers(1024, 2);
    const auto ramp = numbers(4096, 3);
    // The choice of the piece carries information.
    const auto told = [&](Run& run, std::size_t piece) {
        const auto d = run.allocate(4096), e = run.allocate(32);
        const auto came = run.down(d, run.device.runs ? ramp : Numbers(4096));
        run.up(e, std::span(came).subspan(32 * piece, 32));
    };
    const auto by_inputs = [&](Run& run) { told(run, static_cast<unsigned>(run.in[0]) % 128); };
    const auto always = [&](Run& run) { told(run, 5); };
    for (const bool runs : {true, false}) {
        const auto verdict = compare(mine, other, always, runs);
        CHECK(verdict.problem == (runs ? Problem::none : Problem::unexpected_upload));
        CHECK(verdict.needs_kernels == !runs);
        CHECK(verdict.compared);
    }
    CHECK(compare(mine, other, by_inputs, false).needs_kernels);
    const auto verdict = compare(mine, other, by_inputs);
    CHECK(verdict.problem == Problem::unexpected_upload);
    CHECK_FALSE(verdict.needs_kernels);
    CHECK(verdict.bytes >= 128);
}

TEST_CASE("two runs: memory of both is compared where both runs have read it") {
    const auto reads = [](Run& run, std::size_t from, std::size_t count, const Numbers& host) {
        const auto bytes = bytes_of(host).subspan(4 * from, 4 * count);
        run.device.host_data.push_back({0x0790'0000'0000 + 4 * from, {bytes.begin(), bytes.end()}});
        run.launch();
    };
    CHECK(problem_of([&](Run& run) { reads(run, 0, 1024, run.in); }) == Problem::none);
    // A kernel may read this or that, depending on what it finds.
    CHECK(problem_of([&](Run& run) { reads(run, run.in[0] & 255, 600, run.in); }) == Problem::none);
    Numbers turned;
    CHECK(problem_of([&](Run& run) {
              turned.assign(run.in.rbegin(), run.in.rend());
              reads(run, 0, 1024, turned);
          }) == Problem::rearranged);
    // Computed, and read at another place in each run.
    CHECK(problem_of([&](Run& run) {
              auto results = run.in;
              for (int& value : results) value *= 3;
              reads(run, run.in[0] & 1 ? 0 : 512, 512, results);
          }) == Problem::unexpected_upload);
}

TEST_CASE("two runs with equal inputs: changes are counted, whatever the order and the addresses") {
    const auto count = [](auto host_code) {
        int runs = 0;
        return compare(numbers(64, 1), numbers(64, 1), [&](Run& run) { host_code(run, runs++); }).changes;
    };
    CHECK(count([](Run& run, int which) {  // two host threads
              for (const int thread : {which, 1 - which}) {
                  const auto d = run.allocate(thread == 0 ? 32 : 16);
                  run.up(d, std::span(run.in).first(thread == 0 ? 32 : 16));
                  run.launch({static_cast<std::uint32_t>(d), static_cast<std::uint32_t>(d >> 32)});
              }
          }) <= 4);
    CHECK(count([](Run& run, int which) {  // a clock
              for (std::uint32_t i = 0; i < 100; ++i) run.launch({7 + static_cast<std::uint32_t>(which), 0, i, 0});
          }) == 1);
    CHECK(count([](Run& run, int which) {  // words that only one of the runs sends, in any order
              Numbers words = {1'000'001, 1'000'002, 1'000'003, 1'000'000 + 10 * which};
              if (which) std::ranges::reverse(words);
              run.up(run.allocate(words.size()), words);
          }) == 2);
    CHECK(count([](Run& run, int which) {  // random numbers
              for (std::uint32_t i = 0; i < 100; ++i)
                  run.launch({which ? static_cast<std::uint32_t>(numbers(100, 3)[i]) : 0, 0, i, 0});
          }) > OriginVerdict::max_changes);
    CHECK(count([](Run& run, int which) {
              for (int i = 0; i < 2 + which; ++i) run.launch();
          }) > OriginVerdict::max_changes);
    CHECK(count([](Run& run, int which) { run.launch({}, 1u + static_cast<unsigned>(which)); }) == 1);
    CHECK(count([](Run& run, int which) { run.launch({}, 1, 1u + static_cast<unsigned>(which)); }) >
          OriginVerdict::max_changes);
}

TEST_CASE("two runs: inputs may be a launch's arguments, all of them or a warp's elements") {
    const auto by_value = [](std::size_t count, std::size_t from, std::size_t taken) {
        return compare(numbers(count, 1), numbers(count, 2), [=](Run& run) {
            std::vector<std::uint32_t> words{7};
            for (std::size_t i = from; i < from + taken; ++i) words.push_back(static_cast<std::uint32_t>(run.in[i]));
            words.insert(words.end(), 3, 0);
            run.launch(words);
            run.launch({5});
        });
    };
    CHECK(by_value(5, 0, 5).problem == Problem::none);
    CHECK(by_value(100, 10, 32).problem == Problem::none);
    // Single elements pick, which is no kernel's work any more. Nobody has computed anything.
    for (const std::size_t few : {1, 31}) {
        const auto verdict = by_value(100, 10, few);
        CHECK(verdict.problem == Problem::rearranged);
        CHECK(verdict.decision.starts_with("the arguments of launch 1 hold"));
        CHECK(verdict.sample.size() >= 4);
    }
    // One from another place in each run, a sum, and an element behind a launch of another shape.
    CHECK(problem_of([](Run& run) {
              run.launch({static_cast<std::uint32_t>(run.in[static_cast<std::size_t>(run.in[0]) % 512])});
          }) == Problem::value_dependent);
    CHECK(problem_of([](Run& run) {
              run.launch({static_cast<std::uint32_t>(std::accumulate(run.in.begin(), run.in.end(), 0u))});
          }) == Problem::value_dependent);
    CHECK(problem_of([](Run& run) {
              run.launch({static_cast<std::uint32_t>(run.in[3])});
              run.launch({}, 1 + static_cast<std::uint32_t>(run.in[0]) % 64);
          }) == Problem::value_dependent);
}

TEST_CASE("two runs: inputs in another type are told as that") {
    const auto up_as = [](auto convert) {
        return problem_of([&](Run& run) {
            const auto converted = convert(run.in);
            const auto bytes = std::as_bytes(std::span(converted));
            run.up(wire::Region::range(run.allocate(2 * converted.size()), bytes.size()), bytes);
        });
    };
    using Doubles = std::vector<double>;
    CHECK(up_as([](const Numbers& in) { return Doubles(in.begin(), in.end()); }) == Problem::converted);
    CHECK(up_as([](const Numbers& in) {
              std::vector<long> padded(in.begin(), in.end());
              padded.resize(in.size() + 7);
              return padded;
          }) == Problem::converted);
    CHECK(up_as([](const Numbers& in) { return Doubles(in.rbegin(), in.rend()); }) == Problem::unexpected_upload);
    CHECK(up_as([](const Numbers& in) {
              Doubles sums(in.begin(), in.end());
              sums.back() = std::accumulate(in.begin(), in.end(), 0.0);
              return sums;
          }) == Problem::unexpected_upload);
}

TEST_CASE("two runs: pieces go through one buffer, the last one shorter") {
    for (const std::size_t count : {1000, 1001, 1020, 1023, 1024})
        for (const std::size_t piece : {16, 64, 512})
            CHECK(compare(numbers(count, 1), numbers(count, 2), [=](Run& run) {
                      const auto d = run.allocate(piece);
                      for (std::size_t at = 0; at < count; at += piece) {
                          run.up(d, std::span(run.in).subspan(at, std::min(piece, count - at)));
                          run.launch();
                      }
                  }).problem == Problem::none);
    // What remains of many copies is put together by them.
    CHECK(problem_of([](Run& run) {
              const auto d = run.allocate(1024);
              for (std::size_t i = 0; i < 900; ++i) run.up(d + 4 * i, std::span(run.in).subspan(900 - i, 32));
              run.launch();
          }) == Problem::rearranged);
}

TEST_CASE("decisions are told with what differs, by its number") {
    const auto told = [](auto host_code) {
        return compare([&](Run& run) { host_code(run, run.in == numbers(1024, 1) ? 0u : 1u); }).decision;
    };
    CHECK(told([](Run& run, unsigned which) {
              run.launch();
              run.launch({}, 4 + which);
          }) == "the grid of launch 2 is 4 × 1 × 1, with other inputs 5 × 1 × 1");
    CHECK(told([](Run& run, unsigned which) {
              run.launch({9, 16 + which});
          }) == "the arguments of launch 1 hold 0x10, with other inputs 0x11 at byte 4");
    CHECK(told([](Run& run, unsigned which) { run.allocate(1 + which); }) ==
          "allocation 1 has 4, with other inputs 8 bytes");
    CHECK(told([](Run& run, unsigned which) { run.launch({}, 1, 1 + which); }) ==
          "launch 1 runs another kernel than with other inputs");
    CHECK(told([](Run& run, unsigned which) {
              run.launch();
              if (which) run.launch();
          }) == "launch 2 comes only with other inputs");
    CHECK(told([](Run& run, unsigned which) {
              if (which)
                  run.launch();
              else
                  run.allocate(1);
          }) == "where allocation 1 comes, launch 1 comes with other inputs");
}
