// What ptxas makes of single instructions, as nvdisasm and Nsight Compute show for sm_90 (tests/model/h100.md).
#include "vgpu/code/machine_cost.hpp"

#include "vgpu/code/address_registers.hpp"

#include "judge/catch.hpp"
#include "vgpu/ptx/parser.hpp"

using namespace warpgrade;
using vgpu::MachineCost;

namespace {

MachineCost cost(const std::string& instruction) {
    const auto module = vgpu::ptx::parse(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k() {\n"
        ".reg .b16 %h<9>;\n.reg .b32 %r<9>;\n.reg .b64 %l<9>;\n.reg .f32 %f<9>;\n.reg .f64 %d<9>;\n.reg .pred "
        "%p<9>;\n" +
        instruction + ";\n}\n");
    return vgpu::machine_cost(module.find_function("k")->body.at(0));
}

constexpr MachineCost special = {0, 2}, conversion = {0, 1}, one_double = {0, 0, 1}, product = {0, 0, 0, 1},
                      exchange = {0, 0, 0, 0, 1};

}  // namespace

TEST_CASE("arithmetic on floats and sums of integers are one instruction each") {
    for (const char* simple :
         {"add.f32 %f1, %f2, %f3", "fma.rn.f32 %f1, %f2, %f3, %f4", "add.s32 %r1, %r2, %r3", "mov.b32 %r1, 7",
          "mov.u32 %r1, %tid.x", "ld.global.f32 %f1, [%l1]", "bar.sync 0", "ret"}) {
        CAPTURE(simple);
        CHECK(cost(simple) == MachineCost{});
    }
}

TEST_CASE("a move from register to register is none, whatever their types") {
    for (const char* move : {"mov.b32 %r1, %f1", "mov.b32 %f1, %r1", "mov.u32 %r1, %r2", "mov.b64 %l1, %d1"}) {
        CAPTURE(move);
        CHECK(cost(move) == MachineCost{.moves = 1});
    }
}

TEST_CASE("special functions without subnormal numbers are one instruction for their units") {
    for (const char* fast :
         {"rcp.approx.ftz.f32 %f1, %f2", "rsqrt.approx.ftz.f32 %f1, %f2", "ex2.approx.ftz.f32 %f1, %f2",
          "lg2.approx.ftz.f32 %f1, %f2", "tanh.approx.f32 %f1, %f2", "popc.b32 %r1, %r2", "clz.b32 %r1, %r2"}) {
        CAPTURE(fast);
        CHECK(cost(fast) == special);
    }
    CHECK(cost("sin.approx.f32 %f1, %f2") == MachineCost{1, 2});
    CHECK(cost("rsqrt.approx.f32 %f1, %f2") == MachineCost{3, 2});
    CHECK(cost("ex2.approx.f32 %f1, %f2") == MachineCost{3, 2});
    CHECK(cost("sqrt.rn.f32 %f1, %f2") == MachineCost{.further = 9, .special_halves = 2, .logic = 2});
    CHECK(cost("rcp.rn.f32 %f1, %f2") == MachineCost{.further = 9, .special_halves = 2, .logic = 2});
}

TEST_CASE("a quotient is many instructions, fewer if it may be rounded less well or its divisor is known") {
    CHECK(cost("div.rn.f32 %f1, %f2, %f3") == MachineCost{10, 4});
    CHECK(cost("div.full.f32 %f1, %f2, %f3") == MachineCost{4, 2});
    CHECK(cost("div.approx.ftz.f32 %f1, %f2, %f3") == MachineCost{4, 2});
    CHECK(cost("div.rn.f64 %d1, %d2, %d3") == MachineCost{15, 2, 8});
    CHECK(cost("div.s32 %r1, %r2, %r3") == MachineCost{23, 4, 0, 7, 0, 0, 12});
    CHECK(cost("rem.u32 %r1, %r2, %r3") == MachineCost{17, 4, 0, 6, 0, 0, 7});
    CHECK(cost("rem.s32 %r1, %r2, 7") == MachineCost{5, 0, 0, 3, 0, 0, 2});
    CHECK(cost("rem.s32 %r1, %r2, 8") == MachineCost{3});
    CHECK(cost("rem.u32 %r1, %r2, 8") == MachineCost{});
    CHECK(cost("div.s64 %l1, %l2, %l3") == MachineCost{95, 6, 0, 45, 0, 0, 45});
    CHECK(cost("rem.u64 %l1, %l2, 10") == MachineCost{20, 0, 0, 8});
    CHECK(cost("div.u64 %l1, %l2, 16") == MachineCost{});
}

TEST_CASE("conversions between floats and integers take half as long as a root, those of 64 bits as long") {
    CHECK(cost("cvt.rn.f32.s32 %f1, %r1") == conversion);
    CHECK(cost("cvt.rzi.s32.f32 %r1, %f1") == conversion);
    CHECK(cost("cvt.rmi.f32.f32 %f1, %f2") == conversion);
    CHECK(cost("cvt.f64.f32 %d1, %f1") == special);
    CHECK(cost("cvt.rn.f32.f64 %f1, %d1") == special);
    CHECK(cost("cvt.rn.f64.s32 %d1, %r1") == special);
    CHECK(cost("cvt.s64.s32 %l1, %r1") == MachineCost{});
    CHECK(cost("cvt.rn.f16.f32 %h1, %f1") == MachineCost{});
}

TEST_CASE("doubles, products of integers and exchanges between lanes have units of their own") {
    CHECK(cost("add.f64 %d1, %d2, %d3") == one_double);
    CHECK(cost("fma.rn.f64 %d1, %d2, %d3, %d4") == one_double);
    CHECK(cost("setp.lt.f64 %p1, %d1, %d2") == one_double);
    CHECK(cost("max.f64 %d1, %d2, %d3") == MachineCost{3, 0, 1});
    CHECK(cost("mul.lo.s32 %r1, %r2, %r3") == product);
    CHECK(cost("mul.wide.u32 %l1, %r2, 4") == product);
    CHECK(cost("mad.lo.s32 %r1, %r2, %r3, %r4") == product);
    CHECK(cost("mul.lo.s64 %l1, %l2, %l3") == MachineCost{3, 0, 0, 4});
    CHECK(cost("mul.hi.u64 %l1, %l2, %l3") == MachineCost{9, 0, 0, 4});
    CHECK(cost("shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1") == exchange);
    CHECK(cost("vote.sync.ballot.b32 %r1, %p1, -1") == exchange);
    CHECK(cost("vote.sync.any.pred %p1, %p2, -1") == exchange);
    CHECK(cost("redux.sync.add.s32 %r1, %r2, -1") == MachineCost{0, 0, 0, 0, 2});
}

TEST_CASE("comparisons, selections, shifts and logic go to units of their own; with 64 bits they are two") {
    for (const char* one : {"setp.lt.f32 %p1, %f1, %f2", "min.f32 %f1, %f2, %f3", "max.s32 %r1, %r2, %r3",
                            "and.b32 %r1, %r2, %r3", "shr.u32 %r1, %r2, 3", "selp.b32 %r1, %r2, %r3, %p1"}) {
        CAPTURE(one);
        CHECK(cost(one) == MachineCost{.logic = 1});
    }
    for (const char* two : {"add.s64 %l1, %l2, %l3", "xor.b64 %l1, %l2, %l3", "shr.u64 %l1, %l2, 3",
                            "setp.lt.s64 %p1, %l1, %l2", "selp.b64 %l1, %l2, %l3, %p1"}) {
        CAPTURE(two);
        CHECK(cost(two) == MachineCost{.further = 1, .logic = 2});
    }
    CHECK(cost("shl.b64 %l1, %l2, 3") == MachineCost{.further = 1, .logic = 1});
    CHECK(cost("min.s64 %l1, %l2, %l3") == MachineCost{.further = 3, .logic = 4});
}

TEST_CASE("a sum of 64 bits that is an address is one instruction, or part of the access") {
    const auto module = vgpu::ptx::parse(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k() {\n.reg .b64 %l<9>;\n"
        "shl.b64 %l1, %l2, 2;\nadd.s64 %l3, %l2, %l1;\nadd.s64 %l4, %l3, 8;\nld.global.u64 %l5, [%l4];\n"
        "add.s64 %l6, %l5, 1;\nst.global.u64 [%l3], %l6;\nadd.s64 %l7, %l5, 1;\nxor.b64 %l8, %l7, %l7;\nret;\n}\n");
    const auto* function = module.find_function("k");
    const std::vector<bool> addresses = vgpu::find_address_registers(*function);
    std::vector<std::uint64_t> further;
    for (const auto& in : function->body) further.push_back(vgpu::machine_cost(in, addresses).further);
    CHECK(further == std::vector<std::uint64_t>{0, 0, 0, 0, 1, 0, 1, 1, 0});
}

TEST_CASE("costs add up, and a part of the instructions has its part of them") {
    MachineCost sum = {1, 2, 3, 4, 5};
    sum.add({10, 20, 30, 40, 50}, 3);
    CHECK(sum == MachineCost{31, 62, 93, 124, 155});
    sum.scale(1, 2);
    CHECK(sum == MachineCost{16, 31, 47, 62, 78});
    sum.scale(7, 0);  // nothing was executed
    CHECK(sum == MachineCost{16, 31, 47, 62, 78});
    MachineCost large = {1ULL << 62};
    large.scale(3, 2);
    CHECK(large == MachineCost{3ULL << 61});
}
