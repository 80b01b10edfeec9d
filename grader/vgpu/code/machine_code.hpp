// What ptxas changes when it makes machine code of PTX, as far as times depend on it: short branches become predicates,
// and neighbouring words of shared memory are loaded at once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/code/function_view.hpp"

namespace warpgrade::vgpu {

// Marks those branches of a function that skip so little that ptxas executes it under a predicate, and which blocks
// become one by that: a stretch.
void find_predicated_branches(Code& code, const FunctionView& view);

// True if it has this opcode, and accesses global memory.
bool is_global(const ptx::Instruction& in, std::string_view opcode);

// ptxas moves an instruction past others, but not far: of a few bodies of a loop that do not wait for each other it
// mixes one or two (counted in machine code of sums of forces).
inline constexpr std::uint32_t moved_past_at_most = 24;

// Exact quotients and roots of floating-point numbers go another way for few of them. Nothing moves past that branch.
bool has_slow_path(const ptx::Instruction& in);

// The stores before which a load does not move, since they may store what it loads. ptxas knows that they do not if
// both have the same register or variable and different offsets.
class StoresBefore {
  public:
    // `value`: of any kind that grows, such as the time of the store.
    void add(const ptx::Instruction& store, std::uint64_t value);
    // The largest value of the stores that such a load stays behind; 0 if there are none.
    [[nodiscard]] std::uint64_t of(const ptx::Instruction& load) const;

  private:
    struct Place {
        bool shared = false;
        std::uint32_t reg = 0;
        std::string symbol;
        auto operator<=>(const Place&) const = default;
    };
    struct Stores {
        std::uint64_t most = 0;
        std::map<std::int64_t, std::uint64_t> by_offset;
    };
    static Place place_of(const ptx::Operand& address, const ptx::Instruction& in);
    std::map<Place, Stores> stores_;
    std::uint64_t most_ = 0;
};
// What nothing changes while a kernel runs (.nc) is loaded before any store.
bool loads_constant(const ptx::Instruction& in);

// The loads of shared memory that ptxas merges, in the order of their instructions. Uses the marks.
std::vector<MergedLoad> find_merged_loads(const Code& code, const FunctionView& view);

// The stores of global memory that come right behind another one to the same sectors, in the order of their
// instructions: L1 may still have that one and send both at once. Uses the marks.
std::vector<std::uint32_t> find_following_stores(const Code& code, const FunctionView& view);

}  // namespace warpgrade::vgpu
