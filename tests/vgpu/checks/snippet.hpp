// Kernels of a few lines of PTX, and what the checks find in them. Each line of a snippet is a source line, beginning
// with line 1.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "vgpu/machine.hpp"

namespace warpgrade::vgpu::test {

// A finding in short: rule, lines of both parties (0: none), x of the thread, count.
struct Found {
    std::string rule;
    std::uint32_t line = 0, other = 0, thread = 0;
    std::uint64_t count = 1;
    bool operator==(const Found&) const = default;
};

inline std::ostream& operator<<(std::ostream& to, const Found& f) {
    return to << f.rule << " at " << f.line << " and " << f.other << ", thread " << f.thread << ", " << f.count
              << " times";
}

inline std::vector<Found> in_short(const std::vector<device::Diagnostic>& diagnostics) {
    std::vector<Found> found;
    for (const device::Diagnostic& d : diagnostics)
        if (d.rule->severity != device::Severity::Advice)
            found.push_back({d.rule->id, d.place.line, d.related.empty() ? 0 : d.related[0].place.line,
                             d.thread ? d.thread->thread[0] : 0, d.count});
    return found;
}

// A module with a kernel k(a, b) of two pointers, which are in %a and %b. %t is the thread's number in the block and %i
// four times that; %pa and %pb point to the thread's words in a and b. `first` and `second` are arrays in shared
// memory, `own` is a local array. `functions` is PTX before the kernel.
inline std::string snippet(const std::string& lines, const std::string& functions = "") {
    std::string text = ".version 8.6\n.target sm_90\n.address_size 64\n" + functions +
                       ".visible .entry k(.param .u64 a, .param .u64 b) {\n"
                       ".reg .b16 %h<9>;\n.reg .b32 %r<19>, %t, %i;\n.reg .b64 %l<9>, %a, %b, %o, %pa, %pb;\n"
                       ".reg .f32 %f<9>;\n.reg .pred %p<9>;\n.shared .align 16 .b8 first[256], second[256];\n"
                       ".local .align 8 .b8 own[128];\n"
                       "ld.param.u64 %a, [a];\nld.param.u64 %b, [b];\nmov.u32 %t, %tid.x;\nshl.b32 %i, %t, 2;\n"
                       "cvt.u64.u32 %o, %i;\nadd.s64 %pa, %a, %o;\nadd.s64 %pb, %b, %o;\n";
    std::size_t at = 0;
    for (int number = 1; at < lines.size(); ++number) {
        const std::size_t end = std::min(lines.find('\n', at), lines.size());
        text += ".loc 1 " + std::to_string(number) + " 0\n" + lines.substr(at, end - at) + "\n";
        at = end + 1;
    }
    return text + "ret;\n}\n.file 1 \"k.cu\"\n";
}

// Runs k on two arrays of `words` words each. The first `defined` words of a hold their own indices, the rest of it is
// uninitialized; b holds zeros.
class Snippet {
  public:
    explicit Snippet(const std::string& lines, const std::string& functions = "", std::size_t defined = 0,
                     const device::Checks& checks = {})
        : machine(1, snippet(lines, functions), 100'000, "h100", checks),
          a{machine.gpu->allocate(words * 4, "cudaMalloc"), words},
          b(machine.upload(std::vector<std::uint32_t>(words))) {
        std::vector<std::uint32_t> numbers(defined);
        for (std::uint32_t n = 0; n < defined; ++n) numbers[n] = n;
        if (defined) machine.gpu->write(a.address, std::as_bytes(std::span(numbers)));
    }

    std::vector<device::Diagnostic> diagnose(device::Dim3 grid = {1}, device::Dim3 block = {32}) {
        return machine.diagnose("k", grid, block, a, b);
    }
    std::vector<Found> run(device::Dim3 grid = {1}, device::Dim3 block = {32}) {
        return in_short(diagnose(grid, block));
    }
    std::vector<std::uint32_t> result() { return machine.download(b); }

    static constexpr std::size_t words = 256;
    Machine machine;
    Buffer<std::uint32_t> a, b;
};

}  // namespace warpgrade::vgpu::test
