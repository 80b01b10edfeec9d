#include "judge/random.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace warpgrade::judge {
namespace {

// FNV-1a; tells the names of a lab's tests apart, nothing more.
std::uint64_t hash(std::string_view text) {
    std::uint64_t value = 0xcbf29ce484222325;
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return value;
}

// The same word of several blocks, which are worked on side by side (a vector of GCC's and clang's).
constexpr std::size_t lanes = RandomStream::blocks;
using Word = std::uint32_t __attribute__((vector_size(lanes * sizeof(std::uint32_t))));

template <int Bits>
Word rotated(Word word) {
    return word << Bits | word >> (32 - Bits);
}

void quarter_round(Word& a, Word& b, Word& c, Word& d) {
    a += b, d = rotated<16>(d ^ a);
    c += d, b = rotated<12>(b ^ c);
    a += b, d = rotated<8>(d ^ a);
    c += d, b = rotated<7>(b ^ c);
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) {
    const std::uint64_t words[] = {seed, hash(name), ~seed, std::uint64_t{name.size()}};
    state_ = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    std::memcpy(&state_[4], words, sizeof words);
}

void RandomStream::refill() {
    Word begin[16], x[16];
    for (int i = 0; i < 16; ++i) begin[i] = Word{} + state_[i];
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        begin[12][lane] = state_[12];
        begin[13][lane] = state_[13];
        if (++state_[12] == 0) ++state_[13];
    }
    std::copy(begin, begin + 16, x);
    for (int round = 0; round < 6; ++round) {
        for (int i = 0; i < 4; ++i) quarter_round(x[i], x[4 + i], x[8 + i], x[12 + i]);
        for (int i = 0; i < 4; ++i) quarter_round(x[i], x[4 + (i + 1) % 4], x[8 + (i + 2) % 4], x[12 + (i + 3) % 4]);
    }
    for (int i = 0; i < 16; ++i) x[i] += begin[i];
    for (std::size_t lane = 0; lane < lanes; ++lane)
        for (std::size_t i = 0; i < 8; ++i)
            numbers_[8 * lane + i] = x[2 * i][lane] | std::uint64_t{x[2 * i + 1][lane]} << 32;
    used_ = 0;
}

std::uint64_t RandomStream::next() {
    if (used_ == numbers_.size()) refill();
    return numbers_[used_++];
}

void RandomStream::fill(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
        const auto word = next();
        const auto count = std::min(bytes.size(), sizeof word);
        std::memcpy(bytes.data(), &word, count);
        bytes = bytes.subspan(count);
    }
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
    if (bound == 0) return next();
    for (;;) {
        // Values below 2^64 mod bound, which is less than bound, come once too often.
        const auto value = next();
        if (value >= bound || value >= (0 - bound) % bound) return value % bound;
    }
}

std::uint64_t random_seed() {
    std::uint64_t seed;
    if (getentropy(&seed, sizeof seed) != 0) throw std::system_error(errno, std::generic_category(), "getentropy");
    return seed & 0x001f'ffff'ffff'ffff;  // JSON readers hold whole numbers up to 2^53 exactly
}

}  // namespace warpgrade::judge
