// Which registers the values of others go into: through instructions, and through branches that decide what is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "vgpu/code/function_view.hpp"

namespace warpgrade::vgpu {

class ValueFlow {
  public:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    void add_instructions(const FunctionView& view);
    // A branch decides what is written before its sides meet again, but not what is the same constant on all ways.
    void add_branches(const Code& code, const FunctionView& view);

    // Hostile code: too many blocks or ways to analyse. Then not all that was added is there.
    [[nodiscard]] bool is_too_large() const { return edges_ > max_edges || blocks_ > max_blocks; }

    // The registers to which values of these go, without passing through a register on a cycle.
    [[nodiscard]] std::vector<bool> behind(std::vector<std::uint32_t> open,
                                           const std::vector<std::uint32_t>& cycles = {}) const;

    // By register: the number of the cycle on which it lies, `none` if on none.
    [[nodiscard]] std::vector<std::uint32_t> cycles() const;

  private:
    static constexpr std::size_t max_edges = std::size_t{1} << 20;
    static constexpr std::uint32_t max_blocks = 2048;
    void add(std::uint32_t from, std::uint32_t to);

    std::vector<std::vector<std::uint32_t>> next_;
    std::size_t edges_ = 0;
    std::uint32_t blocks_ = 0;
};

}  // namespace warpgrade::vgpu
