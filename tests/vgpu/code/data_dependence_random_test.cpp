// Random kernels, run with other data: those that are said not to depend on data do the same accesses each time.
#include <random>
#include <string>

#include "judge/catch.hpp"
#include "vgpu/code/decoder.hpp"
#include "vgpu/machine.hpp"
#include "vgpu/ops/opcodes.hpp"
#include "vgpu/ptx/parser.hpp"

using namespace warpgrade;
using Words = std::vector<std::uint32_t>;

namespace {

// A kernel of a block of 64 threads over eight registers, which hold numbers of threads and arguments to begin with:
// arithmetic, selections, exchanges, branches, accesses of an array of data (a), of results (b), and of shared and
// local memory, all of 64 words.
class Program {
  public:
    explicit Program(unsigned seed) : random_(seed) {
        for (int i = 0; i < 10; ++i) step(2);
    }
    [[nodiscard]] std::string ptx() const {
        return ".version 8.0\n.target sm_90\n.address_size 64\n"
               ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n) {\n"
               ".reg .b32 %r<8>, %i;\n.reg .b64 %d, %a, %b;\n.reg .pred %p;\n"
               ".shared .align 4 .b8 tile[256];\n.local .align 4 .b8 own[256];\n"
               "ld.param.u64 %a, [a];\nld.param.u64 %b, [b];\nld.param.u32 %r0, [n];\nmov.u32 %r1, %tid.x;\n"
               "mov.u32 %r2, %laneid;\nmov.u32 %r3, %warpid;\nmov.u32 %r4, 3;\nmov.u32 %r5, %ntid.x;\n"
               "shl.b32 %r6, %r1, 1;\nxor.b32 %r7, %r1, 21;\n" +
               text_ + "ret;\n}\n";
    }

  private:
    unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
    std::string any() { return "%r" + std::to_string(below(8)); }
    void emit(const std::string& line) { text_ += line + "\n"; }
    // Leaves the address of a word in %d or %i.
    void index_of(const std::string& base) {
        emit("and.b32 %i, " + any() + ", 63;");
        emit("shl.b32 %i, %i, 2;");
        if (base.size() > 2) return emit("mov.u32 %r0, " + base + ";\nadd.u32 %i, %i, %r0;");
        emit("cvt.u64.u32 %d, %i;\nadd.u64 %d, %d, " + base + ";");
    }
    void step(int depth) {
        switch (below(depth > 0 ? 12 : 11)) {
            case 0:
                index_of("%a");
                return emit("ld.global.u32 " + any() + ", [%d];");
            case 1:
                index_of("%b");
                return emit("st.global.u32 [%d], " + any() + ";");
            case 2:
                index_of("tile");
                return emit("ld.shared.u32 " + any() + ", [%i];");
            case 3:
                index_of("tile");
                return emit("st.shared.u32 [%i], " + any() + ";");
            case 4:
                index_of("own");
                return emit("ld.local.u32 " + any() + ", [%i];");
            case 5:
                index_of("own");
                return emit("st.local.u32 [%i], " + any() + ";");
            case 6:
                emit("setp.lt.u32 %p, " + any() + ", " + any() + ";");
                return emit("selp.u32 " + any() + ", " + any() + ", " + any() + ", %p;");
            case 7:
                emit("setp.lt.u32 %p, " + any() + ", " + any() + ";");
                return emit("@%p mov.u32 " + any() + ", " + any() + ";");
            case 11: {
                const std::string behind = "L" + std::to_string(labels_++);
                emit("setp.lt.u32 %p, " + any() + ", " + any() + ";\n@%p bra " + behind + ";");
                for (unsigned steps = 1 + below(3); steps > 0; --steps) step(depth - 1);
                return emit(behind + ":");
            }
            default:
                return emit((below(2) ? "add.u32 " : "xor.b32 ") + any() + ", " + any() + ", " + any() + ";");
        }
    }

    std::mt19937 random_;
    std::string text_;
    int labels_ = 0;
};

bool depends_on_data(const std::string& ptx) {
    const auto module = vgpu::ptx::parse(ptx);
    const auto code = vgpu::decode_kernel(module, *module.find_function("k"), {}, vgpu::opcode_table());
    return code.data_dependence.on != vgpu::DataDependence::On::nothing;
}

// All accesses of one run, as text.
std::string accesses_with(const std::string& ptx, unsigned seed) {
    vgpu::VirtualGpuOptions options;
    options.threads = 1;
    options.checks = {false, false, false, false};
    options.trace_accesses = true;
    vgpu::test::Machine machine(options, ptx);
    std::mt19937 random(seed);
    Words data(64);
    for (std::uint32_t& word : data) word = random() % 100;
    const auto a = machine.upload(data), b = machine.upload(Words(64, 0));
    const auto record = machine.launch("k", {1, 1, 1}, {64, 1, 1}, a, b, 40u);
    std::string text = std::to_string(record.counters.inst_executed) + "/" +
                       std::to_string(record.counters.thread_inst_executed) + "/" +
                       std::to_string(record.counters.local_load_sectors);
    for (const device::TracedAccess& access : record.trace.value().accesses) {
        text += "\n" + std::to_string(access.line) + ":" + std::to_string(access.mask);
        for (const std::uint64_t offset : access.offsets) text += " " + std::to_string(offset);
    }
    return text;
}

}  // namespace

TEST_CASE("random kernels that do not depend on data access the same with any") {
    int sure = 0, others = 0, differ = 0;
    for (unsigned seed = 0; seed < 600; ++seed) {
        const std::string ptx = Program(seed).ptx();
        const std::string first = accesses_with(ptx, 1);
        bool same = true;
        for (unsigned data = 2; data < 5; ++data) same &= accesses_with(ptx, data) == first;
        if (depends_on_data(ptx)) {
            ++others;
            differ += same ? 0 : 1;
            continue;
        }
        ++sure;
        INFO(ptx);
        REQUIRE(same);
    }
    CHECK(sure > 100);
    CHECK(others > 100);
    CHECK(differ > others / 4);  // so that it would have been noticed
}
