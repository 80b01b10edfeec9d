// The judge's source of random numbers: ChaCha with 12 rounds (D. J. Bernstein, 2008). A submission sees the numbers of
// earlier calls; from those of this generator it cannot work out the next ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace warpgrade::judge {

class RandomStream {
  public:
    static constexpr std::size_t blocks = 16;  // of ChaCha's, made at a time

    // One stream for each test: the same seed and name always give the same numbers.
    RandomStream(std::uint64_t seed, std::string_view name);

    std::uint64_t next() {
        if (used_ == numbers_.size()) refill();
        return numbers_[used_++];
    }
    void fill(std::span<std::byte> bytes);
    // In [0, bound), every value equally likely; bound 0 means 2^64.
    std::uint64_t below(std::uint64_t bound) {
        if (bound == 0) return next();
        for (;;) {
            // Values below 2^64 mod bound, which is less than bound, come once too often.
            const auto value = next();
            if (value >= bound || value >= (0 - bound) % bound) return value % bound;
        }
    }
    // In [0, 1), with 24 bits: every value is a float.
    double unit24() { return static_cast<double>(next() >> 40) * 0x1p-24; }
    double unit53() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  private:
    void refill();
    std::array<std::uint32_t, 16> state_{};
    std::array<std::uint64_t, 8 * blocks> numbers_{};
    std::size_t used_ = 8 * blocks;
};

// From the system's entropy.
std::uint64_t random_seed();

}  // namespace warpgrade::judge
