// The table of the CUDA runtime's functions against the library and against NVIDIA's header.
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
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

}  // namespace

TEST_CASE("every function of the table is there, and what is refused says so") {
    for (const auto& [name, holds] : table()) {
        CAPTURE(name);
        CHECK(holds());
    }
}

TEST_CASE("every function that NVIDIA's header declares has a row") {
    std::ifstream file(WG_CUDA_HEADER);
    REQUIRE(file);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
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
