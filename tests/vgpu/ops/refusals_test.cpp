// Forms of instructions that PTX or the virtual GPU lacks. Each is refused with the right words, and a form that
// differs only in the faulty part is accepted.
#include <algorithm>
#include <string>
#include <vector>

#include "support/contains.hpp"
#include "vgpu/checks/snippet.hpp"

using namespace warpgrade;
using vgpu::test::Machine;

namespace {

// The error message for a kernel with this line; empty if it is accepted. The line itself never runs.
std::string said_of(const std::string& line) {
    try {
        Machine m(1, vgpu::test::snippet("bra END;\n" + line + "\nEND:"), 1000);
        const auto a = m.upload(std::vector<std::uint32_t>(8)), b = m.upload(std::vector<std::uint32_t>(8));
        m.launch("k", {1}, {32}, a, b);
    } catch (const device::DeviceError& failure) {
        return failure.what();
    }
    return "";
}

struct Form {
    std::string line, said;  // the message; empty if the line is accepted
};

constexpr const char* may_have_more[] = {"cp.async.ca", "mbarrier.arrive", "bar.sync", "wmma.load"};

void check(const std::vector<Form>& forms) {
    for (const Form& form : forms) {
        CAPTURE(form.line);
        const std::string said = said_of(form.line);
        if (!form.said.empty()) {
            CHECK_THAT(said, Contains(form.said));
            continue;
        }
        CHECK(said == "");
        // With an operand more it is refused, or with two more if it has one that may be left out.
        if (form.line.find('\n') != std::string::npos) continue;
        const bool can_have_more =
            std::ranges::any_of(may_have_more, [&](const char* name) { return form.line.starts_with(name); });
        CHECK(said_of(form.line.substr(0, form.line.rfind(';')) + (can_have_more ? ", %r18, %r18;" : ", %r18;")) != "");
    }
}

}  // namespace

TEST_CASE("refused: accesses that are no addresses, or do not fit what they move") {
    check({
        {"ld.global.u32 %r1, [%l1];", ""},
        {"ld.global.u32 %r1, %l1;", "needs an address in brackets"},
        {"st.global.u32 %l1, %r1;", "needs an address in brackets"},
        {"ld.global.v2.u32 {%r1, %r2}, [%l1];", ""},
        {"ld.global.v2.u32 %r1, [%l1];", "number of elements does not fit"},
        {"ld.global.u32 {%r1, %r2}, [%l1];", "number of elements does not fit"},
        {"ld.global.v2.u32 {%r1, %r2, %r3, %r4}, [%l1];", "number of elements does not fit"},
        {"ld.global.v4.u32 {%r1, %r2}, [%l1];", "number of elements does not fit"},
        {"ld.global.v2.u16 {%r1, %h1}, [%l1];", "registers of different widths"},
        {"ld.global.v2.u16 {%r1, _}, [%l1];", ""},
        {"st.global.v2.u16 [%l1], {%h1, 5};", ""},
        {"ld.global.u32 %h1, [%l1];", "register is narrower than the memory type"},
        {"ld.global.u16 %h1, [%l1];", ""},
        {"ld.global.u8 %l2, [%l1];", ""},
        {"ld.global.u64 %r1, [%l1];", "register is narrower than the memory type"},
        {"ld.const.u32 %r1, [%l1];", ""},
        {"st.const.u32 [%l1], %r1;", "is not supported"},
        {"ld.param.u64 %l1, [a];", ""},
        {"ld.param.u32 %r1, [a+4];", ""},
        {"ld.param.u32 %r1, [a+5];", "reaches beyond parameter 'a'"},
        {"ld.param.v2.u32 {%r1, %r2}, [a+4];", "reaches beyond parameter 'a'"},
        {"ld.param.u32 %r1, [a+-1];", "reaches beyond parameter 'a'"},
        {"st.param.u32 [a], %r1;", "kernel parameters are read-only"},
        {"st.param.u32 [%r2], %r1;", "parameters are addressed by name here"},
        {"ld.param.u32 %r1, [%r2];", ""},
    });
}

TEST_CASE("refused: asynchronous copies and barriers in memory that say what they cannot mean") {
    check({
        {"cp.async.ca.shared.global [%r1], [%l1], 4;", ""},
        {"cp.async.ca.shared.global [%r1], [%l1], 8;", ""},
        {"cp.async.ca.shared.global [%r1], [%l1], 16;", ""},
        {"cp.async.ca.shared.global [%r1], [%l1], 5;", "copies 4, 8 or 16 bytes"},
        {"cp.async.ca.shared.global [%r1], [%l1], 12;", "copies 4, 8 or 16 bytes"},
        {"cp.async.ca.shared.global [%r1], [%l1], %r2;", "copies 4, 8 or 16 bytes"},
        {"cp.async.ca.shared.global %r1, [%l1], 4;", "needs an address in brackets"},
        {"cp.async.ca.shared.global [%r1], %l1, 4;", "needs an address in brackets"},
        {"cp.async.ca.shared.global [%r1], [%l1+2147483647], 4;", ""},
        {"cp.async.ca.shared.global [%r1], [%l1+2147483648], 4;", "an address's offset is too large"},
        {"cp.async.wait_group 0;", ""},
        {"cp.async.wait_group %r1;", "waits for a number of groups"},
        {"mbarrier.init.shared.b64 [%r1], %r2;", ""},
        {"mbarrier.init.shared.b64 %r1, %r2;", "needs an address in brackets"},
        {"mbarrier.arrive.shared.b64 %l1, [%r1];", ""},
        {"mbarrier.arrive.shared.b64 _, [%r1];", ""},
        {"mbarrier.arrive.shared.b64 %l1, %r1;", "needs an address in brackets"},
        {"mbarrier.test_wait.shared.b64 %p1, %r1, %l1;", "needs an address in brackets"},
        {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%l1], %r2, [%r3];", ""},
        {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%l1], %r2, [%r3+8];",
         "an offset in the mbarrier's address is not supported"},
    });
}

TEST_CASE("refused: atomics of types that have none") {
    check({
        {"atom.global.add.u32 %r1, [%l1], %r2;", ""},
        {"atom.global.add.u32 %r1, %l1, %r2;", "needs an address in brackets"},
        {"red.global.add.u32 %l1, %r2;", "needs an address in brackets"},
        {"atom.global.cas.b16 %h1, [%l1], %h2, %h3;", ""},
        {"atom.global.add.b16 %h1, [%l1], %h2;", "'atom.global.add.b16' is not supported"},
        {"atom.global.and.f32 %f1, [%l1], %f2;", "'atom.global.and.f32' is not supported"},
        {"atom.global.add.v2.f32 {%f1, %f2}, [%l1], {%f3, %f4};", ""},
        {"atom.global.add.v2.f32 {%f1, %f2}, [%l1], {%f3, %f4, %f5, %f6};", "number of elements does not fit"},
        {"atom.global.add.v4.f32 {%f1, %f2}, [%l1], {%f3, %f4, %f5, %f6};", "number of elements does not fit"},
        {"red.global.add.v2.f32 [%l1], {%f3, %f4};", ""},
    });
}

TEST_CASE("refused: arithmetic, comparisons and conversions that name the wrong types") {
    check({
        {"lop3.b32 %r1, %r2, %r3, %r4, 255;", ""},
        {"lop3.b32 %r1, %r2, %r3, %r4, 256;", "the truth table must be 0 to 255"},
        {"lop3.b32 %r1, %r2, %r3, %r4, %r5;", "the truth table must be 0 to 255"},
        {"setp.lt.s32 %p1, %r1, %r2;", ""},
        {"setp.s32 %p1, %r1, %r2;", "names no comparison"},
        {"setp.ltu.s32 %p1, %r1, %r2;", "comparison not possible for this type"},
        {"setp.ltu.f32 %p1, %f1, %f2;", ""},
        {"set.lt.u32.f32 %r1, %f1, %f2;", ""},
        {"set.lt.u32 %r1, %r2, %r3;", "needs two types"},
        {"set.lt.f16.f16 %h1, %h2, %h3;", ""},
        {"set.lt.u16.f16 %h1, %h2, %h3;", ""},
        {"set.lt.f16.f16x2 %h1, %r2, %r3;", "result type not supported here"},
        {"slct.u32.s32 %r1, %r2, %r3, %r4;", ""},
        {"slct.u32.f32 %r1, %r2, %r3, %f4;", ""},
        {"slct.u32.u32 %r1, %r2, %r3, %r4;", "selects by s32 or f32"},
        {"slct.b64.s32 %l1, %l2, %l3, %r4;", ""},
        {"slct.b16.s32 %h1, %h2, %h3, %r4;", "type not supported here"},
        {"cvt.rn.f16x2.f32 %r1, %f1, %f2;", ""},
        {"cvt.rn.f16x2.s32 %r1, %r2, %r3;", "packs two f32"},
        {"cvt.u32 %r1, %r2;", "needs two types"},
        {"cvt.u64.u32 %l1, %r1;", ""},
        {"cvt.u64.u32 %r1, %r2;", "register does not fit the type"},
        {"cvt.u16.u32 %r1, %r2;", ""},
        {"cvt.rn.f32.s32 %l1, %r2;", "register does not fit the type"},
        {"max.xorsign.abs.f16 %h1, %h2, %h3;", ""},
        {"max.xorsign.f16 %h1, %h2, %h3;", "xorsign and abs stand together"},
        {"max.abs.f16 %h1, %h2, %h3;", "xorsign and abs stand together"},
        {"vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4;", ""},
        {"vabsdiff4.u32.u32.s32.add %r1, %r2, %r3, %r4;", "sources must be of one type"},
        {"mov.b64 %l1, {%r1, %r2};", ""},
        {"mov.b64 {%r1, %r2}, %l1;", ""},
        {"mov.b64 {%r1, %r2}, {%r3, %r4};", "packs and unpacks at once"},
        {"mov.b64 %l1, {%h1, %h2, %h3, %h4};", ""},
        {"mov.b64 %l1, {%r1, %r2, %r3};", "packs two or four parts"},
        {"mov.b32 %r1, {%h1, %h2};", ""},
        {"mov.b32 %r1, {%h1, %h2, %h3, %h4};", "parts of this size are not supported"},
        {"isspacep.global %p1, %l1;", ""},
        {"isspacep.shared %p1, %l1;", ""},
        {"isspacep.const %p1, %l1;", "is not supported"},
        {"isspacep %p1, %l1;", "names no state space"},
        {"cvta.u64 %l1, %l2;", "names no state space"},
        {"cvta.global.u64 %l1, %l2;", ""},
        {"cvta.to.shared.u64 %l1, %l2;", ""},
    });
}

TEST_CASE("accepted: one form of each family, with as many operands as it has") {
    check({
        {"mov.u32 %r1, %r2;", ""},
        {"add.u32 %r1, %r2, %r3;", ""},
        {"add.cc.u32 %r1, %r2, %r3;", ""},
        {"addc.u32 %r1, %r2, %r3;", ""},
        {"mul.wide.u32 %l1, %r2, %r3;", ""},
        {"mul.hi.u32 %r1, %r2, %r3;", ""},
        {"mad.lo.u32 %r1, %r2, %r3, %r4;", ""},
        {"mad.wide.u32 %l1, %r2, %r3, %l4;", ""},
        {"mul24.lo.u32 %r1, %r2, %r3;", ""},
        {"mad24.lo.u32 %r1, %r2, %r3, %r4;", ""},
        {"div.u32 %r1, %r2, %r3;", ""},
        {"rem.s32 %r1, %r2, %r3;", ""},
        {"sad.u32 %r1, %r2, %r3, %r4;", ""},
        {"dp4a.u32.u32 %r1, %r2, %r3, %r4;", ""},
        {"dp2a.lo.u32.u32 %r1, %r2, %r3, %r4;", ""},
        {"abs.s32 %r1, %r2;", ""},
        {"neg.s32 %r1, %r2;", ""},
        {"min.u32 %r1, %r2, %r3;", ""},
        {"not.b32 %r1, %r2;", ""},
        {"cnot.b32 %r1, %r2;", ""},
        {"shl.b32 %r1, %r2, %r3;", ""},
        {"shf.l.wrap.b32 %r1, %r2, %r3, %r4;", ""},
        {"prmt.b32 %r1, %r2, %r3, %r4;", ""},
        {"bfe.u32 %r1, %r2, %r3, %r4;", ""},
        {"bfi.b32 %r1, %r2, %r3, %r4, %r5;", ""},
        {"bfind.u32 %r1, %r2;", ""},
        {"popc.b32 %r1, %r2;", ""},
        {"clz.b32 %r1, %r2;", ""},
        {"brev.b32 %r1, %r2;", ""},
        {"fns.b32 %r1, %r2, %r3, %r4;", ""},
        {"selp.b32 %r1, %r2, %r3, %p1;", ""},
        {"and.pred %p1, %p2, %p3;", ""},
        {"not.pred %p1, %p2;", ""},
        {"fma.rn.f32 %f1, %f2, %f3, %f4;", ""},
        {"add.rn.f32 %f1, %f2, %f3;", ""},
        {"div.rn.f32 %f1, %f2, %f3;", ""},
        {"rcp.rn.f32 %f1, %f2;", ""},
        {"sqrt.rn.f32 %f1, %f2;", ""},
        {"rsqrt.approx.f32 %f1, %f2;", ""},
        {"sin.approx.f32 %f1, %f2;", ""},
        {"ex2.approx.f32 %f1, %f2;", ""},
        {"tanh.approx.f32 %f1, %f2;", ""},
        {"copysign.f32 %f1, %f2, %f3;", ""},
        {"testp.finite.f32 %p1, %f2;", ""},
        {"add.f16 %h1, %h2, %h3;", ""},
        {"fma.rn.f16x2 %r1, %r2, %r3, %r4;", ""},
        {"neg.f16 %h1, %h2;", ""},
        {"cvt.rn.f32.s32 %f1, %r2;", ""},
        {"cvt.rna.tf32.f32 %r1, %f2;", ""},
        {"vote.sync.ballot.b32 %r1, %p1, %r2;", ""},
        {"vote.sync.any.pred %p1, %p2, %r2;", ""},
        {"shfl.sync.idx.b32 %r1, %r2, %r3, %r4, %r5;", ""},
        {"match.any.sync.b32 %r1, %r2, %r3;", ""},
        {"match.all.sync.b32 %r1|%p1, %r2, %r3;", ""},
        {"redux.sync.add.u32 %r1, %r2, %r3;", ""},
        {"activemask.b32 %r1;", ""},
        {"bar.warp.sync %r1;", ""},
        {"membar.gl;", ""},
        {"nanosleep.u32 %r1;", ""},
        {"atom.global.exch.b32 %r1, [%l1], %r2;", ""},
        {"atom.global.cas.b32 %r1, [%l1], %r2, %r3;", ""},
        {"red.global.add.u32 [%l1], %r2;", ""},
        {"ld.global.u32 %r1, [%l1];", ""},
        {"st.global.u32 [%l1], %r1;", ""},
        {"isspacep.local %p1, %l1;", ""},
    });
}

TEST_CASE("refused: branches, calls and barriers without what they need") {
    check({
        {"bra END;", ""},
        {"bra %r1;", "needs a label"},
        {"brx.idx %r1, END;", "no branch table"},
        {"call nobody, ();", "nobody"},
        {"p: .callprototype _ ();\ncall %l1, (), p;", ""},
        {"bar.arrive 1, 64;", ""},
        {"bar.arrive 1;", "needs a number of threads"},
        {"bar.sync 1;", ""},
        {"elect.sync %r1|%p1, -1;", ""},
        {"elect.sync %r1, -1;", "needs a register and a predicate"},
    });
}

TEST_CASE("refused: matrices in shapes, layouts and numbers that there are not") {
    check({
        {"wmma.load.c.sync.aligned.row.m8n8k4.global.f64 {%l1, %l2}, [%l3];", ""},
        {"wmma.load.c.sync.aligned.col.m8n8k4.global.f64 {%l1, %l2}, [%l3];", ""},
        {"wmma.load.c.sync.aligned.row.m8n8k4.global.f64 {%l1, %l2}, %l3;", "needs an address in brackets"},
        {"wmma.load.c.sync.aligned.row.m16n16k16.global.f64 {%l1, %l2}, [%l3];", "no such shape for this type"},
        {"wmma.load.c.sync.aligned.row.m8n8k32.global.f64 {%l1, %l2}, [%l3];", "no such shape for this type"},
        {"wmma.load.a.sync.aligned.row.m8n8k128.global.s4 {%r1}, [%l3];", "no such shape for this type"},
        {"wmma.load.a.sync.aligned.row.m8n8k32.global.b1 {%r1}, [%l3];", "no such shape for this type"},
        {"wmma.load.c.sync.aligned.m8n8k4.global.f64 {%l1, %l2}, [%l3];", "the layout is missing"},
        {"wmma.load.c.sync.aligned.row.m8n8k4.global.f64.f32 {%l1, %l2}, [%l3];", "names one type"},
        {"wmma.load.c.sync.aligned.row.m8n8k4.global.f64 {%l1}, [%l3];", "an operand has 1 registers, expected 2"},
        {"wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%r1}, [%l3];", ""},
        {"wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%r1}, [%l3];",
         "no such layout for elements of less than a byte"},
        {"wmma.load.b.sync.aligned.col.m8n8k32.global.u4 {%r1}, [%l3];", ""},
        {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];", ""},
        {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, %r2;", "needs an address in brackets"},
        {"ldmatrix.sync.aligned.m8n8.shared.b16 {%r1}, [%r2];", "the number of matrices is missing"},
        {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [%r2];", "an operand has 1 registers, expected 2"},
        {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];", ""},
    });
}

TEST_CASE("refused: textures and surfaces without geometry, handle or room for what they give") {
    check({
        {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%l1, {%r1}];", ""},
        {"tex.1d.v4.f32.u32 {%f1, %f2, %f3, %f4}, [%l1, {%r1}];", "coordinates are .f32 or .s32"},
        {"tex.1d.v4.f32 {%f1, %f2, %f3, %f4}, [%l1, {%r1}];", "needs the types of the result and of the coordinates"},
        {"tex.1d.v4.f32.s32 {%f1, %f2}, [%l1, {%r1}];", "needs a result of four"},
        {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, %l1;", "needs [handle, {coordinates}]"},
        {"tex.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%l1, {%r1}];", "needs one of .1d, .2d, .3d, .a1d and .a2d"},
        {"suld.b.1d.v4.b32.trap {%r1, %r2, %r3, %r4}, [%l1, {%r5}];", ""},
        {"suld.b.1d.v2.b64.trap {%l1, %l2}, [%l3, {%r5}];", ""},
        {"suld.b.1d.v4.b64.trap {%l1, %l2, %l3, %l4}, [%l5, {%r5}];", "moves more than 16 bytes"},
        {"suld.b.1d.v2.b32.trap {%r1, %r2, %r3, %r4}, [%l1, {%r5}];", "number of elements does not fit"},
        {"suld.b.1d.v2.b32.trap %r1, [%l1, {%r5}];", "number of elements does not fit"},
        {"sust.b.1d.b32.trap [%l1, {%r5}], {%r1, %r2};", "number of elements does not fit"},
    });
}
