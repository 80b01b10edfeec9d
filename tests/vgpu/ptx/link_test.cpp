// Linking separately compiled PTX modules.
#include "vgpu/ptx/link.hpp"
#include "judge/catch.hpp"
#include "vgpu/ptx/parser.hpp"

using namespace warpgrade::vgpu;

namespace {

constexpr const char* head = ".version 9.0\n.target sm_90\n.address_size 64\n";

ptx::Module linked(const std::string& first, const std::string& second) {
    std::vector<ptx::Module> modules;
    for (const std::string& text : {first, second}) modules.push_back(ptx::parse(head + text));
    return ptx::link(std::move(modules));
}

const ptx::Variable& variable(const ptx::Module& module, const std::string& name) {
    for (const ptx::Variable& v : module.variables)
        if (v.name == name) return v;
    FAIL("no variable " << name);
    throw 0;
}

}  // namespace

TEST_CASE("an extern name gets the other file's definition, in either order") {
    const std::string use =
        ".extern .global .align 4 .u32 x;\n.extern .func f();\n"
        ".visible .entry k() { call.uni f, (); ret; }\n";
    const std::string definition = ".visible .global .align 4 .u32 x = 5;\n.visible .func f() { ret; }\n";
    for (const auto& module : {linked(use, definition), linked(definition, use)}) {
        CHECK(module.variables.size() == 1);
        CHECK(module.functions.size() == 2);
        CHECK_FALSE(variable(module, "x").is_extern);
        CHECK(variable(module, "x").initial.size() == 4);
        CHECK_FALSE(module.find_function("f")->is_declaration);
    }
}

TEST_CASE("names that a file keeps to itself stay apart, where they are used too") {
    const std::string text =
        ".global .align 1 .b8 $str[2] = {65, 0};\n.global .align 1 .b8 $str$1[2] = {66, 0};\n"
        ".func f() { ret; }\n";
    const std::string kernel = "() { .reg .b64 %rd<2>; mov.u64 %rd1, $str; call.uni f, (); ret; }\n";
    const auto module = linked(text + ".visible .entry a" + kernel, text + ".visible .entry b" + kernel);
    CHECK(module.variables.size() == 4);
    const auto& a = *module.find_function("a");
    const auto& b = *module.find_function("b");
    CHECK(a.body[0].operands[1].symbol == "$str");
    CHECK(b.body[0].operands[1].symbol != "$str");
    variable(module, b.body[0].operands[1].symbol);
    CHECK(b.ptx_line > a.ptx_line);
}

TEST_CASE("of weak definitions one is kept, of others two are an error") {
    const std::string weak = ".weak .global .align 4 .u32 x = 1;\n", strong = ".visible .global .align 4 .u32 x = 2;\n";
    CHECK(variable(linked(weak, weak), "x").initial[0] == 1);
    CHECK(variable(linked(weak, strong), "x").initial[0] == 2);
    CHECK(variable(linked(strong, weak), "x").initial[0] == 2);
    CHECK_THROWS_AS(linked(strong, strong), ptx::PtxError);
    const std::string function = ".visible .func f() { ret; }\n";
    CHECK_THROWS_AS(linked(function, function), ptx::PtxError);
}
