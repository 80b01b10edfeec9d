// Not handed out as source.
// Public tests of the prelab: numbers of the task sheet, and what a wrong answer may come from.
#include "judge/judge.hpp"
#include "questions.hpp"
#include "reverse.h"

using namespace warpgrade::judge;

[[maybe_unused]] const bool by_host = computed_on_host<&shared_bytes, &offset_of_third, &aligned_offset, &wavefronts,
                                                       &reverse_barriers, &reverse_requests, &rows_conflicts>();

TEST_CASE("prelab: arrays in shared memory", "[public]") {
    ask<shared_bytes>(720, {{180, "the launch asks for bytes, a float has four"}}, 100, 50, 30);
    ask<offset_of_third>(600,
                         {{150, "that is the element; a float has four bytes"},
                          {720, "that is the end of C"},
                          {400, "B lies before C as well"}},
                         100, 50);
    ask<aligned_offset>(8, {{5, "floats must lie at multiples of 4"}, {4, "byte 4 is taken"}}, 5, 4);
    ask<aligned_offset>(16, {{24, "16 is a multiple of 8 already, nothing has to be skipped"}}, 16, 8);
}

TEST_CASE("prelab: wavefronts of a warp", "[public]") {
    ask<wavefronts>(1, {{32, "neighbouring words lie in different banks"}}, 1, 4);
    ask<wavefronts>(
        2, {{1, "lanes 0 and 16 load words 0 and 32, both in bank 0"}, {16, "16 banks are used, by two lanes each"}}, 2,
        4);
    ask<wavefronts>(1, {{3, "an odd stride reaches all banks before it comes back to the first"}}, 3, 4);
    ask<wavefronts>(1, {{32, "all lanes load the same word, which is broadcast"}}, 0, 4);
    ask<wavefronts>(2, {{1, "32 doubles are 64 words: no more than 32 can come at once"}}, 1, 8);
    ask<wavefronts>(4, {{2, "in each half of the warp lanes 0 and 8 meet in banks 0 and 1"}}, 2, 8);
}

TEST_CASE("prelab: what the versions cost", "[public][counter]") {
    ask_traffic(100);
    ask_strided(32);
    ask<rows_conflicts>(0, {{1'984, "rows 33 words apart begin one bank further each time"}}, 32, 33);
    ask<rows_conflicts>(64,
                        {{0, "not every padding helps: which banks do rows begin in that are 34 words apart?"},
                         {1'984, "rows 34 words apart begin two banks further each time: how many of 32 meet in one?"},
                         {128, "those are wavefronts: the first one of each request is no conflict"}},
                        32, 34);
}
