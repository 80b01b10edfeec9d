// A learned shape must recognise the same addresses again, wherever the operand with the addresses lies.
#include "vgpu/access/site_match.hpp"

#include <algorithm>
#include <array>

#include "judge/catch.hpp"

using namespace warpgrade::vgpu;

namespace {

// The lanes' addresses, `offset` words after an aligned place: constants are only aligned to their type.
template <class Register>
void check_at(unsigned offset) {
    alignas(64) std::array<Register, warp_size> lanes{};
    for (unsigned l = 0; l < warp_size; ++l) lanes[l] = static_cast<Register>(4096 + 4 * l);
    Access access;
    access.collect(lanes.data(), 0, full_mask, 4);
    Pattern pattern;
    pattern.learn(access, 4);
    alignas(64) std::array<Register, warp_size + 8> storage{};
    Register* operand = storage.data() + offset;
    std::copy(lanes.begin(), lanes.end(), operand);
    CHECK(pattern.matches(operand));
    operand[31] += 4;
    CHECK_FALSE(pattern.matches(operand));
}

}  // namespace

TEST_CASE("a shape is compared with operands that are not aligned") {
    for (unsigned offset = 0; offset < 8; ++offset) {
        check_at<std::uint64_t>(offset);
        check_at<std::uint32_t>(offset);
    }
}
