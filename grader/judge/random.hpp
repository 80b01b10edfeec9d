// The judge's random numbers: ChaCha with 12 rounds (D. J. Bernstein, 2008). A submission sees the numbers of earlier
// calls, but cannot compute the next ones from them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace warpgrade::judge {

// A divisor for many remainders, which it computes without divisions.
class Bound {
  public:
    explicit Bound(std::uint64_t value) : value_(value), inverse_(value ? ~std::uint64_t{0} / value : 0) {}
    [[nodiscard]] std::uint64_t value() const { return value_; }
    [[nodiscard]] std::uint64_t surplus() const { return (0 - value_) % value_; }
    // x mod value; x itself where that is 0.
    [[nodiscard]] std::uint64_t remainder(std::uint64_t x) const {
        // The quotient may be one too small.
        const auto quotient = static_cast<std::uint64_t>(static_cast<unsigned __int128>(x) * inverse_ >> 64);
        const std::uint64_t rest = x - quotient * value_;
        return value_ != 0 && rest >= value_ ? rest - value_ : rest;
    }

  private:
    std::uint64_t value_, inverse_;
};

class RandomStream {
  public:
    static constexpr std::size_t blocks = 16;  // of ChaCha, computed at a time

    // One stream for each test: the same seed and name always give the same numbers.
    RandomStream(std::uint64_t seed, std::string_view name);

    std::uint64_t next() {
        if (used_ == numbers_.size()) refill();
        return numbers_[used_++];
    }
    void fill(std::span<std::byte> bytes);
    // In [0, bound), every value equally likely; bound 0 means 2^64.
    std::uint64_t below(std::uint64_t bound) { return below(Bound(bound)); }
    std::uint64_t below(const Bound& bound) {
        for (;;) {
            // Rejects values below 2^64 mod bound, whose remainders would come once too often.
            const auto value = next();
            if (bound.value() == 0 || value >= bound.value() || value >= bound.surplus()) return bound.remainder(value);
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
