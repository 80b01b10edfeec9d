// Each fuzz target without libFuzzer: what was once found, the seeds, and some hundred inputs made from them, the same
// every time. A target that crashes ends this program. The long search, under sanitizers, runs at night.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "judge/catch.hpp"

using Target = int (*)(const std::uint8_t* data, std::size_t size);
extern "C" {
int fuzz_arena(const std::uint8_t* data, std::size_t size);
int fuzz_fatbin(const std::uint8_t* data, std::size_t size);
int fuzz_protocol(const std::uint8_t* data, std::size_t size);
int fuzz_ptx(const std::uint8_t* data, std::size_t size);
int fuzz_report(const std::uint8_t* data, std::size_t size);
}

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

std::vector<Bytes> files_in(const fs::path& folder) {
    std::vector<fs::path> paths;
    if (fs::is_directory(folder))
        for (const auto& entry : fs::directory_iterator(folder))
            if (entry.is_regular_file()) paths.push_back(entry.path());
    std::ranges::sort(paths);
    std::vector<Bytes> files;
    for (const fs::path& path : paths) {
        std::ifstream file(path, std::ios::binary);
        files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return files;
}

// mt19937's numbers are fixed by the standard; those of its distributions are not.
std::size_t below(std::mt19937& random, std::size_t limit) { return random() % limit; }

Bytes noise(std::mt19937& random) {
    Bytes bytes(1 + below(random, 600));
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    return bytes;
}

// Changes some bytes, and now and then cuts the end off or doubles a piece.
Bytes changed(Bytes bytes, std::mt19937& random) {
    for (std::size_t i = 0, most = 1 + below(random, 8); i < most && !bytes.empty(); ++i)
        bytes[below(random, bytes.size())] = static_cast<std::uint8_t>(random());
    if (below(random, 4) == 0) bytes.resize(below(random, bytes.size() + 1));
    if (below(random, 4) == 0 && !bytes.empty()) {
        const std::size_t from = below(random, bytes.size());
        const Bytes piece(bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.end());
        bytes.insert(bytes.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(piece.size() / 2));
    }
    return bytes;
}

void run(Target target, const std::string& name, std::size_t inputs) {
    for (const Bytes& one : files_in(fs::path(WARPGRADE_TESTS_DIR) / "fuzz/found" / name))
        CHECK(target(one.data(), one.size()) == 0);
    const auto seeds = files_in(fs::path(WARPGRADE_TESTS_DIR) / "vgpu" / name);
    for (const Bytes& seed : seeds) CHECK(target(seed.data(), seed.size()) == 0);
    std::mt19937 random(1);
    for (std::size_t i = 0; i < inputs; ++i) {
        const Bytes input = seeds.empty() ? noise(random) : changed(seeds[below(random, seeds.size())], random);
        CHECK(target(input.data(), input.size()) == 0);
    }
}

}  // namespace

TEST_CASE("fuzz: what a worker writes into memory that it shares with the judge") { run(fuzz_arena, "arena", 2000); }
TEST_CASE("fuzz: fatbinaries") { run(fuzz_fatbin, "fatbin", 500); }
TEST_CASE("fuzz: a worker's frames") { run(fuzz_protocol, "protocol", 500); }
TEST_CASE("fuzz: PTX") { run(fuzz_ptx, "ptx", 300); }
TEST_CASE("fuzz: a device server's report") { run(fuzz_report, "report", 2000); }
