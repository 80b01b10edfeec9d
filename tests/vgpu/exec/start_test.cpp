// What a thread finds when its block starts, and what a launch leaves behind, whether or not it ends by a fault.

#include "support/approx.hpp"
#include "support/contains.hpp"
#include "vgpu/machine.hpp"

using namespace warpgrade;
using vgpu::test::Machine;
using vgpu::test::message_of;
using vgpu::test::read_text;
using u32 = std::uint32_t;

namespace {

constexpr device::Checks no_checks{false, false, false, false};

// A kernel k(out) with the address of the thread's `words` words in %o and the thread's number in the grid in %n.
std::string kernel(const std::string& lines, unsigned words, const std::string& functions = "") {
    return ".version 8.6\n.target sm_90\n.address_size 64\n" + functions +
           ".visible .entry k(.param .u64 out) {\n.reg .b32 %r<19>, %n, %x;\n.reg .b64 %o, %l<9>;\n.reg .pred %p<9>;\n"
           ".shared .align 4 .b8 own[256];\n.local .align 4 .b8 mine[64];\n"
           "mov.u32 %n, %ctaid.z;\nmov.u32 %x, %nctaid.y;\nmul.lo.u32 %n, %n, %x;\nmov.u32 %x, %ctaid.y;\n"
           "add.u32 %n, %n, %x;\nmov.u32 %x, %nctaid.x;\nmul.lo.u32 %n, %n, %x;\nmov.u32 %x, %ctaid.x;\n"
           "add.u32 %n, %n, %x;\nmov.u32 %x, %ntid.x;\nmul.lo.u32 %n, %n, %x;\nmov.u32 %x, %ntid.y;\n"
           "mul.lo.u32 %n, %n, %x;\nmov.u32 %x, %ntid.z;\nmul.lo.u32 %n, %n, %x;\n"
           "mov.u32 %r0, %tid.z;\nmov.u32 %x, %ntid.y;\nmul.lo.u32 %r0, %r0, %x;\nmov.u32 %x, %tid.y;\n"
           "add.u32 %r0, %r0, %x;\nmov.u32 %x, %ntid.x;\nmul.lo.u32 %r0, %r0, %x;\nmov.u32 %x, %tid.x;\n"
           "add.u32 %r0, %r0, %x;\nadd.u32 %n, %n, %r0;\nld.param.u64 %o, [out];\nmad.wide.u32 %o, %n, " +
           std::to_string(4 * words) + ", %o;\n" + lines + "\nret;\n}\n";
}

}  // namespace

TEST_CASE("every thread finds its place, its sizes and its lane in the special registers") {
    const std::vector<std::string> names = {"%tid.x",
                                            "%tid.y",
                                            "%tid.z",
                                            "%ntid.x",
                                            "%ntid.y",
                                            "%ntid.z",
                                            "%ctaid.x",
                                            "%ctaid.y",
                                            "%ctaid.z",
                                            "%nctaid.x",
                                            "%nctaid.y",
                                            "%nctaid.z",
                                            "%laneid",
                                            "%warpid",
                                            "%nwarpid",
                                            "%smid",
                                            "%nsmid",
                                            "%lanemask_eq",
                                            "%lanemask_le",
                                            "%lanemask_lt",
                                            "%lanemask_ge",
                                            "%lanemask_gt",
                                            "%dynamic_smem_size"};
    std::string lines;
    for (std::size_t i = 0; i < names.size(); ++i)
        lines += "mov.u32 %r1, " + names[i] + ";\nst.global.u32 [%o+" + std::to_string(4 * i) + "], %r1;\n";
    const device::Dim3 grid{3, 2, 4}, block{5, 3, 4};  // 24 blocks of two warps, the second one of 28 threads
    constexpr unsigned threads = 60, blocks = 24;
    const auto words = static_cast<unsigned>(names.size());
    Machine m(1, kernel(lines, words), 1'000'000, "h100:5", no_checks);
    const auto out = m.upload(std::vector<u32>(words * threads * blocks));
    m.launch_shared("k", grid, block, 100, out);
    const auto found = m.download(out);
    for (u32 b = 0; b < blocks; ++b)
        for (u32 t = 0; t < threads; ++t) {
            CAPTURE(b, t);
            const u32 lane = t % 32, below = (1u << lane) - 1;
            const std::vector<u32> expected = {t % 5,
                                               t / 5 % 3,
                                               t / 15,
                                               5,
                                               3,
                                               4,
                                               b % 3,
                                               b / 3 % 2,
                                               b / 6,
                                               3,
                                               2,
                                               4,
                                               lane,
                                               t / 32,
                                               2,
                                               b % 5,
                                               5,
                                               1u << lane,
                                               below | 1u << lane,
                                               below,
                                               ~below,
                                               ~below & ~(1u << lane),
                                               100};
            const auto begin = found.begin() + static_cast<std::ptrdiff_t>((b * threads + t) * words);
            CHECK(std::vector<u32>(begin, begin + words) == expected);
        }
}

TEST_CASE("a block finds nothing of the one before it: shared and local memory are fresh") {
    Machine m(1,
              kernel("mov.u32 %r1, own;\nmov.u32 %x, %tid.x;\nshl.b32 %x, %x, 2;\nadd.u32 %r1, %r1, %x;\n"
                     "ld.shared.u32 %r2, [%r1];\nst.global.u32 [%o], %r2;\nst.shared.u32 [%r1], %n;\n"
                     "ld.local.u32 %r2, [mine+8];\nst.global.u32 [%o+4], %r2;\nst.local.u32 [mine+8], %n;\n"
                     "ld.local.u32 %r2, [mine+60];\nst.global.u32 [%o+8], %r2;\nst.local.u32 [mine+60], %n;",
                     3),
              1'000'000, "h100", no_checks);
    const auto out = m.upload(std::vector<u32>(3 * 4 * 40));
    m.launch("k", {4}, {40}, out);
    CHECK(m.download(out) == std::vector<u32>(3 * 4 * 40, 0xCDCDCDCD));
}

TEST_CASE("a register that was never written holds its pattern, whatever the block before left there") {
    Machine m(1,
              kernel("st.global.u32 [%o], %r7;\nst.global.u32 [%o+4], %r1;\nmov.u32 %r7, 77;\nmov.u32 %r1, 71;\n"
                     "st.global.u32 [%o+8], %r7;\nst.global.u32 [%o+8], %r1;",
                     3),
              1'000'000, "h100", no_checks);
    const auto out = m.upload(std::vector<u32>(3 * 64, 5));
    m.launch("k", {2}, {32}, out);
    const auto found = m.download(out);
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == (i % 3 == 2 ? 71 : 0xF1F1F1F1));
}

TEST_CASE("a return that no lane takes is passed by") {
    Machine m(1,
              kernel("{\n.param .b32 n;\n.param .b32 r;\nst.param.b32 [n], %n;\ncall (r), f, (n);\n"
                     "ld.param.b32 %r1, [r];\n}\nst.global.u32 [%o], %r1;",
                     1,
                     ".func (.param .b32 r) f(.param .b32 n) {\n.reg .b32 %a;\n.reg .pred %p;\nld.param.u32 %a, [n];\n"
                     "st.param.b32 [r], 5;\nsetp.gt.u32 %p, %a, 99;\n@%p ret;\nst.param.b32 [r], %a;\nret;\n}\n"));
    const auto out = m.upload(std::vector<u32>(32));
    m.launch("k", {1}, {32}, out);
    for (u32 t = 0; t < 32; ++t) CHECK(m.download(out)[t] == t);
}

// The second block's outer call keeps a value while it makes an inner one, which the first block's does not.
TEST_CASE("calls of a block find no activation of the block before it") {
    Machine m(1,
              kernel("{\n.param .b32 n;\n.param .b32 r;\nst.param.b32 [n], %n;\ncall (r), outer, (n);\n"
                     "ld.param.b32 %r1, [r];\n}\nst.global.u32 [%o], %r1;",
                     1,
                     ".func (.param .b32 r) inner(.param .b32 n) {\n.reg .b32 %a, %b, %c, %d;\nld.param.u32 %a, [n];\n"
                     "add.u32 %b, %a, 1;\nadd.u32 %c, %b, 1;\nadd.u32 %d, %c, 998;\nst.param.b32 [r], %d;\nret;\n}\n"
                     ".func (.param .b32 r) outer(.param .b32 n) {\n.reg .b32 %a, %b, %c;\n.reg .pred %p;\n"
                     "ld.param.u32 %a, [n];\nmov.u32 %b, 0;\nmul.lo.u32 %c, %a, 7;\nsetp.lt.u32 %p, %a, 32;\n"
                     "@%p bra DONE;\n{\n.param .b32 m;\n.param .b32 s;\nst.param.b32 [m], %a;\n"
                     "call (s), inner, (m);\nld.param.b32 %b, [s];\n}\nDONE:\nadd.u32 %b, %b, %c;\n"
                     "st.param.b32 [r], %b;\nret;\n}\n"),
              1'000'000, "h100", no_checks);
    const auto out = m.upload(std::vector<u32>(64));
    m.launch("k", {2}, {32}, out);
    std::vector<u32> expected(64);
    for (u32 t = 0; t < 64; ++t) expected[t] = 7 * t + (t < 32 ? 0 : t + 1000);
    CHECK(m.download(out) == expected);
}

TEST_CASE("a function's local array is fresh at each call") {
    Machine m(1,
              kernel("{\n.param .b32 r;\ncall (r), f, ();\nld.param.b32 %r1, [r];\n}\n"
                     "{\n.param .b32 r;\ncall (r), f, ();\nld.param.b32 %r2, [r];\n}\n"
                     "st.global.u32 [%o], %r1;\nst.global.u32 [%o+4], %r2;",
                     2,
                     ".func (.param .b32 r) f() {\n.local .align 8 .b8 x[16];\n.reg .b32 %v, %w;\n.reg .b64 %a;\n"
                     "mov.u64 %a, x;\nld.local.u32 %v, [%a+12];\nmov.u32 %w, 5;\nst.local.u32 [%a+12], %w;\n"
                     "st.param.b32 [r], %v;\nret;\n}\n"),
              1'000'000, "h100", no_checks);
    const auto out = m.upload(std::vector<u32>(2 * 40));
    m.launch("k", {1}, {40}, out);
    CHECK(m.download(out) == std::vector<u32>(2 * 40, 0xCDCDCDCD));
}

TEST_CASE("of a launch that fails, the counters are those of what had started") {
    Machine m(1, kernel("setp.lt.u32 %p1, %n, 130;\n@%p1 bra on;\ntrap;\non:\nst.global.u32 [%o], %n;", 1), 1'000'000,
              "h100", no_checks);
    const auto out = m.upload(std::vector<u32>(8 * 64));
    m.analysis->take_records();
    CHECK_THAT(message_of([&] { m.launch("k", {8}, {64}, out); }, device::error::launch_failure),
               Contains("thread (2,0,0) of block (2,0,0)"));
    const auto record = m.analysis->take_records().at(0);
    CHECK(record.counters->warps_launched == 5);
    CHECK(record.counters->blocks_launched == 2);
    CHECK(record.error_code == device::error::launch_failure);
    Machine good(1, kernel("st.global.u32 [%o], %n;", 1));
    const auto counters = good.launch("k", {3, 2, 4}, {33}, good.upload(std::vector<u32>(24 * 33))).counters;
    CHECK(counters.warps_launched == 48);
    CHECK(counters.blocks_launched == 24);
}

TEST_CASE("what malloc gave in a kernel is none of the memory that a launch is said to have used") {
    for (const bool exactly : {false, true}) {
        CAPTURE(exactly);
        Machine m(1, read_text(WG_TEST_SCHEDULING ".sm_80"));
        m.analysis->set_exact_accesses(exactly);
        const auto pointers = m.upload(std::vector<std::uint64_t>(64));
        const auto record = m.launch("allocate", {2}, {32}, pointers, 10);
        const auto accesses = m.analysis->take_accesses();
        const device::MemoryAccess expected{pointers.address, 512, device::MemoryUse::write};
        CHECK(accesses == std::vector{expected});
        const auto sums = m.upload(std::vector<int>(64));
        m.launch("add_up", {2}, {32}, pointers, 10, sums);
        if (!exactly)
            CHECK(m.analysis->take_accesses() ==
                  std::vector<device::MemoryAccess>{{pointers.address, 512, device::MemoryUse::read},
                                                    {sums.address, 256, device::MemoryUse::write}});
    }
}

TEST_CASE("the workspace of a cooperative launch is no memory of the program's") {
    for (const bool exactly : {false, true}) {
        CAPTURE(exactly);
        Machine m(1, read_text(WG_TEST_COLLECTIVES ".sm_80"));
        m.cooperative = true;
        m.analysis->set_exact_accesses(exactly);
        const auto values = m.upload(std::vector<int>(320)), out = m.upload(std::vector<int>(320));
        m.launch("grid_rounds", {5}, {64}, values, out, 2);
        const auto accesses = m.analysis->take_accesses();
        CHECK_FALSE(accesses.empty());
        for (const auto& each : accesses) {
            const bool known = each.address - values.address < 1280 || each.address - out.address < 1280;
            CHECK(known);
        }
    }
}

TEST_CASE("a jump by a table goes where the index says, counts as one branch, and never beyond its end") {
    const auto run = [](const std::string& index, std::vector<u32> expected) {
        Machine m(1,
                  kernel("ts: .branchtargets L0, L1, L2;\n" + index +
                             "\nbrx.idx %r1, ts;\nL0:\nmov.u32 %r2, 10;\nbra done;\nL1:\nmov.u32 %r2, 11;\nbra done;\n"
                             "L2:\nmov.u32 %r2, 12;\ndone:\nst.global.u32 [%o], %r2;",
                         1));
        const auto out = m.upload(std::vector<u32>(expected.size()));
        const auto counters = m.launch("k", {1}, {static_cast<u32>(expected.size())}, out).counters;
        CHECK(m.download(out) == expected);
        return counters;
    };
    std::vector<u32> mixed(32);
    for (u32 t = 0; t < 32; ++t) mixed[t] = 10 + t % 3;
    const auto apart = run("rem.u32 %r1, %n, 3;", mixed), together = run("mov.u32 %r1, 2;", std::vector<u32>(32, 12));
    CHECK(apart.divergent_branches == 1);
    CHECK(together.divergent_branches == 0);
    CHECK(together.branches == 1);
    CHECK(apart.global_store_requests == 1);
    CHECK_THAT(message_of(
                   [&] {
                       run("add.u32 %r1, %n, 1;", {0, 0, 0});
                   },
                   device::error::invalid_pc),
               Contains("branches to entry 3 of a branch table of 3") && Contains("thread (2,0,0)"));
}

TEST_CASE("how deep functions may call is what their variables leave of the stack") {
    const auto deepest = [](const std::string& bytes, std::uint64_t stack = 0) {
        Machine m(1,
                  kernel("call f, ();", 1,
                         ".func f()\n;\n.func f() {\n.local .align 8 .b8 x[" + bytes + "];\ncall f, ();\nret;\n}\n"));
        if (stack) m.gpu->set_limit(device::Limit::StackSize, stack);
        const auto out = m.upload(std::vector<u32>(32));
        return message_of([&] { m.launch("k", {1}, {32}, out); }, device::error::hardware_stack_error);
    };
    CHECK_THAT(deepest("1000"), Contains("calls 'f' at depth 17, with 16,384 bytes of stack for each thread"));
    CHECK_THAT(deepest("1008"), Contains("at depth 17"));  // sixteen of them fill it
    CHECK_THAT(deepest("1016"), Contains("at depth 16"));
    CHECK_THAT(deepest("1008", 32768), Contains("at depth 33, with 32,768 bytes"));
}

TEST_CASE("printf that is declared in another way than CUDA's is given nothing that it did not pass") {
    const auto run = [](const std::string& declared, const std::string& call) {
        Machine m(1,
                  kernel("{\n.param .b32 p;\n.param .b64 q;\n.param .b32 r;\nmov.u64 %l1, text;\n"
                         "cvta.global.u64 %l1, %l1;\nst.param.b32 [p], 5;\nst.param.b64 [q], %l1;\n" +
                             call + "\n}\nst.global.u32 [%o], %r1;",
                         1, ".global .align 1 .b8 text[6] = {111, 37, 37, 107, 10, 0};\n" + declared + "\n"),
                  1'000'000, "h100", no_checks);
        const auto out = m.upload(std::vector<u32>(1));
        m.launch("k", {1}, {1}, out);
        return std::pair(m.download(out)[0], m.gpu->take_output().text);
    };
    using Printed = std::pair<u32, std::string>;
    const std::string result = "ld.param.b32 %r1, [r];";
    CHECK(run(".extern .func (.param .b32 r) vprintf (.param .b64 a);", "call (r), vprintf, (q);\n" + result) ==
          Printed{0, "o%k\n"});
    CHECK(run(".extern .func (.param .b32 r) vprintf (.param .b32 a);", "call (r), vprintf, (p);\n" + result) ==
          Printed{~0u, ""});
    CHECK(run(".extern .func vprintf (.param .b64 a);", "call vprintf, (q);\nmov.u32 %r1, 7;") == Printed{7, "o%k\n"});
}

TEST_CASE("reads take the time of the memory that lies behind them: what L2 can hold is there") {
    const auto time = [](std::size_t words, std::uint32_t read) {  // of an array of so many the first ones
        Machine m(
            1,
            ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u32 read) {\n"
            ".reg .b32 %r<9>;\n.reg .b64 %l<9>;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
            "mad.lo.u32 %r1, %r2, 256, %r1;\nld.param.u32 %r3, [read];\nsub.u32 %r3, %r3, 1;\n"
            "and.b32 %r1, %r1, %r3;\nld.param.u64 %l1, [in];\n"
            "mad.wide.u32 %l1, %r1, 4, %l1;\nld.global.u32 %r2, [%l1];\nret;\n}\n",
            10'000'000, "h100:4", no_checks);
        const auto in = m.upload(std::vector<u32>(words));
        return m.launch("k", {20000}, {256}, in, read).duration_ns;
    };
    // Each multiprocessor's blocks read a fourth of it, which its L1 can hold.
    CHECK(time(1 << 18, 1 << 17) < 0.95 * time(1 << 18, 1 << 18));
    CHECK(time(1 << 18, 1 << 18) < 0.9 * time(1 << 22, 1 << 22));
    CHECK(time(1 << 22, 1 << 17) == time(1 << 17, 1 << 17));  // what lies beside it does not matter
}

TEST_CASE("the host's memory takes the time of the link, and managed memory comes over it once") {
    for (const char* access : {"ld.global.u32 %r1, [%o];", "st.global.u32 [%o], %n;"}) {
        CAPTURE(access);
        Machine m(1, kernel(access, 1), 10'000'000, "h100", no_checks);
        constexpr u32 blocks = 256;
        const auto time = [&](std::uint64_t address) {
            return m.launch("k", {blocks}, {256}, vgpu::test::Buffer<u32>{address, 0}).duration_ns;
        };
        const auto shared = [&](const char* call) {
            return m.gpu->allocate_host_visible(blocks * 1024, 0, call).address;
        };
        const auto there = m.upload(std::vector<u32>(blocks * 256)).address, mapped = shared("cudaMallocHost"),
                   managed = shared("cudaMallocManaged");
        const double usual = time(there);
        CHECK(time(there) == usual);
        for (int i = 0; i < 2; ++i) {
            const double linked = time(mapped);
            CHECK(linked > 1.1 * usual);
            CHECK(linked < 100 * usual);
        }
        const double first = time(managed);
        CHECK((first > 1.5 * usual && first < 100 * usual));
        CHECK(time(managed) < 1.1 * usual);
    }
}

TEST_CASE("lanes that part take time, even where they execute nothing apart, and in one block as in all") {
    std::string skipped;  // more than predicates would do
    for (int i = 0; i < 13; ++i) skipped += "add.u32 %r5, %r5, 1;\n";
    for (const char* branch : {"@%p1 bra L0;", "brx.idx %r2, ts;"}) {
        const auto time = [&](const std::string& threads, const std::string& mask) {  // which threads take the branch
            Machine m(1,
                      kernel("ts: .branchtargets L0, L1;\nmov.u32 %r1, 0;\nsetp.lt.u32 %p3, %n, " + threads +
                                 ";\nselp.b32 %r2, " + mask +
                                 ", 0, %p3;\nand.b32 %r2, %n, %r2;\nsetp.eq.u32 %p1, %r2, 1;\nMORE:\n" + branch + "\n" +
                                 skipped +
                                 "L0:\nL1:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, "
                                 "1000;\n@%p2 bra MORE;",
                             1),
                      10'000'000, "h100:4", no_checks);
            return m.launch("k", {4}, {256}, m.upload(std::vector<u32>(1))).duration_ns;
        };
        CAPTURE(branch);
        const auto apart = time("1024", "1"), together = time("1024", "0"), one_apart = time("256", "1");
        CHECK(apart > 1.05 * together);
        CHECK(apart < 10 * together);
        CHECK(one_apart > 0.9 * apart);
    }
}

TEST_CASE("the block that executes most is known by how much that is") {
    Machine m(1, kernel("mov.u32 %r1, %ctaid.x;\nMORE:\nadd.u32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r1, 0;\n"
                        "sub.u32 %r1, %r1, 1;\n@!%p1 bra MORE;",
                        1));
    const auto out = m.upload(std::vector<u32>(1));
    const auto one = m.launch("k", {1}, {64}, out), three = m.launch("k", {3}, {64}, out);
    CHECK(one.most_block_instructions == one.counters.inst_executed);
    CHECK(three.most_block_instructions - one.most_block_instructions == 2 * 2 * 4);  // rounds of four, by two warps
}

TEST_CASE("an instruction that wrote to an object of malloc's does not write to it once it is freed") {
    Machine m(1,
              kernel("mov.u32 %r3, 0;\nmov.u64 %l1, 8;\n{\n.param .b64 n;\n.param .b64 p;\nst.param.b64 [n], %l1;\n"
                     "call (p), malloc, (n);\nld.param.b64 %l2, [p];\n}\nagain:\nst.u32 [%l2+4], %n;\n"
                     "setp.eq.u32 %p1, %r3, 1;\n@%p1 bra done;\nmov.u32 %r3, 1;\n{\n.param .b64 p;\n"
                     "st.param.b64 [p], %l2;\ncall free, (p);\n}\nbra again;\ndone:",
                     1, ".extern .func (.param .b64 p) malloc (.param .b64 n);\n.extern .func free (.param .b64 p);\n"),
              1'000'000, "h100", no_checks);
    const auto out = m.upload(std::vector<u32>(1));
    CHECK_THAT(message_of([&] { m.launch("k", {1}, {1}, out); }, device::error::illegal_address),
               Contains("writes 4 bytes at offset 4 of") && Contains("which was freed"));
}
