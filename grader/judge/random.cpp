#include "judge/random.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace warpgrade::judge {
namespace {

// FNV-1a; it need only tell the names of a lab's tests apart.
std::uint64_t hash(std::string_view text) {
    std::uint64_t value = 0xcbf29ce484222325;
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return value;
}

// The same word of several blocks, which are computed in parallel (a vector extension of GCC and clang).
constexpr std::size_t lanes = RandomStream::blocks;
using Word = std::uint32_t __attribute__((vector_size(lanes * sizeof(std::uint32_t))));

// Computes the next blocks, word by word, and advances the state's counter. It is compiled for several kinds of
// processor, with the same results.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void chacha(std::array<std::uint32_t, 16>& state, std::uint32_t (&words)[16][lanes]) {
    Word begin[16], x[16];
    for (int i = 0; i < 16; ++i) x[i] = begin[i] = Word{} + state[i];
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        begin[12][lane] = state[12];
        begin[13][lane] = state[13];
        if (++state[12] == 0) ++state[13];
    }
    x[12] = begin[12], x[13] = begin[13];
    // A lambda, so that it is compiled for the same processor.
    const auto turn = [](Word & word, Word other, int bits) __attribute__((always_inline)) {
        word ^= other;
        word = word << bits | word >> (32 - bits);
    };
    for (int round = 0; round < 12; ++round) {
        const int shift = round % 2;  // columns, then diagonals
        for (int i = 0; i < 4; ++i) {
            Word &a = x[i], &b = x[4 + (i + shift) % 4], &c = x[8 + (i + 2 * shift) % 4],
                 &d = x[12 + (i + 3 * shift) % 4];
            a += b, turn(d, a, 16);
            c += d, turn(b, c, 12);
            a += b, turn(d, a, 8);
            c += d, turn(b, c, 7);
        }
    }
    for (int i = 0; i < 16; ++i) {
        x[i] += begin[i];
        std::memcpy(words[i], &x[i], sizeof x[i]);
    }
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) {
    const std::uint64_t words[] = {seed, hash(name), ~seed, std::uint64_t{name.size()}};
    state_ = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    std::memcpy(&state_[4], words, sizeof words);
}

void RandomStream::refill() {
    std::uint32_t words[16][lanes];
    chacha(state_, words);
    for (std::size_t lane = 0; lane < lanes; ++lane)
        for (std::size_t i = 0; i < std::size(words) / 2; ++i)
            numbers_[8 * lane + i] = words[2 * i][lane] | std::uint64_t{words[2 * i + 1][lane]} << 32;
    used_ = 0;
}

void RandomStream::fill(std::span<std::byte> bytes) {
    std::byte* to = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= sizeof(std::uint64_t); left -= sizeof(std::uint64_t), to += sizeof(std::uint64_t)) {
        const auto word = next();
        std::memcpy(to, &word, sizeof word);
    }
    if (left == 0) return;
    const auto word = next();
    std::memcpy(to, &word, left);
}

std::uint64_t random_seed() {
    std::uint64_t seed;
    if (getentropy(&seed, sizeof seed) != 0) throw std::system_error(errno, std::generic_category(), "getentropy");
    return seed & 0x001f'ffff'ffff'ffff;  // JSON readers hold whole numbers up to 2^53 exactly
}

}  // namespace warpgrade::judge
