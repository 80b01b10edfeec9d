// The effects of asynchronous copies and mbarriers, of elect.sync, and of atomics on vectors and 128 bits.
#include <algorithm>
#include <numeric>

#include "support/contains.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;
using vgpu::test::message_of;
using u32 = std::uint32_t;

namespace {

// For the body: %in and %out are global addresses, %lane the thread, %s the address of 1024 bytes of shared memory,
// %bar that of an mbarrier.
std::string kernel(const std::string& body) {
    return ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n"
           ".shared .align 16 .b8 memory[1024];\n.shared .align 8 .b8 barrier[8];\n.reg .b64 %in, %out, %g, %state;\n"
           ".reg .b32 %s, %bar, %t, %lane, %n, %w<4>;\n.reg .f32 %f<8>;\n.reg .b128 %q<3>;\n.reg .pred %p, %first;\n"
           "ld.param.u64 %in, [p0];\nld.param.u64 %out, [p1];\nmov.u32 %lane, %tid.x;\nmov.u32 %s, memory;\n"
           "mov.u32 %bar, barrier;\nsetp.eq.u32 %first, %lane, 0;\n" +
           body + "\nret;\n}\n";
}

struct Result {
    std::vector<u32> out;
    device::Counters counters;
};

// in[i] is 100 + i, out begins as zeros; 256 words each.
Result run(const std::string& body, u32 threads = 32) {
    Machine m(1, kernel(body));
    std::vector<u32> words(256);
    std::iota(words.begin(), words.end(), 100u);
    const auto in = m.upload(words), out = m.upload(std::vector<u32>(256));
    const auto record = m.launch("k", {1}, {threads}, in, out);
    return {m.download(out), record.counters};
}

// Each thread's four words from shared memory to `out`.
const std::string copy_out =
    "mad.lo.u32 %t, %lane, 16, %s;\nmad.wide.u32 %g, %lane, 16, %out;\n"
    "ld.shared.v4.u32 {%w0, %w1, %w2, %w3}, [%t];\nst.global.v4.u32 [%g], {%w0, %w1, %w2, %w3};\n";

std::vector<u32> ascending(u32 first, u32 count) {
    std::vector<u32> v(count);
    std::iota(v.begin(), v.end(), first);
    v.resize(256);
    return v;
}

}  // namespace

TEST_CASE("cp.async copies to shared memory, and fills with zeros what the source lacks") {
    const std::string places = "mad.lo.u32 %t, %lane, 16, %s;\nmad.wide.u32 %g, %lane, 16, %in;\n",
                      wait = "cp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\n";
    const auto whole = run(places + "cp.async.cg.shared.global [%t], [%g], 16;\n" + wait + copy_out);
    CHECK(whole.out == ascending(100, 128));
    CHECK(whole.counters.global_load_requests == 1);
    CHECK(whole.counters.global_load_sectors == 16);
    CHECK(whole.counters.shared_store_wavefronts == 4);
    const auto part = run(places +
                          "and.b32 %n, %lane, 1;\nmul.lo.u32 %n, %n, 8;\n"
                          "cp.async.ca.shared.global [%t], [%g], 16, %n;\ncp.async.wait_all;\nbar.sync 0;\n" +
                          copy_out);
    std::vector<u32> expected(256);
    for (u32 lane = 1; lane < 32; lane += 2)
        for (u32 i = 0; i < 2; ++i) expected[lane * 4 + i] = 100 + lane * 4 + i;
    CHECK(part.out == expected);
    CHECK_THAT(message_of([&] { run(places + "cp.async.ca.shared.global [%t+4], [%g], 16;\n"); },
                          device::error::misaligned_address),
               Contains("writes 16 bytes at offset ") && Contains(" of shared memory, which is not a multiple of 16"));
    CHECK_THAT(message_of([&] { run(places + "cp.async.ca.shared.global [%t], [%g+1024], 4;\n"); },
                          device::error::illegal_address),
               Contains("reads 4 bytes"));
}

TEST_CASE("an mbarrier ends its phase when all have arrived") {
    // Warp 1 writes, warp 0 waits for it and reads.
    const auto r =
        run("@%first mbarrier.init.shared::cta.b64 [%bar], 64;\nbar.sync 0;\n"
            "setp.ge.u32 %p, %lane, 32;\nmad.lo.u32 %t, %lane, 16, %s;\nadd.u32 %n, %lane, 1000;\n"
            "@%p st.shared.u32 [%t+-512], %n;\nmbarrier.arrive.shared::cta.b64 %state, [%bar];\n"
            "@%p ret;\nWAIT: mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0;\n@!%p bra WAIT;\n"
            "mbarrier.test_wait.shared::cta.b64 %p, [%bar], %state;\nselp.u32 %w0, 1, 0, %p;\n"
            "mbarrier.test_wait.parity.shared::cta.b64 %p, [%bar], 1;\nselp.u32 %w1, 1, 0, %p;\n"
            "mbarrier.pending_count.b64 %w2, %state;\nmad.wide.u32 %g, %lane, 16, %out;\n"
            "ld.shared.u32 %w3, [%t];\nst.global.v4.u32 [%g], {%w0, %w1, %w2, %w3};\n",
            64);
    std::vector<u32> pending;
    for (u32 lane = 0; lane < 32; ++lane) {
        CHECK(r.out[lane * 4] == 1);      // the phase of the state has ended
        CHECK(r.out[lane * 4 + 1] == 0);  // that of parity 1 has begun
        CHECK(r.out[lane * 4 + 3] == 1032 + lane);
        pending.push_back(r.out[lane * 4 + 2]);
    }
    std::sort(pending.begin(), pending.end());  // each lane saw another number of arrivals to come
    CHECK(std::unique(pending.begin(), pending.end()) == pending.end());
}

TEST_CASE("who drops out of an mbarrier is not waited for in later phases") {
    // One thread; the result of try_wait for a phase goes to the word `at`.
    const auto waited = [](const char* parity, int at) {
        return std::string("mbarrier.test_wait.parity.shared::cta.b64 %p, [%bar], ") + parity +
               ";\nselp.u32 %n, 1, 2, %p;\nst.global.u32 [%out+" + std::to_string(4 * at) + "], %n;\n";
    };
    const std::string arrive = "mbarrier.arrive.shared::cta.b64 %state, [%bar];\n";
    const auto r =
        run("mbarrier.init.shared::cta.b64 [%bar], 2;\n"
            "mbarrier.arrive_drop.shared::cta.b64 %state, [%bar];\n" +
                waited("0", 0) + arrive + waited("0", 1) + arrive + waited("1", 2) +
                "mbarrier.arrive_drop.shared::cta.b64 %state, [%bar], 1;\n" + waited("0", 3) +
                "mbarrier.inval.shared::cta.b64 [%bar];\nld.shared.u32 %n, [%bar];\n"
                "ld.shared.u32 %t, [%bar+4];\nor.b32 %n, %n, %t;\nst.global.u32 [%out+16], %n;\n",
            1);
    CHECK(std::vector<u32>(r.out.begin(), r.out.begin() + 5) == std::vector<u32>{2, 1, 1, 1, 0});
}

TEST_CASE("an mbarrier waits for bytes that were announced without an arrival, at whatever address") {
    const std::string wait = "mbarrier.test_wait.parity.b64 %p, [%g], 0;\nselp.u32 %n, 1, 2, %p;\n";
    const auto r =
        run("mbarrier.init.shared::cta.b64 [%bar], 1;\ncvt.u64.u32 %g, %bar;\ncvta.shared.u64 %g, %g;\n"
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], 512;\n"
            "mbarrier.arrive.b64 %state, [%g];\n" +
                wait +
                "st.global.u32 [%out+1020], %n;\n"
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in], 512, "
                "[%bar];\nWAIT: mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0;\n@!%p bra WAIT;\n"
                "ld.shared.u32 %n, [%s+508];\nst.global.u32 [%out+1016], %n;\n",
            1);
    CHECK((r.out[255] == 2 && r.out[254] == 100 + 127));
}

TEST_CASE("copies of a thread arrive at an mbarrier, counted before or beside") {
    for (const bool counted : {false, true}) {
        CAPTURE(counted);
        // 33 arrivals: those of the 32 lanes' copies and one by hand, for which uncounted copies leave room.
        const auto r =
            run(std::string("@%first mbarrier.init.shared::cta.b64 [%bar], ") + (counted ? "32" : "1") +
                    ";\nbar.sync 0;\nmad.lo.u32 %t, %lane, 16, %s;\nmad.wide.u32 %g, %lane, 16, %in;\n"
                    "cp.async.cg.shared.global [%t], [%g], 16;\ncp.async.mbarrier.arrive" +
                    (counted ? ".noinc" : "") + ".shared::cta.b64 [%bar];\n" +
                    (counted ? "" : "bar.sync 0;\n@%first mbarrier.arrive.shared::cta.b64 %state, [%bar];\n") +
                    "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0;\n@!%p bra WAIT;\n" + copy_out,
                32);
        CHECK(r.out == ascending(100, 128));
    }
}

TEST_CASE("a bulk copy's bytes arrive at an mbarrier") {
    const auto r =
        run("@%first mbarrier.init.shared::cta.b64 [%bar], 1;\nbar.sync 0;\n@!%first bra WAIT;\n"
            "mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%bar], 512;\n"
            "mbarrier.test_wait.shared::cta.b64 %p, [%bar], %state;\nselp.u32 %n, 7, 8, %p;\n"
            "st.global.u32 [%out+1020], %n;\n"
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in+16], 512, [%bar];\n"
            "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0;\n@!%p bra WAIT;\n" +
            copy_out);
    auto expected = ascending(104, 128);
    expected[255] = 8;  // before the bytes arrived, the phase had not ended
    CHECK(r.out == expected);
}

TEST_CASE("elect.sync picks one lane of the mask, the same for all") {
    const auto r =
        run("setp.ge.u32 %p, %lane, 5;\n@!%p bra OUT;\nelect.sync %w0|%p, 0xffffffe0;\n"
            "selp.u32 %w1, 1, 0, %p;\nmad.wide.u32 %g, %lane, 8, %out;\n"
            "st.global.v2.u32 [%g], {%w0, %w1};\nOUT:\n");
    u32 elected = 0;
    for (u32 lane = 5; lane < 32; ++lane) {
        CHECK(r.out[2 * lane] == r.out[10]);
        elected += r.out[2 * lane + 1];
        CHECK((r.out[2 * lane + 1] == 1) == (r.out[2 * lane] == lane));
    }
    CHECK(elected == 1);
}

TEST_CASE("atomics on vectors of floats and on 128 bits") {
    // Every lane adds to the same four floats; each old vector is the result of the lanes before.
    const auto sums = run("mov.f32 %f0, 0f3F800000;\nmov.f32 %f1, 0f40000000;\n"
                          "red.global.add.v4.f32 [%out], {%f0, %f1, %f1, %f0};\n"
                          "atom.global.add.v2.f32 {%f2, %f3}, [%out+16], {%f0, %f1};\n"
                          "mad.wide.u32 %g, %lane, 8, %out;\nst.global.v2.f32 [%g+32], {%f2, %f3};\n")
                          .out;
    const auto at = [&](std::size_t i) { return std::bit_cast<float>(sums[i]); };
    CHECK(std::vector<float>{at(0), at(1), at(2), at(3), at(4), at(5)} == std::vector<float>{32, 64, 64, 32, 32, 64});
    for (std::size_t lane = 0; lane < 32; ++lane) {
        CHECK(at(8 + 2 * lane) == static_cast<float>(lane));
        CHECK(at(9 + 2 * lane) == static_cast<float>(2 * lane));
    }
    // One lane exchanges 128 bits, compares with the old value, then with the current one.
    const auto wide = run("@!%first bra OUT;\nmov.b64 %g, 1;\nmov.b64 %state, 2;\nmov.b128 %q0, {%g, %state};\n"
                          "atom.global.exch.b128 %q1, [%in], %q0;\n"
                          "atom.global.cas.b128 %q2, [%in], %q1, %q1;\n"
                          "mov.b128 {%g, %state}, %q2;\nst.global.v2.b64 [%out+16], {%g, %state};\n"
                          "mov.b128 {%g, %state}, %q1;\nst.global.v2.b64 [%out], {%g, %state};\n"
                          "atom.global.cas.b128 %q2, [%in], %q0, %q1;\nld.global.v2.b64 {%g, %state}, [%in];\n"
                          "st.global.v2.b64 [%out+32], {%g, %state};\nOUT:\n")
                          .out;
    CHECK(std::vector<u32>(wide.begin(), wide.begin() + 12) ==
          std::vector<u32>{100, 101, 102, 103, 1, 0, 2, 0, 100, 101, 102, 103});
}
