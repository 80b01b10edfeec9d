// What the checks find while one host thread executes blocks of a launch. Each kind of mistake is kept once for each
// pair of instructions: the first case in block order, and the number of cases.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/diagnostic.hpp"

namespace warpgrade::vgpu {

class Findings {
  public:
    static constexpr std::uint32_t no_insn = ~0u;
    static constexpr std::size_t max_findings = 64;  // of one launch; later ones are left out
    static constexpr std::size_t max_noted = 1024;   // by one host thread

    // Counts one more case of `rule` at the instruction `insn` (and `other`), in block number `block`. Returns the
    // diagnostic to fill in if it is the first case, else nullptr.
    device::Diagnostic* add(const device::Rule& rule, std::uint64_t block, std::uint32_t insn,
                            std::uint32_t other = no_insn);
    [[nodiscard]] bool empty() const { return entries_.empty(); }

    // The findings of all host threads in block order, however the blocks were distributed.
    static std::vector<device::Diagnostic> merge(std::span<Findings* const> parts);

  private:
    struct Entry {
        const device::Rule* rule;
        std::uint32_t insn, other;
        std::uint64_t block;  // of the first case
        device::Diagnostic diagnostic;
        [[nodiscard]] bool same(const Entry& e) const { return rule == e.rule && insn == e.insn && other == e.other; }
    };
    std::vector<Entry> entries_;
};

// Leaves out findings that another finding of the same launch covers.
void tidy(std::vector<device::Diagnostic>& diagnostics);

}  // namespace warpgrade::vgpu
