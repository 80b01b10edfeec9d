// warpgrade-reference: prints docs/supported.md from the tables that the code itself is made of.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "vgpu/ops/opcodes.hpp"

namespace {

using warpgrade::vgpu::OpcodeFamily;
using warpgrade::vgpu::OpcodeRow;
using warpgrade::vgpu::RefusedOpcode;

std::string code(std::string_view words) { return words.empty() ? "" : fmt::format("`{}`", words); }

std::string full_name(std::string_view mnemonic, std::string_view required) {
    std::string name(mnemonic);
    if (!required.empty()) name += fmt::format(".{}", required);
    for (char& c : name)
        if (c == ' ') c = '.';
    return name;
}

void print_opcodes() {
    fmt::print(
        "## PTX\n\nOne row per form. *Types*: those of the operation. *May have*: modifiers that it also takes "
        "(without their `.`); anything beyond its row is refused by name.\n");
    for (const OpcodeFamily& family : warpgrade::vgpu::opcode_table().families()) {
        fmt::print("\n### {}\n\n| opcode | types | may have | |\n|---|---|---|---|\n", family.name);
        for (const OpcodeRow& row : family.rows)
            fmt::print("| `{}` | {} | {} | {} |\n", full_name(row.mnemonic, row.required), code(row.types),
                       code(row.optional), row.summary);
    }
    std::map<std::string, std::string> by_reason;
    for (const RefusedOpcode& entry : warpgrade::vgpu::opcode_table().refused()) {
        std::string& names = by_reason[entry.reason];
        names += fmt::format("{}`{}`", names.empty() ? "" : ", ", full_name(entry.mnemonic, entry.required));
    }
    fmt::print("\n### Not supported\n\n| | opcodes |\n|---|---|\n");
    for (const auto& [reason, names] : by_reason) fmt::print("| {} | {} |\n", reason, names);
}

struct Function {
    std::string name, reason;  // works: no reason
    bool works = false;
};

void print_functions() {
    const std::vector<Function> functions = {
#define WG_CUDA_WORKS(name, note) {#name, note, true},
#define WG_CUDA_REFUSED(name, reason) {#name, reason, false},
#define WG_CUDA_REFUSED_STREAM(name, variant, reason) {#name, reason, false},
#include "cudart/client/api.def"
#undef WG_CUDA_WORKS
#undef WG_CUDA_REFUSED
#undef WG_CUDA_REFUSED_STREAM
    };
    fmt::print("\n## CUDA runtime\n\nAll functions of CUDA 13's runtime link. These work:\n\n");
    std::map<std::string, std::string> refused;
    std::string works;
    for (const Function& f : functions) {
        std::string& names = f.works ? works : refused[f.reason];
        names += fmt::format("{}`{}`{}", names.empty() ? "" : ", ", f.name,
                             f.works && !f.reason.empty() ? fmt::format(" ({})", f.reason) : "");
    }
    fmt::print("{}.\n\nThese return `cudaErrorNotSupported` and say so on stderr:\n\n| | functions |\n|---|---|\n",
               works);
    for (const auto& [reason, names] : refused) fmt::print("| {} | {} |\n", reason, names);
}

void print_driver_functions() {
    std::string names;
#define WG_CU(name) names += names.empty() ? "`" #name "`" : ", `" #name "`";
#include "cudart/driver/driver.def"
#undef WG_CU
    fmt::print(
        "\n## CUDA driver API\n\nPrograms of `warpgrade run` have these functions, and link with no others; labs have "
        "none:\n\n{}.\n",
        names);
}

}  // namespace

int main() {
    try {
        fmt::print(
            "# What is supported\n\nGenerated from the tables in the code by `warpgrade-reference`; a test compares "
            "the two. [The virtual GPU](virtual-gpu.md) explains how it works.\n\n");
        print_opcodes();
        print_functions();
        print_driver_functions();
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "warpgrade-reference: %s\n", failure.what());
        return 1;
    }
    return 0;
}
