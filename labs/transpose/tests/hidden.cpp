// Hidden tests of lab transpose: other shapes, awkward bit patterns, no elements at all, and the stretch goal.
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "expectations.hpp"
#include "judge/judge.hpp"
#include "transpose.h"

using namespace warpgrade::judge;

namespace {

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
    std::vector<std::uint32_t> bits(values.size());
    std::memcpy(bits.data(), values.data(), bits.size() * sizeof bits[0]);
    return bits;
}

template <auto function>
void check_bits(const std::vector<float>& A, int rows, int columns) {
    const auto run = submission().profile<function>(in(A), out<float>(rows * columns), rows, columns);
    const auto B = bits_of(run.output);
    INFO("the bits of the floats, read as whole numbers");
    CHECK_THAT(B, equals_exactly(oracle::transpose(bits_of(A), rows, columns)).shape(columns, rows));
    check_device_work(run, rows, columns);
    if constexpr (function != transpose_naive) check_tile_is_used(run.total(), rows, columns);
}

template <auto function>
void check_nothing_is_launched(int rows, int columns) {
    const std::vector<float> nothing;
    const auto run = submission().profile<function>(in(nothing), out<float>(0), rows, columns);
    CHECK_THAT(launches(run), is(0));
}

}  // namespace

TEST_CASE("all versions transpose long and flat matrices", "[hidden]") {
    const auto [rows, columns] = GENERATE(table<int, int>({{32, 1024}, {1024, 32}, {96, 224}, {416, 64}}));
    check_transposition<transpose_naive>(rows, columns);
    check_transposition<transpose_shared>(rows, columns);
    check_transposition<transpose_padded>(rows, columns);
}

// Random bits are every kind of float: about one in 128 is a NaN or an infinity, one in 256 is subnormal. Arithmetic on
// the way, such as adding zero or going through another type, changes some of them; the last ones are there always.
TEST_CASE("all versions move every bit pattern unchanged", "[hidden]") {
    const int rows = 64, columns = 96;
    auto bits = integers<std::uint32_t>(rows * columns, 0, std::numeric_limits<std::uint32_t>::max());
    const std::vector<std::uint32_t> special{0x80000000, 0x00000001, 0x807fffff, 0x7f800000,
                                             0xff800000, 0x7fc00001, 0x7fa00000, 0xffffffff};
    for (std::size_t i = 0; i < special.size(); ++i) bits[i * 333] = special[i];
    std::vector<float> A(bits.size());
    std::memcpy(A.data(), bits.data(), bits.size() * sizeof bits[0]);
    check_bits<transpose_naive>(A, rows, columns);
    check_bits<transpose_shared>(A, rows, columns);
    check_bits<transpose_padded>(A, rows, columns);
}

TEST_CASE("matrices without elements launch nothing", "[hidden]") {
    SECTION("no rows or no columns") {
        const auto [rows, columns] = GENERATE(table<int, int>({{0, 32}, {32, 0}, {0, 0}, {-32, 32}, {-32, -32}}));
        check_nothing_is_launched<transpose_naive>(rows, columns);
        check_nothing_is_launched<transpose_shared>(rows, columns);
        check_nothing_is_launched<transpose_padded>(rows, columns);
    }
    SECTION("and the smallest that is required is transposed") {
        check_transposition<transpose_naive>(TILE_WIDTH, TILE_WIDTH);
        check_transposition<transpose_shared>(TILE_WIDTH, TILE_WIDTH);
        check_transposition<transpose_padded>(TILE_WIDTH, TILE_WIDTH);
    }
}

// One element, less than a tile, one more and one less than whole tiles on either side; then whole tiles, which tell
// best whether both matrices are still in order.
TEST_CASE("stretch: all versions transpose sizes that are not multiples of the tile", "[hidden][checks][stretch]") {
    const auto [rows, columns] = GENERATE(table<int, int>(
        {{1, 1}, {1, 200}, {200, 1}, {5, 31}, {31, 33}, {33, 31}, {32, 65}, {65, 32}, {63, 127}, {100, 70}, {64, 96}}));
    check_transposition<transpose_naive>(rows, columns);
    check_transposition<transpose_shared>(rows, columns);
    check_transposition<transpose_padded>(rows, columns);
}
