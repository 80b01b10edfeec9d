#include "judge/random.hpp"

#include <unistd.h>

#include <bit>
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

void quarter_round(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c, std::uint32_t& d) {
    a += b, d = std::rotl(d ^ a, 16);
    c += d, b = std::rotl(b ^ c, 12);
    a += b, d = std::rotl(d ^ a, 8);
    c += d, b = std::rotl(b ^ c, 7);
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) {
    const std::uint64_t words[] = {seed, hash(name), ~seed, std::uint64_t{name.size()}};
    state_ = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    std::memcpy(&state_[4], words, sizeof words);
}

void RandomStream::refill() {
    auto x = state_;
    for (int round = 0; round < 6; ++round) {
        for (int i = 0; i < 4; ++i) quarter_round(x[i], x[4 + i], x[8 + i], x[12 + i]);
        for (int i = 0; i < 4; ++i) quarter_round(x[i], x[4 + (i + 1) % 4], x[8 + (i + 2) % 4], x[12 + (i + 3) % 4]);
    }
    for (int i = 0; i < 16; ++i) x[i] += state_[i];
    for (int i = 0; i < 8; ++i) block_[i] = x[2 * i] | std::uint64_t{x[2 * i + 1]} << 32;
    if (++state_[12] == 0) ++state_[13];
    used_ = 0;
}

std::uint64_t RandomStream::next() {
    if (used_ == block_.size()) refill();
    return block_[used_++];
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
    const std::uint64_t uneven = (0 - bound) % bound;  // 2^64 mod bound: the values below it come once too often
    for (;;)
        if (const auto value = next(); value >= uneven) return value % bound;
}

std::uint64_t random_seed() {
    std::uint64_t seed;
    if (getentropy(&seed, sizeof seed) != 0) throw std::system_error(errno, std::generic_category(), "getentropy");
    return seed & 0x001f'ffff'ffff'ffff;  // JSON readers hold whole numbers up to 2^53 exactly
}

}  // namespace warpgrade::judge
