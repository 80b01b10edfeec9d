#include <bit>
#include <cmath>

#include "forms.hpp"

namespace exact {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

class Random {  // splitmix64
  public:
    explicit Random(u64 seed) : state_(seed) {}
    u64 operator()() {
        u64 z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

  private:
    u64 state_;
};

const std::vector<u64> words = {
    0,          1,          2,          3,          7,          8,          16,         24,         31,
    32,         33,         63,         64,         127,        128,        255,        256,        0x7fff,
    0x8000,     0xffff,     0x10000,    0x7fffff,   0x800000,   0xffffff,   0x1000000,  0x55555555, 0xaaaaaaaa,
    0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffff0, 0xfffffffe, 0xffffffff, 0x80808080, 0x01fe7f80};
const std::vector<u64> longs = {0,
                                1,
                                2,
                                3,
                                31,
                                32,
                                63,
                                64,
                                65,
                                255,
                                0x7fff,
                                0x8000,
                                0xffffffff,
                                0x7fffffff,
                                0x80000000,
                                0x100000000,
                                0x1000001,
                                0x3ffffff,
                                0x20000000000001,
                                0x20000000000003,
                                0x3fffffffffffff,
                                0x7fffff4000000000,
                                0x7fffffbfffffffff,
                                0x7ffffffffffffc00,
                                0x7ffffffffffffe00,
                                0x7fffffffffffffff,
                                0x8000000000000000,
                                0x8000000000000001,
                                0xffffff7fffffffff,
                                0xfffffffffffff400,
                                0xfffffffffffffc00,
                                0xffffffff00000000,
                                0xfffffffffffffffe,
                                0xffffffffffffffff,
                                0x5555555555555555,
                                0xaaaaaaaaaaaaaaaa};
const std::vector<u64> shorts = {0,   1,   2,      7,      15,     16,     17,     127,    128,
                                 255, 256, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xff80, 0xffff, 0x5555};
const std::vector<u64> counts = {0,  1,  2,  3,  4,  7,  8,   15,  16,  23,  24,  30,         31,         32,
                                 33, 47, 62, 63, 64, 65, 127, 128, 255, 256, 257, 0x7fffffff, 0x80000000, 0xffffffff};
// Zeros, subnormals, neighbours of one, limits, infinities, quiet and signalling NaNs with payloads, halfway cases of
// conversions, and the powers of two at which integer types end.
const std::vector<u64> floats = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00400000, 0x00800000,
    0x80800000, 0x00800001, 0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x40000000, 0xc0000000,
    0x3f000000, 0xbf000000, 0x3effffff, 0x3f000001, 0x3fc00000, 0xbfc00000, 0x40200000, 0x40400000,
    0x33800000, 0x33800001, 0xb3800000, 0x4b000001, 0x4b7fffff, 0x4effffff, 0x4f000000, 0xcf000000,
    0xcf000001, 0x4f7fffff, 0x4f800000, 0x5effffff, 0x5f000000, 0xdf000000, 0x5f7fffff, 0x5f800000,
    0x477fefff, 0x477ff000, 0x33000000, 0x33000001, 0x387fe000, 0x7f7fffff, 0xff7fffff, 0x7f000000,
    0x7e800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0xff812345, 0x7fffffff,
    0x1e3ce508, 0x5f3759df, 0x42ff0000, 0x437f8000, 0x47000000, 0x46fffe00, 0xc7000100, 0x3f808000};
const std::vector<u64> doubles = {
    0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff,
    0x800fffffffffffff, 0x0010000000000000, 0x8010000000000000, 0x0010000000000001, 0x3ff0000000000000,
    0xbff0000000000000, 0x3ff0000000000001, 0x3fefffffffffffff, 0x4000000000000000, 0x3fe0000000000000,
    0xbfe0000000000000, 0x3fdfffffffffffff, 0x3ff8000000000000, 0x4004000000000000, 0x4008000000000000,
    0x3ca0000000000000, 0x3ca0000000000001, 0x4340000000000001, 0x41dfffffffc00000, 0x41e0000000000000,
    0xc1e0000000000000, 0xc1e0000000200000, 0x41efffffffe00000, 0x41f0000000000000, 0x43dfffffffffffff,
    0x43e0000000000000, 0xc3e0000000000000, 0x43efffffffffffff, 0x43f0000000000000, 0x47efffffefffffff,
    0x47effffff0000000, 0x36a0000000000000, 0x3690000000000001, 0x380fffffe0000000, 0x3ff0000010000000,
    0x3ff0000030000000, 0x3ff0020000000000, 0x3ff0020000000001, 0x40effe0000000000, 0x3e70000000000000,
    0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
    0xfff8000000000001, 0x7ff0000000000001, 0xfff0000020000000, 0x7fffffffffffffff, 0x7fe0000000000000,
    0x1ff0000000000000, 0x5fe6eb50c7b537a9};
const std::vector<u64> halves = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x0401,
                                 0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x4000, 0xc000, 0x3800, 0xb800, 0x37ff,
                                 0x3e00, 0x4100, 0x1000, 0x1001, 0x6400, 0x6401, 0x7800, 0x7bff, 0xfbff,
                                 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x7fff};
const std::vector<u64> bfloats = {0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x807f, 0x0080, 0x8080, 0x0081,
                                  0x3f80, 0xbf80, 0x3f81, 0x3f7f, 0x4000, 0xc000, 0x3f00, 0xbf00, 0x3eff,
                                  0x3fc0, 0x4020, 0x3b80, 0x3b81, 0x4300, 0x4f00, 0x7f00, 0x7f7f, 0xff7f,
                                  0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 0x7fff};

const std::vector<u64>& specials(char c) {
    switch (c) {
        case 'l':
            return longs;
        case 'h':
            return shorts;
        case 'n':
            return counts;
        case 'f':
            return floats;
        case 'd':
            return doubles;
        case 'x':
        case 'X':
            return halves;
        case 'y':
        case 'Y':
            return bfloats;
        default:
            return words;
    }
}

// Raw bits, ordinary numbers, very small ones, and small integers and their halves.
u64 random_float(Random& random, u64 kind) {
    const u64 r = random();
    const auto raw = static_cast<u32>(r);
    switch (kind % 4) {
        case 0:
            return raw;
        case 1:
            return (raw & 0x807fffff) | ((115 + (r >> 32) % 24) << 23);
        case 2:
            return (raw & 0x807fffff) | (((r >> 32) % 30) << 23);
        default:
            return std::bit_cast<u32>(static_cast<float>(static_cast<std::int32_t>(raw % 8191) - 4095) / 4);
    }
}

u64 random_double(Random& random, u64 kind) {
    const u64 r = random(), e = random();
    switch (kind % 4) {
        case 0:
            return r;
        case 1:
            return (r & 0x800fffffffffffff) | ((1010 + e % 26) << 52);
        case 2:
            return (r & 0x800fffffffffffff) | ((e % 60) << 52);
        default:
            return std::bit_cast<u64>(static_cast<double>(static_cast<std::int64_t>(r % 131071) - 65535) / 4);
    }
}

u64 random_operand(char c, Random& random, u64 kind) {
    switch (c) {
        case 'f':
            return random_float(random, kind);
        case 'd':
            return random_double(random, kind);
        case 'l':
            return random() >> (kind % 3 == 0 ? random() % 64 : 0);
        case 'n':
            return random() % (kind % 2 ? 64 : 300);
        case 'w':
            return static_cast<u32>(random()) >> (kind % 3 == 0 ? random() % 32 : 0);
        case 'X':
        case 'Y':
            return static_cast<u32>(random());
        default:
            return static_cast<u16>(random());
    }
}

u64 special(char c, std::size_t index) {
    const auto& list = specials(c);
    const u64 v = list[index % list.size()];
    return c == 'X' || c == 'Y' ? v | (list[(index * 7 + 5) % list.size()] << 16) : v;
}

// Operands that cancel or give halfway cases: b is a's neighbour with the opposite sign, c is minus a·b or near it.
void relate(const std::string& s, std::vector<u64>& v, u64 kind) {
    if (s.size() < 2 || s[0] != s[1]) return;
    const u64 nudge = kind % 3 - 1;
    if (s[0] == 'f') {
        if (s.size() == 2) v[1] = static_cast<u32>((v[0] ^ 0x80000000) + nudge);
        if (s.size() == 3 && s[2] == 'f') {
            const double p = static_cast<double>(std::bit_cast<float>(static_cast<u32>(v[0]))) *
                             static_cast<double>(std::bit_cast<float>(static_cast<u32>(v[1])));
            const u32 c = std::bit_cast<u32>(static_cast<float>(-p));
            if (std::fabs(p) < 1e38) v[2] = c + static_cast<u32>(nudge);
        }
    } else if (s[0] == 'd') {
        if (s.size() == 2) v[1] = (v[0] ^ (u64{1} << 63)) + nudge;
        if (s.size() == 3 && s[2] == 'd') {
            const double p = -(std::bit_cast<double>(v[0]) * std::bit_cast<double>(v[1]));
            if (p == p && std::fabs(p) < 1e300) v[2] = std::bit_cast<u64>(p) + nudge;
        }
    }
}

}  // namespace

unsigned bytes_of(char c) { return c == 'l' || c == 'd' ? 8 : c == 'h' || c == 'x' || c == 'y' ? 2 : 4; }

std::vector<std::vector<u64>> operands(const Form& form) {
    const std::string& s = form.sources;
    u64 seed = 1469598103934665603u;
    for (const char c : s) seed = (seed ^ static_cast<unsigned char>(c)) * 1099511628211u;
    Random random(seed);
    std::vector<std::vector<u64>> result(s.size(), std::vector<u64>(cases));
    // All pairs of special values are used. Their order is the same for all forms; an odd step mixes it.
    const std::size_t first = specials(s[0]).size(), second = s.size() > 1 ? specials(s[1]).size() : 1;
    const std::size_t pairs = first * second, from_specials = std::min(pairs, cases / 2);
    for (std::size_t k = 0; k < cases; ++k) {
        std::vector<u64> v(s.size());
        if (k < from_specials) {
            const std::size_t pair = k * (pairs > from_specials ? 2 : 1) % pairs;
            v[0] = special(s[0], pair % first);
            if (s.size() > 1) v[1] = special(s[1], pair / first);
            if (s.size() > 2) v[2] = special(s[2], random());
        } else {
            for (std::size_t i = 0; i < s.size(); ++i) {
                const u64 r = random();
                v[i] = r % 8 == 0 ? special(s[i], r >> 8) : random_operand(s[i], random, r >> 3);
            }
            if (k % 8 == 5) relate(s, v, random());
        }
        for (std::size_t i = 0; i < s.size(); ++i) result[i][k] = v[i];
    }
    return result;
}

std::uint32_t hash(const u64* values, std::size_t count) {
    u64 h = 0xcbf29ce484222325;
    for (std::size_t i = 0; i < count; ++i) h = (h ^ values[i]) * 0x9e3779b97f4a7c15 + (h >> 29);
    return static_cast<u32>(h ^ (h >> 32));
}

}  // namespace exact
