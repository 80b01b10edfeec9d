#include "vgpu/container/fatbin.hpp"

#include <cstring>
#include <map>
#include <random>
#include <regex>
#include <span>
#include <string>

#include "support/contains.hpp"
#include "vgpu/container/called_functions.hpp"
#include "vgpu/container/cubin.hpp"
#include "vgpu/ptx/parser.hpp"
#include "vgpu/samples.hpp"

using namespace warpgrade::vgpu;
using Kind = FatbinEntry::Kind;

namespace {

std::span<const std::byte> bytes_of(const std::string& image) {
    return {reinterpret_cast<const std::byte*>(image.data()), image.size()};
}
std::vector<FatbinEntry> read(const std::string& image) { return read_fatbin(bytes_of(image)); }

std::string error_of(const std::string& image, int compute_capability = 90) {
    try {
        const auto entries = read(image);
        choose_ptx(entries, compute_capability);
    } catch (const FatbinError& error) {
        return error.what();
    }
    return "";
}

// Does everything that a loader does. Only FatbinError (and PtxError, for the text) may be thrown.
void load(const std::string& image) {
    try {
        const auto entries = read(image);
        if (const FatbinEntry* ptx = choose_ptx(entries, 90)) ptx::parse(ptx->text());
        if (const FatbinEntry* cubin = choose_cubin(entries, 90)) {
            read_cubin(cubin->data);
            read_called_functions(cubin->data);
        }
    } catch (const FatbinError&) {
    } catch (const ptx::PtxError&) {
    }
}

template <typename T>
void store(std::string& image, std::size_t offset, T value) {
    std::memcpy(image.data() + offset, &value, sizeof value);
}

KernelResources resources(const FatbinEntry& cubin, const std::string& part) {
    for (const KernelResources& kernel : read_cubin(cubin.data)) {
        if (kernel.name.find(part) != std::string::npos) return kernel;
    }
    FAIL("no kernel " + part);
    return {};
}

}  // namespace

TEST_CASE("nvcc's compressions all give the same PTX (trap 3)") {
    const std::string zstd(read(sample("zstd.fatbin")).at(0).text()), lz4(read(sample("lz4.fatbin")).at(0).text());
    std::string plain(read(sample("uncompressed.fatbin")).at(0).text());
    CHECK(zstd == lz4);
    plain.resize(zstd.size());  // without the padding
    CHECK(zstd == plain);
    CHECK(ptx::parse(zstd).functions.size() == 7);
    CHECK(ptx::parse(read(sample("uncompressed.fatbin")).at(0).text()).functions.size() == 7);
}

TEST_CASE("the entries of a container, and which one a device takes") {
    const auto entries = read(sample("several.fatbin"));  // compute_75, sm_75, sm_80, compute_100
    REQUIRE(entries.size() == 4);
    CHECK(entries[0].kind == Kind::Ptx);
    CHECK(entries[1].kind == Kind::Cubin);
    CHECK(choose_ptx(entries, 90)->arch == 75);
    CHECK(choose_ptx(entries, 75)->arch == 75);
    CHECK(choose_ptx(entries, 120)->arch == 100);
    CHECK(choose_cubin(entries, 86)->arch == 80);
    CHECK(choose_cubin(entries, 75)->arch == 75);
    CHECK(choose_cubin(entries, 90) == nullptr);
    CHECK_THAT(std::string(read(sample("named.fatbin")).at(0).name), Contains("resources.cu"));
}

TEST_CASE("architecture-specific PTX is for that architecture only, and comes second there") {
    const auto entries = read(sample("specific.fatbin"));  // compute_90a, compute_90
    CHECK(entries.at(0).target() == "90a");
    CHECK(choose_ptx(entries, 90)->variant == 0);
    CHECK(choose_ptx(entries, 100)->variant == 0);
    const std::vector<FatbinEntry> only{entries.at(0)};
    CHECK(choose_ptx(only, 90)->variant == 'a');
    CHECK_THROWS_WITH(choose_ptx(only, 100), Contains("compute_90a"));
}

TEST_CASE("without usable PTX the message says how to compile") {
    CHECK_THAT(error_of(sample("cubin-only.fatbin")), Contains("sm_90 only") && Contains("code=compute_90"));
    CHECK_THAT(error_of(sample("named.fatbin"), 75), Contains("compute_80") && Contains("7.5"));
    CHECK(choose_ptx(read(sample("empty.fatbin")), 90) == nullptr);
}

TEST_CASE("resources of kernels are those that ptxas -v prints") {
    const auto check = [](const std::string& image, int arch) {
        const auto entries = read(sample(image));
        const std::string printed = sample(image + ".txt");
        for (const KernelResources& kernel : read_cubin(choose_cubin(entries, arch)->data)) {
            CAPTURE(image, arch, kernel.name, printed);
            const std::regex words(
                "'" + kernel.name + "' for 'sm_" + std::to_string(arch) +
                "'\\n.*\\n *(\\d+) bytes stack.*\\n.*Used (\\d+) registers(?:.*?(\\d+) bytes smem)?");
            std::smatch found;
            REQUIRE(std::regex_search(printed, found, words));
            CHECK(kernel.local_bytes_per_thread == std::stoul(found[1]));
            CHECK(kernel.registers_per_thread == std::stoul(found[2]));
            CHECK(kernel.static_shared_bytes == (found[3].matched ? std::stoul(found[3]) : 0));
        }
    };
    check("zstd.fatbin", 90);
    check("several.fatbin", 75);
    check("several.fatbin", 80);
    const auto entries = read(sample("zstd.fatbin"));
    const FatbinEntry& hopper = *choose_cubin(entries, 90);
    CHECK(read_cubin(hopper.data).size() == 5);
    CHECK(resources(hopper, "shared_tile").static_shared_bytes == 4224);
    CHECK(resources(hopper, "local_array").local_bytes_per_thread == 256);
}

TEST_CASE("functions that ptxas calls save as many registers as it says to spill") {
    const auto check = [](const std::string& image, int arch) {
        const auto entries = read(sample(image));
        const std::string printed = sample(image + ".txt");
        std::map<std::string, std::uint32_t> saved;
        for (const CalledFunction& function : read_called_functions(choose_cubin(entries, arch)->data))
            if (function.kernel.find("calls") != std::string::npos) saved[function.name] = function.saved_registers;
        CAPTURE(image, arch, printed);
        CHECK(saved.size() == 2);
        for (const auto& [name, registers] : saved) {
            const std::regex words("'sm_" + std::to_string(arch) + "'(?:.|\\n)*?properties for " + name +
                                   "\\n.*, (\\d+) bytes spill stores");
            std::smatch found;
            REQUIRE(std::regex_search(printed, found, words));
            CHECK(4 * registers == std::stoul(found[1]));
            CHECK((registers > 0) == (name.find("fibonacci") != std::string::npos));
        }
    };
    check("zstd.fatbin", 90);
    check("several.fatbin", 80);
    CHECK_THROWS_AS(read_called_functions({}), FatbinError);
}

TEST_CASE("what is not a fatbinary is refused") {
    CHECK_THAT(error_of(""), Contains("truncated"));
    CHECK_THAT(error_of(".version 9.0"), Contains("not a fatbinary"));
    CHECK_FALSE(is_fatbin(bytes_of(".version")));
    CHECK(is_fatbin(bytes_of(sample("zstd.fatbin"))));
    std::string image = sample("zstd.fatbin");
    store<std::uint32_t>(image, 0, 0x466243B1);
    CHECK_THAT(error_of(image), Contains("wrapper"));
    CHECK_THROWS_AS(read_cubin({}), FatbinError);
}

TEST_CASE("sizes that lie are refused") {
    const std::string good = sample("zstd.fatbin");
    constexpr std::size_t entry = 16;
    const auto with = [&](std::size_t offset, std::uint64_t value, std::size_t bytes) {
        std::string image = good;
        std::memcpy(image.data() + offset, &value, bytes);
        return error_of(image);
    };
    CHECK_THAT(with(8, 1u << 30, 8), Contains("truncated"));  // container
    CHECK_THAT(with(8, ~0ull, 8), Contains("truncated"));
    CHECK_THAT(with(6, 8, 2), Contains("malformed"));                  // container's header
    CHECK_THAT(with(entry + 4, 0, 4), Contains("malformed"));          // entry's header
    CHECK_THAT(with(entry + 8, ~0ull, 8), Contains("truncated"));      // stored
    CHECK_THAT(with(entry + 16, 1u << 20, 4), Contains("truncated"));  // compressed
    CHECK_THAT(with(entry + 56, 1ull << 40, 8), Contains("64 MiB"));   // uncompressed
    CHECK_THAT(with(entry + 56, 100, 8), Contains("decompress"));
    CHECK_THAT(with(entry + 56, 100000, 8), Contains("does not have the size"));
    CHECK_THAT(with(entry + 28, 1u << 31, 4), Contains("architecture"));
    CHECK_THAT(with(entry + 36, 1u << 31, 4), Contains("truncated"));  // name
    CHECK_THAT(with(entry + 40, 0x11, 8), Contains("not supported"));  // neither zstd nor LZ4
}

TEST_CASE("a damaged fatbinary is refused or read, never worse") {
    std::mt19937 random(7);
    for (const std::string& name : sample_names("fatbin")) {
        const std::string good = sample(name);
        for (std::size_t length = 0; length < good.size(); length += 1 + good.size() / 200)
            load(good.substr(0, length));
        for (int round = 0; round < 400; ++round) {
            std::string image = good;
            for (int edit = 0, edits = 1 + static_cast<int>(random() % 8); edit < edits; ++edit) {
                // Headers at the front and the ELF tables at the back are where it matters most.
                std::size_t at = random() % image.size();
                if (random() % 2) at = random() % 2 ? at % 200 : image.size() - 1 - at % 4000 % image.size();
                image[at] = static_cast<char>(random() % 3 ? random() : 0xff);
            }
            CAPTURE(name, round);
            load(image);
        }
    }
    SUCCEED();
}
