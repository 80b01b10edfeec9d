// Not handed out as source.
// Public tests of the prelab: accesses of the task sheet, and what a wrong answer may come from; then such as nobody
// knows before.
#include "judge/judge.hpp"
#include "questions.hpp"
#include "transpose.h"

using namespace warpgrade::judge;

[[maybe_unused]] const bool by_host = computed_on_host<&sectors, &wavefronts, &naive_sectors, &tile_conflicts>();

TEST_CASE("prelab: sectors of a warp", "[public]") {
    {
        INFO("lane i loads float i");
        ask<sectors>(4,
                     {{1, "32 floats are 128 bytes, one line of the cache, but four sectors"},
                      {32, "neighbouring floats lie in the same sector"},
                      {16, "a float has four bytes, so that eight fill a sector"}},
                     in(lanes([](int i) { return 4 * i; })));
    }
    {
        INFO("lane i loads float i + 1");
        ask<sectors>(5, {{4, "the 128 bytes begin within a sector, so that the last ones lie in a fifth"}},
                     in(lanes([](int i) { return 4 * (i + 1); })));
    }
    {
        INFO("lane i loads float 2 · i");
        ask<sectors>(8, {{4, "every other float is fetched and not used"}}, in(lanes([](int i) { return 8 * i; })));
    }
    {
        INFO("all lanes load float 7");
        ask<sectors>(1, {{32, "all threads load the same element"}}, in(lanes([](int) { return 28; })));
    }
    const auto bytes = scattered();
    ask<sectors>(counted_sectors(bytes), {}, in(bytes));
}

TEST_CASE("prelab: wavefronts of a warp", "[public]") {
    {
        INFO("lane i loads word i");
        ask<wavefronts>(1, {{32, "neighbouring words lie in different banks"}}, in(lanes([](int i) { return 4 * i; })));
    }
    {
        INFO("lane i loads word 2 · i");
        ask<wavefronts>(
            2,
            {{1, "lanes 0 and 16 load words 0 and 32, both in bank 0"}, {16, "16 banks are used, by two lanes each"}},
            in(lanes([](int i) { return 8 * i; })));
    }
    {
        INFO("lane i loads word 3 · i");
        ask<wavefronts>(1, {{3, "an odd stride reaches all banks before it comes back to the first"}},
                        in(lanes([](int i) { return 12 * i; })));
    }
    {
        INFO("all lanes load word 5");
        ask<wavefronts>(1, {{32, "all lanes load the same word, which is broadcast"}},
                        in(lanes([](int) { return 20; })));
    }
    {
        INFO("lane i loads byte i");
        ask<wavefronts>(1, {{4, "four neighbouring bytes are one word, which serves the four lanes together"}},
                        in(lanes([](int i) { return i; })));
    }
    const auto bytes = scattered();
    ask<wavefronts>(counted_wavefronts(bytes), {}, in(bytes));
}

TEST_CASE("prelab: what the versions cost", "[public][counter]") {
    const int rows = 32 * any_int(2, 5), columns = 32 * any_int(2, 5);
    ask_pitch(rows, columns, 32,
              {{rows * columns, "those are wavefronts: the first one of each request is no conflict"},
               {31, "that is what one warp pays for one column: how many columns are fetched?"}});
    ask_pitch(128, 128, 33, {{15'872, "rows 33 words apart begin one bank further each time"}});
    ask_pitch(128, 128, 34,
              {{0, "not every padding helps: which banks do rows begin in that are 34 words apart?"},
               {15'872, "rows 34 words apart begin two banks further each time: how many of 32 meet in one?"},
               {1'024, "those are wavefronts: the first one of each request is no conflict"}});
    ask_costs({{128, 128}, {rows, columns}});
}
