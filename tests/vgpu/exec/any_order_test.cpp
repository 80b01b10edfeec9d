// Launches that are said to give the same in each order of blocks, warps and lanes: which are, and that they do.
#include <random>
#include <string>

#include "judge/catch.hpp"
#include "vgpu/checks/snippet.hpp"

using namespace warpgrade;
using device::Order;
using vgpu::test::Machine;
using Words = std::vector<std::uint32_t>;

namespace {

constexpr std::uint32_t words = 4096;

struct Ran {
    bool any_order = false, ended = false;
    Words a, b;
    bool operator==(const Ran& other) const { return ended == other.ended && a == other.a && b == other.b; }
};

Ran run(const std::string& ptx, Order order, std::uint32_t blocks = 2, std::uint32_t threads = 64,
        const device::Checks& checks = {}) {
    Machine machine(1, ptx, 200'000, "h100", checks, order);
    machine.may_be_wrong = true;
    Words numbers(words);
    for (std::uint32_t i = 0; i < words; ++i) numbers[i] = i * 2654435761u;
    const auto a = machine.upload(numbers), b = machine.upload(Words(words));
    Ran ran;
    try {
        ran.any_order = machine.launch("k", {blocks}, {threads}, a, b).any_order;
        ran.ended = true;
    } catch (const device::DeviceError&) {
    }
    ran.a = machine.download(a), ran.b = machine.download(b);
    return ran;
}

// The body of vgpu::test::snippet().
bool any_order(const std::string& body, std::uint32_t blocks = 1, std::uint32_t threads = 64,
               const device::Checks& checks = {}) {
    return run(vgpu::test::snippet(body), Order::forward, blocks, threads, checks).any_order;
}

}  // namespace

TEST_CASE("threads that only barriers order give the same in each order") {
    CHECK(any_order("ld.global.nc.u32 %r1, [%pa];\nst.global.u32 [%pb], %r1;"));
    CHECK(any_order("st.shared.u32 [%i], %t;\nbar.sync 0;\nld.shared.u32 %r1, [124];\nst.global.u32 [%pb], %r1;"));
    CHECK(any_order("st.shared.u32 [%i], %t;\nbarrier.sync 0;\nld.shared.u32 %r1, [124];\nst.global.u32 [%pb], %r1;"));
    CHECK(
        any_order("st.shared.u32 [%i], %t;\nbar.warp.sync -1;\nxor.b32 %r2, %i, 4;\nld.shared.u32 %r1, [%r2];\n"
                  "st.global.u32 [%pb], %r1;"));
    CHECK(any_order("shfl.sync.down.b32 %r1, %t, 1, 31, -1;\nst.global.u32 [%pb], %r1;"));
    CHECK(any_order("mov.u32 %r2, -1;\nshfl.sync.idx.b32 %r1, %t, 1, 31, %r2;\nst.global.u32 [%pb], %r1;"));
    CHECK(any_order("setp.eq.u32 %p1, %t, 9;\nbar.red.popc.u32 %r1, 0, %p1;\nst.global.u32 [%pb], %r1;"));
    CHECK(any_order("setp.lt.u32 %p1, %t, 9;\nvote.sync.ballot.b32 %r1, %p1, -1;\nst.global.u32 [%pb], %r1;"));
}

TEST_CASE("what can tell the order, or is not watched for races, may depend on it") {
    const std::string store = "\nst.global.u32 [%pb], %r1;";
    const std::string some = "setp.gt.u32 %p1, %t, 15;\n@%p1 bra OTHERS;\n", others = "\nOTHERS:";
    for (const std::string& body : std::vector<std::string>{
             "atom.global.add.u32 %r1, [%a], 1;", "st.shared.u32 [%i], 0;\natom.shared.add.u32 %r1, [%i], 1;",
             "red.global.add.u32 [%a], 1;", "ld.volatile.global.u32 %r1, [%pa];",
             "ld.relaxed.gpu.global.u32 %r1, [%pa];", "ld.global.cv.u32 %r1, [%pa];", "membar.gl;",
             "fence.acq_rel.gpu;", "activemask.b32 %r1;", "mov.u32 %r1, %clock;", "mov.u32 %r1, %smid;",
             "mov.u32 %r1, %warpid;", "nanosleep.u32 10;",
             // Barriers and collectives of some, which racecheck takes for those of all.
             "bar.sync 1;", "bar.sync 0, 64;", "bar.arrive 1, 64;", "mov.u32 %r2, 1;\nbar.sync %r2;",
             some + "bar.warp.sync 0xffff;" + others, some + "shfl.sync.down.b32 %r1, %t, 1, 15, 0xffff;" + others}) {
        INFO(body);
        CHECK_FALSE(any_order(body + store));
    }
}

TEST_CASE("nothing is said of the order where threads race, even with equal values") {
    CHECK_FALSE(any_order("st.global.u32 [%b], %t;"));
    CHECK_FALSE(any_order("st.global.u32 [%b], 1;"));
    CHECK_FALSE(any_order("st.shared.u32 [first], 1;"));
    CHECK_FALSE(any_order("st.global.u32 [%pb], 1;", 2));
    CHECK(any_order("st.global.u32 [%pb], 1;"));
    CHECK_FALSE(any_order("st.shared.u32 [%i], %t;\nxor.b32 %r2, %i, 4;\nld.shared.u32 %r1, [%r2];"));
}

TEST_CASE("nothing is said of the order without all checks, or of a sample") {
    const std::string body = "st.global.u32 [%pb], %t;";
    CHECK(any_order(body));
    for (const char* some : {"init,sync", "race,sync", "race,init"})
        CHECK_FALSE(any_order(body, 1, 64, device::parse_checks(some)));
    vgpu::VirtualGpuOptions options;
    options.threads = 1, options.sample_blocks = 1;
    Machine machine(options, vgpu::test::snippet("st.shared.u32 [%i], %t;"));
    const auto a = machine.upload(Words(words)), b = machine.upload(Words(words));
    CHECK_FALSE(machine.launch("k", {4}, {32}, a, b).any_order);
}

TEST_CASE("nothing is said of the order where memory is too large to be watched") {
    for (const bool large : {false, true}) {
        Machine machine(1, vgpu::test::snippet("st.global.u32 [%pb], %t;\nld.global.u32 %r1, [%pb];"));
        const auto a = machine.upload(Words(words));
        const vgpu::test::Buffer<std::uint32_t> b{machine.gpu->allocate(large ? 512u << 20 : 4096, "cudaMalloc"), 1};
        CHECK(machine.launch("k", {1}, {64}, a, b).any_order == !large);
    }
}

namespace {

// A random kernel of blocks of two warps, over four registers, an array of all blocks and one of each. A careful
// one has barriers around each access of another thread's word, and makes none where not all threads go; others do as
// they like. Some ask who else is there.
class Program {
  public:
    explicit Program(unsigned seed) : random_(seed), is_careful_(below(2) == 0) {
        for (int i = 0; i < 10; ++i) step(1);
    }
    [[nodiscard]] std::string ptx() const {
        return vgpu::test::snippet(
            "mov.u32 %r9, %ctaid.x;\nshl.b32 %r10, %r9, 6;\nadd.u32 %r10, %r10, %t;\nmov.u32 %r1, %r10;\n"
            "mov.u32 %r2, 7;\nmov.u32 %r3, %t;\nmov.u32 %r4, 0;\nst.shared.u32 [%i], %t;\nbar.sync 0;\n" +
            text_ +
            "xor.b32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\nxor.b32 %r1, %r1, %r4;\nmul.wide.u32 %l1, %r10, 4;\n"
            "add.s64 %l1, %l1, %b;\nst.global.u32 [%l1], %r1;");
    }

  private:
    unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
    std::string any() { return "%r" + std::to_string(1 + below(4)); }
    void emit(const std::string& line) { text_ += line + "\n"; }
    void synchronise(unsigned kinds) {
        constexpr const char* ways[] = {"bar.sync 0;", "bar.sync 0;", "bar.warp.sync -1;", "bar.warp.sync 0xffff;",
                                        "bar.sync 1, 64;"};
        emit(ways[below(kinds)]);
    }
    // An access of a word of the thread's own, or of one in its warp, its block or the other block.
    void access(const std::string& op, bool is_global, int depth) {
        constexpr unsigned apart[] = {0, 0, 1, 16, 32, 32, 64};
        const unsigned other = apart[below(is_careful_ && depth == 0 ? 2 : 7)];
        const bool guarded = is_careful_ && other != 0;
        if (guarded) synchronise(other < 32 ? 3 : 2);
        emit("xor.b32 %r12, " + std::string(is_global ? "%r10" : "%t") + ", " + std::to_string(other) +
             ";\nshl.b32 %r12, %r12, 2;");
        emit(is_global ? "cvt.u64.u32 %l2, %r12;\nadd.s64 %l2, %l2, %a;" : "and.b32 %r12, %r12, 255;");
        const std::string place = is_global ? "[%l2]" : "[%r12]";
        emit(op == "ld" ? "ld" + std::string(is_global ? ".global" : ".shared") + ".u32 " + any() + ", " + place + ";"
                        : "st" + std::string(is_global ? ".global" : ".shared") + ".u32 " + place + ", " + any() + ";");
        if (guarded) synchronise(other < 32 ? 3 : 2);
    }
    void step(int depth) {
        switch (below(depth > 0 ? 16 : 9)) {
            case 0:
            case 1:
                return access("ld", false, depth);
            case 2:
            case 3:
                return access("st", false, depth);
            case 4:
                return access("ld", true, depth);
            case 5:
                return access("st", true, depth);
            case 6:
                return emit("add.u32 " + any() + ", " + any() + ", " + any() + ";");
            case 7:
                return emit("mad.lo.u32 " + any() + ", " + any() + ", 5, " + any() + ";");
            case 8:
                return below(4) == 0 ? tell() : emit("shl.b32 " + any() + ", " + any() + ", 1;");
            case 9:
            case 10:
                return emit("shfl.sync.bfly.b32 " + any() + ", " + any() + ", " + std::to_string(1 + below(16)) +
                            ", 31, " + (below(8) == 0 ? "0xffff;" : "-1;"));
            case 11:
            case 12: {
                const std::string behind = "L" + std::to_string(labels_++);
                emit("and.b32 %r13, %t, " + std::to_string(1U << below(6)) + ";\nsetp.eq.u32 %p1, %r13, 0;\n@%p1 bra " +
                     behind + ";");
                for (unsigned steps = 1 + below(3); steps > 0; --steps) step(depth - 1);
                return emit(behind + ":");
            }
            case 13:
                emit("setp.lt.u32 %p2, " + any() + ", " + any() + ";");
                return emit("vote.sync.ballot.b32 " + any() + ", %p2, -1;");
            case 14:  // threads that leave early
                emit("and.b32 %r13, %t, 51;\nsetp.eq.u32 %p3, %r13, " + std::to_string(below(60)) + ";");
                return emit("@%p3 exit;");
            default:
                return synchronise(below(4) == 0 ? 5 : 2);
        }
    }
    void tell() {
        constexpr const char* ways[] = {"activemask.b32 ", "atom.global.add.u32 ", "ld.volatile.shared.u32 ",
                                        "atom.shared.exch.b32 "};
        constexpr const char* places[] = {";", ", [%a], 1;", ", [16];", ", [second], %t;"};
        const unsigned way = below(4);
        emit(ways[way] + any() + places[way]);
    }

    std::mt19937 random_;
    bool is_careful_;
    std::string text_;
    int labels_ = 0;
};

}  // namespace

TEST_CASE("random kernels of any order give the same in each order") {
    int sure = 0, others = 0, differ = 0;
    for (unsigned seed = 0; seed < 3000; ++seed) {
        const std::string ptx = Program(seed).ptx();
        const std::uint32_t blocks = seed % 8 == 0 ? 32 : 2;  // so many run as if on several host threads
        const Ran first = run(ptx, Order::forward, blocks);
        bool same = true;
        for (const Order order : {Order::reverse, Order::interleaved, Order::ahead})
            same &= run(ptx, order, blocks, 64, device::parse_checks("none")) == first;
        if (!first.any_order) {
            ++others;
            differ += same ? 0 : 1;
            continue;
        }
        ++sure;
        INFO(ptx);
        REQUIRE(same);
    }
    CHECK(sure > 300);
    CHECK(others > 300);
    CHECK(differ > others / 4);  // so that it would have been noticed
}
