// initcheck when lanes of one warp reach a collective in different branches: what they give, and what they get.
#include "vgpu/checks/snippet.hpp"

using Findings = std::vector<warpgrade::vgpu::test::Found>;
using warpgrade::vgpu::test::Snippet;

namespace {

// Lanes below `lanes` run `one`, the others `two`, each ending in a collective. Then all run `after` together. Lines 1
// to 3 are the branch, `one` is line 4, `two` line 6, `after` line 7.
Findings run(const std::string& before, const std::string& one, const std::string& two, const std::string& after,
             std::size_t defined) {
    return Snippet(before + "\nsetp.ge.u32 %p1, %t, 16;\n@%p1 bra L;\n" + one + "\nbra M;\nL: " + two + "\nM: " + after,
                   "", defined)
        .run();
}

const std::string global = "initcheck/global";

}  // namespace

TEST_CASE("a shuffle in two branches defines what it writes, whatever stood there") {
    const std::string shuffle = "shfl.sync.bfly.b32 %r1, %t, 16, 31, 0xffffffff;";
    CHECK(run("ld.global.u32 %r1, [%pa];", shuffle, shuffle, "add.u32 %r2, %r1, 1;\nst.global.u32 [%pb], %r2;", 0)
              .empty());
}

TEST_CASE("a shuffle in two branches hands on what was never written, to the lanes that get it") {
    const std::string load = "ld.global.u32 %r1, [%pa];", shuffle = "shfl.sync.bfly.b32 %r2, %r1, 16, 31, 0xffffffff;",
                      use = "add.u32 %r3, %r2, 1;\nst.global.u32 [%pb], %r3;";
    // Words 0 to 19 are written: lanes 4 to 15 get those of lanes 20 to 31.
    CHECK(run(load, shuffle, shuffle, use, 20) == Findings{{global, 7, 1, 4, 1}});
    CHECK(run(load, shuffle, shuffle, use, 32).empty());
    // If no lane gets an undefined value, nothing is reported.
    const std::string first = "shfl.sync.idx.b32 %r2, %r1, 3, 31, 0xffffffff;";
    CHECK(run(load, first, first, use, 20).empty());
}

TEST_CASE("a vote in two branches uses what it asks for") {
    const std::string load = "ld.global.u32 %r1, [%pa];\nsetp.ne.u32 %p2, %r1, 0;";
    const std::string vote = "vote.sync.ballot.b32 %r2, %p2, 0xffffffff;";
    CHECK(run(load, vote, vote, "st.global.u32 [%pb], %r2;", 32).empty());
    CHECK_FALSE(run(load, vote, vote, "st.global.u32 [%pb], %r2;", 20).empty());
}

TEST_CASE("votes in two branches agree, each with its own negation") {
    const auto result = [](const std::string& one, const std::string& two) {
        Snippet k("setp.lt.u32 %p2, %t, 8;\nsetp.ge.u32 %p1, %t, 16;\n@%p1 bra L;\n" + one + "\nbra M;\nL: " + two +
                      "\nM: st.global.u32 [%pb], %r2;",
                  "", 0);
        CHECK(k.run().empty());
        return k.result()[0];
    };
    const std::string plain = "vote.sync.ballot.b32 %r2, %p2, 0xffffffff;",
                      negated = "vote.sync.ballot.b32 %r2, !%p2, 0xffffffff;";
    CHECK(result(plain, plain) == 0x000000ff);
    CHECK(result(negated, negated) == 0xffffff00);
    CHECK(result(plain, negated) == 0xffff00ff);
    CHECK(result(negated, plain) == 0x0000ff00);
}
