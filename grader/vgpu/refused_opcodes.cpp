// PTX that the virtual GPU does not run, and why. An entry whose form gets a row of its own is passed over, so that
// nothing here outlives the day on which it is no longer true.
#include <fmt/format.h>

#include <algorithm>

#include "vgpu/opcodes.hpp"

namespace warpgrade::vgpu {
namespace {

constexpr const char *clusters = "clusters of blocks", *tma = "the tensor memory accelerator",
                     *images = "textures and surfaces", *matrices = "matrices of 8-bit elements",
                     *small_floats = "matrices of floats smaller than 16 bits",
                     *video = "video instructions, which nvcc writes for no CUDA C++",
                     *stack = "stack memory beyond .local variables", *fabric = "several GPUs";

constexpr RefusedOpcode refused[] = {
    {"alloca", "", stack},
    {"barrier", "cluster", clusters},
    {"clusterlaunchcontrol", "", clusters},
    {"cp", "async bulk", tma},
    {"cp", "async mbarrier", "barriers that wait for copies"},
    {"cp", "async", "asynchronous copies"},
    {"cp", "reduce async bulk", tma},
    {"createpolicy", "", "cache policies"},
    {"cvt", "pack", "packing conversions"},
    {"getctarank", "", clusters},
    {"istypep", "", images},
    {"ldmatrix", "b8", matrices},
    {"mapa", "", clusters},
    {"mbarrier", "", "barriers in memory"},
    {"mma", "e4m3", small_floats},
    {"mma", "e5m2", small_floats},
    {"mma", "kind::f8f6f4", small_floats},
    {"mma", "kind::mxf8f6f4", small_floats},
    {"mma", "kind::mxf4", small_floats},
    {"mma", "kind::mxf4nvf4", small_floats},
    {"mma", "m8n8k4 f16", "the matrix instruction of compute capability 7.0"},
    {"mma", "sp", "sparse matrix instructions"},
    {"multimem", "", fabric},
    {"pmevent", "", "performance monitor events"},
    {"red", "async", clusters},
    {"setmaxnreg", "", "warp groups"},
    {"st", "async", clusters},
    {"st", "bulk", tma},
    {"stackrestore", "", stack},
    {"stacksave", "", stack},
    {"stmatrix", "b8", matrices},
    {"suld", "", images},
    {"suq", "", images},
    {"sured", "", images},
    {"sust", "", images},
    {"tcgen05", "", "tensor memory of compute capability 10.0 (architecture-specific code)"},
    {"tensormap", "", tma},
    {"tex", "", images},
    {"tld4", "", images},
    {"txq", "", images},
    {"vabsdiff", "", video},
    {"vabsdiff2", "", video},
    {"vabsdiff4", "", video},
    {"vadd", "", video},
    {"vadd2", "", video},
    {"vadd4", "", video},
    {"vavrg2", "", video},
    {"vavrg4", "", video},
    {"vmad", "", video},
    {"vmax", "", video},
    {"vmax2", "", video},
    {"vmax4", "", video},
    {"vmin", "", video},
    {"vmin2", "", video},
    {"vmin4", "", video},
    {"vset", "", video},
    {"vset2", "", video},
    {"vset4", "", video},
    {"vshl", "", video},
    {"vshr", "", video},
    {"vsub", "", video},
    {"vsub2", "", video},
    {"vsub4", "", video},
    {"wgmma", "", "matrix instructions of warp groups (architecture-specific code for sm_90a)"},
};

template <class F>
void for_each_word(std::string_view list, F&& f) {
    while (!list.empty()) {
        const auto end = list.find(' ');
        f(list.substr(0, end));
        list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
    }
}

bool all_in(std::string_view list, const std::vector<std::string>& modifiers) {
    bool all = true;
    for_each_word(list, [&](std::string_view word) {
        all &= std::find(modifiers.begin(), modifiers.end(), word) != modifiers.end();
    });
    return all;
}

// Does some row run (a part of) what the entry refuses?
bool has_row(const RefusedOpcode& entry) {
    for (const OpcodeFamily& family : opcode_families())
        for (const OpcodeRow& row : family.rows) {
            if (row.mnemonic != entry.mnemonic) continue;
            std::vector<std::string> required;
            for_each_word(row.required, [&](std::string_view word) { required.emplace_back(word); });
            if (all_in(entry.required, required)) return true;
        }
    return false;
}

}  // namespace

std::vector<RefusedOpcode> refused_opcodes() {
    std::vector<RefusedOpcode> result;
    for (const RefusedOpcode& entry : refused)
        if (!has_row(entry)) result.push_back(entry);
    return result;
}

std::string explain_refusal(const ptx::Instruction& in, const std::string& text) {
    static const auto all = refused_opcodes();
    const RefusedOpcode* reason = nullptr;
    for (const RefusedOpcode& entry : all)
        if (entry.mnemonic == in.opcode && all_in(entry.required, in.modifiers) &&
            (!reason || entry.required.size() > reason->required.size()))
            reason = &entry;
    const std::string message = fmt::format("'{}' is not supported by the virtual GPU", text);
    return reason ? fmt::format("{}: {}", message, reason->reason) : message;
}

}  // namespace warpgrade::vgpu
