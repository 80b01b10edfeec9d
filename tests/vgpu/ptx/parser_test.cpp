#include "vgpu/ptx/parser.hpp"
#include <algorithm>
#include <bit>

#include <string>

#include "support/contains.hpp"
#include "vgpu/samples.hpp"

using namespace warpgrade::vgpu::ptx;
using Kind = Operand::Kind;

namespace {

const std::string header = ".version 9.0\n.target sm_90\n.address_size 64\n";

Module in_kernel(const std::string& body) { return parse(header + ".visible .entry k() {\n" + body + "\n}\n"); }
const Function& kernel(const Module& module) { return module.functions.at(0); }

std::string error_of(const std::string& text) {
    try {
        parse(text);
    } catch (const PtxError& error) {
        return error.what();
    }
    return "";
}
std::string error_in_kernel(const std::string& body) {
    return error_of(header + ".visible .entry k() {\n" + body + "\n}\n");
}

const Function& function(const Module& module, const std::string& part) {
    auto found = std::find_if(module.functions.begin(), module.functions.end(), [&](const Function& f) {
        return f.name.find(part) != std::string::npos && !f.is_declaration;
    });
    REQUIRE(found != module.functions.end());
    return *found;
}

const Variable& variable(const Module& module, const std::string& name) {
    auto found = std::find_if(module.variables.begin(), module.variables.end(),
                              [&](const Variable& v) { return v.name == name; });
    REQUIRE(found != module.variables.end());
    return *found;
}

}  // namespace

TEST_CASE("reads version, target and address size") {
    const Module module = parse(".version 8.4\n.target sm_90a, debug\n.address_size 64\n");
    CHECK(module.version_major == 8);
    CHECK(module.version_minor == 4);
    CHECK(module.target == 90);
    CHECK(module.target_name == "sm_90a");
    CHECK_THAT(error_of(".target sm_90"), Contains("PTX line 1") && Contains(".version"));
    CHECK_THAT(error_of(".version 9.0\n.target sm_90\n.address_size 32"), Contains("64-bit"));
}

TEST_CASE("a register of an inner scope shadows the outer one and ends with its scope (trap 1)") {
    const Module module = in_kernel(
        ".reg .pred %p<3>; .reg .b32 %r<4>;\n"
        "setp.ne.s32 %p1, %r1, 0;\n"
        "{ .reg .pred %p1; setp.ne.u32 %p1, %r2, 0; bar.red.popc.u32 %r3, 0, %p1; }\n"
        "@%p1 mov.u32 %r1, 1;\n");
    const Function& f = kernel(module);
    const auto outer = f.body[0].operands[0].reg, inner = f.body[1].operands[0].reg;
    CHECK(outer != inner);
    CHECK(f.body[2].operands[2].reg == inner);
    CHECK(f.body[3].guard == outer);
    CHECK(f.registers[inner].name == "%p1");
    CHECK(f.registers[outer].name == "%p1");
}

TEST_CASE("register ranges, lists and vectors") {
    const Module module = in_kernel(
        ".reg .b32 %r<12>, %r1x; .reg .v2 .f32 %v<2>, w;\n"
        "mov.b32 %r11, %r1x; mov.f32 %v1.y, w.x; st.v2.f32 [%r0], %v0;");
    const Function& f = kernel(module);
    CHECK(f.registers.size() == 19);
    CHECK(f.registers[f.body[0].operands[0].reg].name == "%r11");
    CHECK(f.registers[f.body[0].operands[1].reg].name == "%r1x");
    CHECK(f.registers[f.body[1].operands[0].reg].name == "%v1.y");
    CHECK(f.registers[f.body[1].operands[1].reg].name == "w.x");
    REQUIRE(f.body[2].operands[1].elements.size() == 2);
    CHECK(f.registers[f.body[2].operands[1].elements[1].reg].name == "%v0.y");
    CHECK_THAT(error_in_kernel(".reg .b32 %r<3>; mov.b32 %r3, 0;"), Contains("'%r3'"));
    CHECK_THAT(error_in_kernel(".reg .b32 %r<3>; mov.b32 %r01, 0;"), Contains("'%r01'"));
}

TEST_CASE("labels repeat in sibling scopes, and inner ones come before outer ones") {
    const Module module = in_kernel(
        ".reg .pred p;\n"
        "L: bra L;\n"                         // 0
        "{ bra L; L: @p bra L; bra OUT; }\n"  // 1: to 2, 2: to 2, 3: to 5
        "{ L: bra L; }\n"                     // 4
        "OUT: ret;\n");
    const auto& body = kernel(module).body;
    CHECK(body[0].operands[0].kind == Kind::Label);
    CHECK(body[0].operands[0].target == 0);
    CHECK(body[1].operands[0].target == 2);
    CHECK(body[2].operands[0].target == 2);
    CHECK(body[3].operands[0].target == 5);
    CHECK(body[4].operands[0].target == 4);
    CHECK_THAT(error_in_kernel("bra NOWHERE;"), Contains("line 5") && Contains("NOWHERE"));
    CHECK_THAT(error_in_kernel("{ IN: ret; } bra IN;"), Contains("'IN'"));
}

TEST_CASE("a body never ends without leaving") {
    CHECK(kernel(in_kernel("")).body.size() == 1);
    CHECK(kernel(in_kernel("")).body[0].opcode == "ret");
    CHECK(kernel(in_kernel("exit;")).body.size() == 1);
    CHECK(kernel(in_kernel(".reg .pred p; @p ret;")).body.size() == 2);
    const Module module = in_kernel("bra END; END:");
    CHECK(kernel(module).body.size() == 2);
    CHECK(kernel(module).body[0].operands[0].target == 1);
}

TEST_CASE("immediates of every form (trap 9)") {
    const Module module = in_kernel(
        ".reg .b64 d; .reg .pred p;\n"
        "add d, -1431655765, 0x1F; add d, 0XFFU, 010; add d, 0b101U, 4000000000U; add d, 0f3F800000, "
        "0d4000000000000000;\n"
        "add d, -0f3F800000, 1.5; add d, -2.5e-1, ~0; add d, WARP_SZ, -9223372036854775808; add d, "
        "18446744073709551615, 0;");
    std::vector<Operand> values;
    for (const Instruction& instruction : kernel(module).body) {
        if (instruction.operands.size() != 3) continue;
        values.push_back(instruction.operands[1]);
        values.push_back(instruction.operands[2]);
    }
    const auto integer = [&](std::size_t i) { return static_cast<std::int64_t>(values.at(i).imm); };
    CHECK(integer(0) == -1431655765);
    CHECK(integer(1) == 31);
    CHECK(integer(2) == 255);
    CHECK(integer(3) == 8);
    CHECK(integer(4) == 5);
    CHECK(integer(5) == 4000000000);
    CHECK(values[6].imm_type == Type::F32);
    CHECK(values[6].imm == 0x3f800000);
    CHECK(values[7].imm_type == Type::F64);
    CHECK(std::bit_cast<double>(values[7].imm) == 2.0);
    CHECK(values[8].imm == 0xbf800000);
    CHECK(std::bit_cast<double>(values[9].imm) == 1.5);
    CHECK(std::bit_cast<double>(values[10].imm) == -0.25);
    CHECK(integer(11) == -1);
    CHECK(integer(12) == 32);
    CHECK(integer(13) == INT64_MIN);
    CHECK(integer(14) == -1);
    for (const char* wrong : {"0x", "12abc", "0b2", "08", "0f3F80", "18446744073709551616", "1e999"}) {
        CAPTURE(wrong);
        CHECK_THAT(error_in_kernel(std::string(".reg .b64 d; mov.b64 d, ") + wrong + ";"), Contains("line 5"));
    }
}

TEST_CASE("operands: addresses, vectors, pairs, sinks, specials, negation") {
    const Module module = parse(header +
                                ".global .b32 g[4];\n.visible .entry k(.param .u64 .ptr .global .align 4 k_param_0) {\n"
                                ".reg .b64 %rd<3>; .reg .b32 %r<9>; .reg .pred %p<3>; .reg .f32 %f<6>;\n"
                                "ld.param.u64 %rd1, [k_param_0];\n"
                                "ld.global.L1::no_allocate.v2.b32 {%r1, _}, [%rd1+-8];\n"
                                "ld.global.b32 %r1, [g+12]; mov.u64 %rd2, g+4; ld.shared.b32 %r1, [256];\n"
                                "shfl.sync.down.b32 %r1|%p1, %r2, 16, 31, -1;\n"
                                "vote.sync.all.pred %p1, !%p2, 0xffffffff; mov.u32 %r2, %tid.x;\n"
                                "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f2, %f5}];\n"
                                "setp.lt.and.s32 %p1|_, %r1, %r2, !%p2;\n}\n");
    const auto& body = kernel(module).body;
    const auto& parameter = kernel(module).parameters.at(0);
    CHECK(parameter.align == 8);
    CHECK(parameter.bytes == 8);
    CHECK(body[0].operands[1].symbol == "k_param_0");
    CHECK(body[1].modifiers == std::vector<std::string>{"global", "L1::no_allocate", "v2", "b32"});
    CHECK(body[1].operands[0].elements[1].kind == Kind::None);
    CHECK(body[1].operands[1].kind == Kind::Address);
    CHECK(body[1].operands[1].offset == -8);
    CHECK(body[2].operands[1].symbol == "g");
    CHECK(body[2].operands[1].offset == 12);
    CHECK(body[3].operands[1].kind == Kind::Symbol);
    CHECK(body[3].operands[1].offset == 4);
    CHECK(body[4].operands[1].imm == 256);
    CHECK(body[5].operands[0].kind == Kind::Pair);
    CHECK(body[6].operands[1].negated);
    CHECK(body[7].operands[1].kind == Kind::Special);
    CHECK(body[7].operands[1].symbol == "%tid.x");
    REQUIRE(body[8].operands[1].elements.size() == 1);
    CHECK(body[8].operands[1].elements[0].elements.size() == 2);
    CHECK(body[9].operands[0].elements[1].kind == Kind::None);
    CHECK(body[9].operands[3].negated);
}

TEST_CASE("calls: operands have fixed places") {
    const Module module =
        parse(header +
              ".func (.param .b32 r) f(.param .b32 a);\n.func g();\n.visible .entry k() {\n"
              ".reg .b64 %rd<3>;\n"
              "{ .param .b32 param0; .param .b32 retval0; call.uni (retval0), f, (param0); }\n"
              "call.uni g; call g, ();\n"
              "{ .param .b32 param0; .param .b32 retval0;\n"
              "proto : .callprototype (.param .b32 _) _ (.param .b32 _);\n"
              "call (retval0), %rd1, (param0), proto; }\n"
              "{ .param .b64 param0; call %rd2, (param0), p2; p2: .callprototype ()_ (.param .b64 _); }\n"
              "T: .calltargets f, g; call %rd2, T;\n}\n");
    const Function& f = function(module, "k");
    CHECK(f.body[0].operands.size() == 3);
    CHECK(f.body[0].operands[0].elements.at(0).symbol == "retval0");
    CHECK(f.body[0].operands[1].symbol == "f");
    CHECK(f.body[1].operands[0].kind == Kind::None);
    CHECK(f.body[1].operands[2].elements.empty());
    CHECK(f.body[3].operands[1].kind == Kind::Register);
    CHECK(f.body[3].operands[3].symbol == "proto");
    CHECK(f.body[3].operands[2].elements.at(0).symbol == "param0");    // shares storage with the first call's
    CHECK(f.body[4].operands[2].elements.at(0).symbol == "param0@2");  // wider: its own
    CHECK(f.body[4].operands[3].symbol == "p2");
    CHECK(f.body[5].operands[3].symbol == "T");
    CHECK(f.variables.size() == 3);
    CHECK(f.prototypes.size() == 2);
    CHECK(f.prototypes[0].returns.size() == 1);
    CHECK(f.call_targets.at(0).second == std::vector<std::string>{"f", "g"});
    CHECK(module.find_function("f")->is_declaration);
}

TEST_CASE("brx.idx: branch targets are resolved") {
    const Module module =
        in_kernel(".reg .b32 %r1;\nTABLE: .branchtargets A, B,\n A;\nbrx.idx %r1, TABLE;\nA: exit;\nB: ret;");
    const Function& f = kernel(module);
    CHECK(f.branch_targets.at(0).first == "TABLE");
    CHECK(f.branch_targets.at(0).second == std::vector<std::uint32_t>{1, 2, 1});
    CHECK(f.body[0].operands[1].symbol == "TABLE");
}

TEST_CASE("variables: arrays, initial values, addresses") {
    const Module module = parse(header +
                                ".global .align 4 .b8 bytes[8] = {1, 2, 255};\n"
                                ".const .f32 f = 0f3FC00000; .const .f64 d = 1.5; .global .u64 all = -1;\n"
                                ".global .align 8 .u64 p[2] = {generic(bytes)+4, bytes-4};\n"
                                ".global .s16 matrix[2][3] = {{1, 2}, {-1, 0x10, 3}};\n"
                                ".global .b32 open[] = {5, 6, 7}; .extern .shared .align 16 .b8 s[];\n"
                                ".visible .global .attribute(.managed) .align 4 .u32 m = 7;\n"
                                ".global .v4 .f32 v = {0f00000000, 1.0, 0f40000000, 3};\n");
    CHECK(variable(module, "bytes").initial == std::vector<std::uint8_t>{1, 2, 255, 0, 0, 0, 0, 0});
    CHECK(variable(module, "f").initial == std::vector<std::uint8_t>{0, 0, 0xc0, 0x3f});
    CHECK(variable(module, "d").initial == std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 0xf8, 0x3f});
    CHECK(variable(module, "all").initial == std::vector<std::uint8_t>(8, 0xff));
    const Variable& p = variable(module, "p");
    REQUIRE(p.relocations.size() == 2);
    CHECK((p.relocations[0].generic && p.relocations[0].addend == 4 && p.relocations[0].offset == 0));
    CHECK((!p.relocations[1].generic && p.relocations[1].addend == -4 && p.relocations[1].offset == 8));
    CHECK(variable(module, "matrix").initial == std::vector<std::uint8_t>{1, 0, 2, 0, 0, 0, 0xff, 0xff, 0x10, 0, 3, 0});
    CHECK(variable(module, "open").bytes == 12);
    CHECK(variable(module, "s").bytes == 0);
    CHECK((variable(module, "s").is_extern && variable(module, "s").align == 16));
    CHECK((variable(module, "m").is_managed && variable(module, "m").is_visible));
    CHECK(variable(module, "v").bytes == 16);
    CHECK(variable(module, "v").initial[7] == 0x3f);
    CHECK_THAT(error_of(header + ".global .b8 a[2] = {1, 2, 3};"), Contains("more initial values"));
    CHECK_THAT(error_of(header + ".global .u64 a = nowhere;"), Contains("nowhere"));
}

TEST_CASE("an address in single bytes becomes one relocation") {
    std::string bytes;
    for (int i = 0; i < 8; ++i) {
        if (i > 0) bytes += ", ";
        bytes += i == 0 ? "0XFF" : "0xFF";
        bytes.append(2 * static_cast<std::size_t>(i), '0').append("(generic(x)+4)");
    }
    const Module module = parse(header + ".global .u32 x[2];\n.global .align 1 .u8 pk[9] = {1, " + bytes + "};\n");
    const Variable& packed = variable(module, "pk");
    REQUIRE(packed.relocations.size() == 1);
    CHECK(packed.relocations[0].offset == 1);
    CHECK(packed.relocations[0].bytes == 8);
    CHECK(packed.relocations[0].addend == 4);
    CHECK(packed.relocations[0].symbol == "x");
    CHECK_THAT(error_of(header + ".global .u32 x; .global .u8 pk[9] = {0xFF(x), 0xFF00(x), 1};"),
               Contains("incomplete"));
    CHECK_THAT(error_of(header + ".global .u32 x; .global .u8 pk[9] = {0xFF00(x)};"), Contains("in order"));
}

TEST_CASE("a local variable never hides behind a module's of the same name") {
    const Module module = parse(header +
                                ".global .b32 x;\n.visible .entry k() { .reg .b64 r;\n"
                                "{ .shared .b32 x; mov.u64 r, x; } mov.u64 r, x; }\n");
    const auto& body = kernel(module).body;
    CHECK(body[0].operands[1].symbol == "x@2");
    CHECK(body[1].operands[1].symbol == "x");
}

TEST_CASE("lines: inlined frames lead to the outermost line (trap 4)") {
    const Module module = in_kernel(
        ".loc 1 12 2\nmembar.cta;\n"
        ".loc 2 440 9, function_name $L__info_string0, inlined_at 1 12 2\nmembar.gl;\n"
        ".loc 3 7 1, function_name $L__info_string1+4, inlined_at 2 440 9\nmembar.sys;\n"
        ".loc 6 0 5\nret;\n.file 1 \"student.cu\"");
    const auto& body = kernel(module).body;
    CHECK(module.locations[body[0].location].line == 12);
    CHECK(module.locations[body[2].location].line == 7);
    CHECK(module.outermost(body[2].location).line == 12);
    CHECK(module.outermost(body[2].location).file == 1);
    CHECK(body[3].location == body[2].location);  // line 0 belongs to the line before it
    CHECK(*module.file_name(1) == "student.cu");
    CHECK(module.file_name(2) == nullptr);
    CHECK(module.outermost(0).line == 0);
}

TEST_CASE("directives of kernels, sections and pragmas") {
    const Module module =
        parse(header +
              ".visible .entry k() .maxntid 256, 1, 1 .minnctapersm 2 .maxnreg 64 .pragma \"abi\";\n"
              "{ .pragma \"other\"; ret; .pragma \"nounroll\"; ret; }\n.entry q .reqntid 32, 4 { ret; }\n"
              ".section .debug_info { .b32 4 { L: .b64 x-y } }\n.pragma \"z\";");
    CHECK(module.functions[0].max_ntid[0] == 256);
    CHECK(module.functions[0].min_nctapersm == 2);
    CHECK(module.functions[0].nounroll == std::vector<std::uint32_t>{1});
    CHECK(module.functions[1].req_ntid[1] == 4);
    CHECK(module.functions[1].req_ntid[2] == 1);
}

TEST_CASE(".alias makes a second function") {
    const Module module =
        parse(header + ".func a();\n.func b() { ret; }\n.alias a, b;\n.visible .entry k() { call a; ret; }\n");
    CHECK(module.functions[0].name == "a");
    CHECK(module.functions[0].body.size() == 1);
    CHECK_THAT(error_of(header + ".func a();\n.alias a, c;"), Contains("'c'"));
}

TEST_CASE("what nvcc emits, in both of its dialects (trap 10)") {
    for (const std::string& name : sample_names("ptx")) {
        CAPTURE(name);
        const Module module = parse(sample(name));
        CHECK(module.target == (name.find("sm_100") != std::string::npos ? 100 : 90));
        CHECK(std::none_of(module.functions.begin(), module.functions.end(),
                           [](const Function& f) { return f.is_entry && (f.body.empty() || f.is_declaration); }));
        CHECK(module.file_name(1) != nullptr);
    }
}

TEST_CASE("nvcc's calls and their data") {
    for (const char* name : {"calls.sm_90.ptx", "calls.sm_100.ptx"}) {
        CAPTURE(name);
        const Module module = parse(sample(name));
        CHECK(variable(module, "functions").relocations.size() == 2);
        CHECK(variable(module, "middle").relocations.at(0).addend == 16);
        CHECK(variable(module, "packed").relocations.at(0).offset == 1);
        CHECK(variable(module, "weights").initial.size() == 12);
        const Function& calls = function(module, "callsPii");
        CHECK(calls.is_entry);
        CHECK(calls.max_ntid[0] == 128);
        CHECK(calls.min_nctapersm == 2);
        CHECK(calls.prototypes.size() == 1);
        CHECK(function(module, "fibonacci").returns.size() == 1);
    }
}

TEST_CASE("nvcc's inlined lines lead back into the kernel") {
    const Module module = parse(sample("votes.sm_90.ptx"));
    const Function& votes = function(module, "votes");
    for (const Instruction& instruction : votes.body) {
        if (instruction.opcode != "shfl") continue;
        const Location line = module.outermost(instruction.location);
        CHECK_THAT(*module.file_name(line.file), Contains("votes.cu"));
        CHECK((line.line == 13 || line.line == 17));
    }
}

TEST_CASE("blanks and comments carry no meaning") {
    const std::string text = sample("votes.sm_90.ptx");
    std::string stripped;  // as in a fatbinary: no comments, single blanks
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.compare(i, 2, "//") == 0) i = text.find('\n', i);
        const bool blank = text[i] == ' ' || text[i] == '\t';
        if (blank && (stripped.empty() || stripped.back() == ' ' || stripped.back() == '\n')) continue;
        stripped += text[i] == '\t' ? ' ' : text[i];
    }
    stripped += std::string(5, '\0');
    const Module full = parse(text), bare = parse(stripped);
    REQUIRE(full.functions.size() == bare.functions.size());
    CHECK(full.functions[0].body.size() == bare.functions[0].body.size());
    CHECK(full.locations.size() == bare.locations.size());
    CHECK_NOTHROW(parse("/* a\nb */ .version 9.0 // c\n.target sm_75\n"));
}
