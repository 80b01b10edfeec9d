// A learned shape must recognise the same addresses again, wherever the operand with the addresses lies.
#include "vgpu/access/site_match.hpp"

#include <algorithm>
#include <array>

#include "judge/catch.hpp"

using namespace warpgrade::vgpu;

namespace {

// The addresses of the lanes, side by side, and the shape of those that are on.
template <class Register>
struct Learned {
    explicit Learned(std::uint32_t mask) {
        for (unsigned l = 0; l < warp_size; ++l) lanes[l] = static_cast<Register>(4096 + 4 * l);
        Access access;
        access.collect(lanes.data(), 0, mask, 4);
        pattern.learn(access, 4);
    }
    alignas(64) std::array<Register, warp_size> lanes{};
    Pattern pattern;
};

// `offset` words after an aligned place: constants are only aligned to their type.
template <class Register>
void check_at(unsigned offset) {
    const Learned<Register> learned(full_mask);
    alignas(64) std::array<Register, warp_size + 8> storage{};
    Register* operand = storage.data() + offset;
    std::copy(learned.lanes.begin(), learned.lanes.end(), operand);
    CHECK(learned.pattern.matches(operand));
    operand[31] += 4;
    CHECK_FALSE(learned.pattern.matches(operand));
}

template <class Register>
void check_each_lane(std::uint32_t mask) {
    const Learned<Register> learned(mask);
    CHECK(learned.pattern.matches(learned.lanes.data()));
    for (unsigned l = 0; l < warp_size; ++l) {
        auto other = learned.lanes;
        other[l] += 8;
        CAPTURE(l);
        // A lane that is off may hold anything.
        CHECK(learned.pattern.matches(other.data()) == !lane_on(mask, l));
    }
}

}  // namespace

TEST_CASE("a shape is compared with operands that are not aligned") {
    for (unsigned offset = 0; offset < 8; ++offset) {
        check_at<std::uint64_t>(offset);
        check_at<std::uint32_t>(offset);
    }
}

TEST_CASE("of a shape each lane that is on is compared, and no other") {
    for (const std::uint32_t mask : {full_mask, full_mask ^ 1, 0x0000'ffffu, 0x1111'1111u, 0x8421'8421u}) {
        CAPTURE(mask);
        check_each_lane<std::uint64_t>(mask);
        check_each_lane<std::uint32_t>(mask);
    }
}
