// The tables of the functions of the CUDA runtime and the driver API against the libraries and NVIDIA's headers.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "judge/catch.hpp"

extern "C" {
#define WG_CUDA_WORKS(name, note) void name();
#define WG_CUDA_REFUSED(name, reason) int name();
#define WG_CUDA_REFUSED_STREAM(name, variant, reason) int name(), variant();
#include "cudart/client/api.def"
#undef WG_CUDA_WORKS
#undef WG_CUDA_REFUSED
#undef WG_CUDA_REFUSED_STREAM
}

namespace {

constexpr int not_supported = 801;

// Linking this is the test that all of them are defined.
const std::map<std::string, bool (*)()>& table() {
    static const std::map<std::string, bool (*)()> all = {
#define WG_CUDA_WORKS(name, note) {#name, [] { return reinterpret_cast<void*>(&name) != nullptr; }},
#define WG_CUDA_REFUSED(name, reason) {#name, [] { return name() == not_supported; }},
#define WG_CUDA_REFUSED_STREAM(name, variant, reason) \
    {#name, [] { return name() == not_supported && variant() == not_supported; }},
#include "cudart/client/api.def"
#undef WG_CUDA_WORKS
#undef WG_CUDA_REFUSED
#undef WG_CUDA_REFUSED_STREAM
    };
    return all;
}

std::string read(const std::filesystem::path& path) {
    std::ifstream file(path);
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("every function of the table is there, and what is refused says so") {
    for (const auto& [name, holds] : table()) {
        CAPTURE(name);
        CHECK(holds());
    }
}

TEST_CASE("every function that NVIDIA's header declares has a row") {
    const std::string text = read(WG_CUDA_HEADERS "/cuda_runtime_api.h");
    const std::regex declaration(R"(\bCUDARTAPI\s+(cuda[A-Z]\w*)\()");
    std::size_t found = 0;
    for (std::sregex_iterator match(text.begin(), text.end(), declaration), end; match != end; ++match) {
        const std::string name = (*match)[1];
        if (name.ends_with("_ptsz") || name.ends_with("_ptds")) continue;
        CAPTURE(name);
        CHECK(table().count(name) == 1);
        ++found;
    }
    CHECK(found > 300);
}

// Declared here as the runtime's are above: with the driver API's own header, the two would not agree.
extern "C" {
int cuGetErrorName(int error, const char** name);
int cuGetErrorString(int error, const char** text);
int cuGetProcAddress_v2(const char* symbol, void** function, int version, std::uint64_t flags, int* found);
}

TEST_CASE("every function of the driver API that is defined has a row, and is found by its name") {
    std::set<std::string> rows, defined;
#define WG_CU(name) rows.insert(#name);
#include "cudart/driver/driver.def"
#undef WG_CU
    const std::regex definition(R"(\bCUDAAPI\s+(cu[A-Z]\w*)(?:##bits(##Async)?)?\()");
    for (const char* folder : {"driver", "driver_per_stream"})
        for (const auto& file :
             std::filesystem::directory_iterator(std::filesystem::path(WG_CUDART_SOURCES) / folder)) {
            const std::string text = read(file.path());
            for (std::sregex_iterator match(text.begin(), text.end(), definition), end; match != end; ++match)
                for (const char* bits : {"8", "16", "32"})
                    defined.insert((*match)[1].str() + (match->str().find("##") == std::string::npos ? "" : bits) +
                                   (match->str().find("##Async") == std::string::npos ? "" : "Async"));
        }
    CHECK(rows == defined);
    for (const std::string& name : rows)
        for (const std::uint64_t flags : {0, 2}) {
            void* function = nullptr;
            int found = 1;
            CAPTURE(name, flags);
            CHECK(cuGetProcAddress_v2(name.c_str(), &function, 13000, flags, &found) == 0);
            CHECK((function != nullptr && found == 0));
        }
}

TEST_CASE("errors of the driver API have their names and texts") {
    const std::string header = read(WG_CUDA_HEADERS "/cuda.h");
    const std::regex row(R"(\b(CUDA_(?:SUCCESS|ERROR_\w+))\s*=\s*(\d+))");
    std::size_t count = 0;
    for (std::sregex_iterator match(header.begin(), header.end(), row), end; match != end; ++match, ++count) {
        const char *name = nullptr, *text = nullptr;
        const int error = std::stoi((*match)[2]);
        CAPTURE(error);
        CHECK(cuGetErrorName(error, &name) == 0);
        CHECK(cuGetErrorString(error, &text) == 0);
        CHECK((name != nullptr && (*match)[1] == name && text != nullptr));
    }
    CHECK(count > 90);
    const char* name = "unchanged";
    CHECK(cuGetErrorName(12345, &name) == 1);
    CHECK(name == nullptr);
}
