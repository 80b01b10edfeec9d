// How many turns more the warps of a block take when all of them compare and swap at the same time.
#include "vgpu/access/swap_contention.hpp"

#include "judge/catch.hpp"

using namespace warpgrade::vgpu;

namespace {

// `warps` warps take turns until each lane has succeeded `times` times at the word that `word` gives: in each turn one
// lane of each word does.
template <class Word>
SwapContention::Turns contend(unsigned warps, unsigned times, Word word) {
    SwapContention contention;
    for (unsigned w = 0; w < warps; ++w)
        for (unsigned time = 0; time < times; ++time) {
            std::uint64_t addresses[warp_size];
            for (unsigned l = 0; l < warp_size; ++l) addresses[l] = 4ull * word(w, l);
            for (std::uint32_t waiting = full_mask; waiting != 0;) {
                Access x;
                x.collect(addresses, 0, waiting, 4);
                std::uint32_t first = 0;
                for (unsigned l = 0; l < warp_size; ++l) {
                    bool is_first = waiting >> l & 1;
                    for (unsigned before = 0; before < l; ++before)
                        is_first &= !(waiting >> before & 1) || addresses[before] != addresses[l];
                    first |= std::uint32_t{is_first} << l;
                }
                contention.add(w, x, first);
                waiting &= ~first;
            }
        }
    return contention.finish_block();
}

}  // namespace

TEST_CASE("a word for all lanes of a block lets one of them succeed in each turn") {
    for (const unsigned times : {1u, 5u}) {
        const auto one = contend(8, times, [](unsigned, unsigned) { return 7u; });
        CHECK(one.here == 8 * 32 * times);
        CHECK(one.further == 8 * (256 - 32) * times);
        const auto four = contend(8, times, [](unsigned, unsigned lane) { return lane % 4; });
        CHECK(four.here == 8 * 8 * times);
        CHECK(four.further == 8 * (64 - 8) * times);
    }
    // To the last one, however many there are.
    CHECK(contend(2, 1000, [](unsigned, unsigned lane) { return lane % 4; }).further == 2 * (16 - 8) * 1000);
}

TEST_CASE("warps with words of their own, and a warp alone, take no further turns") {
    CHECK(contend(8, 3, [](unsigned warp, unsigned lane) { return 32 * warp + lane % 2; }).further == 0);
    CHECK(contend(1, 3, [](unsigned, unsigned) { return 0u; }).further == 0);
    CHECK(SwapContention().finish_block().here == 0);
}

TEST_CASE("the next block begins anew, and so do warps that never succeed") {
    SwapContention contention;
    Access x;
    const std::uint64_t addresses[warp_size] = {};
    x.collect(addresses, 0, 1, 4);
    contention.add(3, x, 0);
    contention.add(2, x, 1);
    const auto first = contention.finish_block();
    CHECK((first.here == 2 && first.further == 0));
    CHECK(contention.finish_block().here == 0);
    contention.add(2, x, 1);
    CHECK(contention.finish_block().further == 0);
}
