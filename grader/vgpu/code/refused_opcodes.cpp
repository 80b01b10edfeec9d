// PTX that the virtual GPU does not run, and why. An entry whose form gets a row of its own is passed over, so that
// nothing here outlives the day on which it is no longer true.
#include <fmt/format.h>

#include <algorithm>

#include "vgpu/code/opcodes.hpp"

namespace warpgrade::vgpu {
namespace {

constexpr const char *clusters = "thread block clusters", *tma = "the tensor memory accelerator",
                     *images = "textures and surfaces", *matrices = "matrices of 8-bit elements",
                     *small_floats = "matrices of floats smaller than 16 bits",
                     *video = "video instructions, which nvcc never generates from CUDA C++",
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
    {"mbarrier", "", "barriers in memory (mbarrier)"},
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

// All instructions of PTX ISA 9.0, whether they have a row or not.
constexpr std::string_view mnemonics[] = {
    "abs",          "activemask",    "add",       "addc",       "alloca",
    "and",          "applypriority", "atom",      "bar",        "barrier",
    "bfe",          "bfi",           "bfind",     "bmsk",       "bra",
    "brev",         "brkpt",         "brx",       "call",       "clusterlaunchcontrol",
    "clz",          "cnot",          "copysign",  "cos",        "cp",
    "createpolicy", "cvt",           "cvta",      "discard",    "div",
    "dp2a",         "dp4a",          "elect",     "ex2",        "exit",
    "fence",        "fma",           "fns",       "getctarank", "griddepcontrol",
    "isspacep",     "istypep",       "ld",        "ldmatrix",   "ldu",
    "lg2",          "lop3",          "mad",       "mad24",      "madc",
    "mapa",         "match",         "max",       "mbarrier",   "membar",
    "min",          "mma",           "mov",       "movmatrix",  "mul",
    "mul24",        "multimem",      "nanosleep", "neg",        "not",
    "or",           "pmevent",       "popc",      "prefetch",   "prefetchu",
    "prmt",         "rcp",           "red",       "redux",      "rem",
    "ret",          "rsqrt",         "sad",       "selp",       "set",
    "setmaxnreg",   "setp",          "shf",       "shfl",       "shl",
    "shr",          "sin",           "slct",      "sqrt",       "st",
    "stackrestore", "stacksave",     "stmatrix",  "sub",        "subc",
    "suld",         "suq",           "sured",     "sust",       "szext",
    "tanh",         "tcgen05",       "tensormap", "testp",      "tex",
    "tld4",         "trap",          "txq",       "vabsdiff",   "vabsdiff2",
    "vabsdiff4",    "vadd",          "vadd2",     "vadd4",      "vavrg2",
    "vavrg4",       "vmad",          "vmax",      "vmax2",      "vmax4",
    "vmin",         "vmin2",         "vmin4",     "vote",       "vset",
    "vset2",        "vset4",         "vshl",      "vshr",       "vsub",
    "vsub2",        "vsub4",         "wgmma",     "wmma",       "xor",
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

bool is_mnemonic(std::string_view opcode) {
    return std::find(std::begin(mnemonics), std::end(mnemonics), opcode) != std::end(mnemonics);
}

ptx::PtxError refusal_of(const ptx::Instruction& in, const std::string& text) {
    using Kind = ptx::PtxError::Kind;
    if (!is_mnemonic(in.opcode))
        return {in.ptx_line, fmt::format("'{}': PTX has no instruction '{}'", text, in.opcode), Kind::invalid};
    static const auto all = refused_opcodes();
    const RefusedOpcode* reason = nullptr;
    for (const RefusedOpcode& entry : all)
        if (entry.mnemonic == in.opcode && all_in(entry.required, in.modifiers) &&
            (!reason || entry.required.size() > reason->required.size()))
            reason = &entry;
    const std::string message = fmt::format("'{}' is not supported by the virtual GPU", text);
    return {in.ptx_line, reason ? fmt::format("{}: {}", message, reason->reason) : message, Kind::unsupported};
}

}  // namespace warpgrade::vgpu
