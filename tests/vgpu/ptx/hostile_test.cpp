// PTX is the student's: whatever it contains, parse() returns or throws PtxError, quickly and with little memory.
#include <random>
#include <string>

#include "support/contains.hpp"
#include "vgpu/ptx/parser.hpp"
#include "vgpu/samples.hpp"

using namespace warpgrade::vgpu::ptx;

namespace {

const std::string header = ".version 9.0\n.target sm_90\n.address_size 64\n";

// True if the text was refused. Any other exception than PtxError fails the test.
bool refused(const std::string& text) {
    try {
        const Module module = parse(text);
        for (const Function& function : module.functions) {
            for (const Instruction& instruction : function.body) (void)module.outermost(instruction.location);
        }
        return false;
    } catch (const PtxError&) {
        return true;
    }
}

std::string repeat(const std::string& part, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text += part;
    return text;
}

std::string in_kernel(const std::string& body) { return header + ".entry k() {\n" + body + "\n}\n"; }

}  // namespace

TEST_CASE("a truncated module is refused or parsed, never worse") {
    for (const std::string& name : sample_names("ptx")) {
        const std::string text = sample(name);
        const std::size_t step = 1 + text.size() / 700;
        for (std::size_t length = 0; length < text.size(); length += step) {
            CAPTURE(name, length);
            refused(text.substr(0, length));
        }
    }
    SUCCEED();
}

TEST_CASE("a mutated module is refused or parsed, never worse") {
    std::mt19937 random(42);
    const std::string bytes = "{}[]()<>;,:.+-!@%|_\"/*\n 0189xfdUabrLeg$=~";
    for (const std::string& name : sample_names("ptx")) {
        const std::string text = sample(name);
        for (int round = 0; round < 500; ++round) {
            std::string mutant = text;
            for (int edit = 0, edits = 1 + static_cast<int>(random() % 4); edit < edits; ++edit) {
                const std::size_t at = random() % mutant.size();
                switch (random() % 4) {
                    case 0:
                        mutant[at] = bytes[random() % bytes.size()];
                        break;
                    case 1:
                        mutant.erase(at, 1 + random() % 12);
                        break;
                    case 2:
                        mutant.insert(at, 1, bytes[random() % bytes.size()]);
                        break;
                    case 3:
                        mutant.insert(at, text.substr(random() % text.size(), random() % 80));
                        break;
                }
            }
            CAPTURE(name, round);
            refused(mutant);
        }
    }
    SUCCEED();
}

TEST_CASE("sizes out of all proportion are refused") {
    CHECK(refused(in_kernel(".reg .b32 %r<4000000000>;")));
    CHECK(refused(in_kernel(".reg .b32 %r<18446744073709551615>;")));
    CHECK(refused(in_kernel(repeat(".reg .b32 a<1000000>;{", 50))));
    CHECK(refused(header + ".global .b8 x[18446744073709551615];"));
    CHECK(refused(header + ".global .b64 x[4294967296][4294967296];"));
    CHECK(refused(header + ".global .b64 x[2305843009213693952];"));
    CHECK(refused(header + ".global .b8 x[1000000000] = {1};"));
    CHECK(refused(header + repeat(".global .b8 x[200000000] = {1};", 2)));
    CHECK(refused(header + ".global .b8 x[][1000000000] = {{1}, {2}};"));
    CHECK(refused(header + ".global .b8 x[][0] = {{}, {}, {1}};"));
    CHECK(refused(in_kernel(".local .b8 x[60000000000];")));
    CHECK(refused(in_kernel(repeat("{ .shared .b8 x[6000000]; }", 3))));
    CHECK(refused(header + ".global .align 3 .b8 x;"));
    CHECK(refused(header + ".entry k(.param .b8 p[99999999999]) { ret; }"));
    CHECK_FALSE(refused(header + ".global .b8 x[1000000] = {1};"));
}

TEST_CASE("depth is bounded") {
    const std::size_t deep = 200000;
    CHECK(refused(in_kernel(repeat("{", deep) + repeat("}", deep))));
    CHECK(refused(in_kernel("mov.b32 " + repeat("{", deep) + repeat("}", deep) + ";")));
    CHECK(refused(in_kernel("mov.b32 " + repeat("[0,", deep))));
    CHECK(refused(header + ".global .b8 x[2] = " + repeat("{", deep) + ";"));
    CHECK(refused(header + ".global .b8 x" + repeat("[1]", deep) + ";"));
    CHECK(refused(header + ".section .s " + repeat("{", deep)));
    CHECK(refused(header + ".global .attribute" + repeat("(", deep)));
    CHECK_FALSE(refused(header + ".section .s " + repeat("{", deep) + repeat("}", deep)));
}

TEST_CASE("long chains stay linear") {
    std::string locations = ".loc 1 1 1\nret;\n", pending = repeat("{", 60);
    for (int i = 2; i < 20000; ++i) {
        const std::string before = std::to_string(i - 1), now = std::to_string(i);
        locations += ".loc 1 " + now + " 1, function_name f, inlined_at 1 " + before + " 1\nret;\n";
        pending += "bra L" + now + ";";
    }
    CHECK_FALSE(refused(in_kernel(locations)));
    CHECK(refused(in_kernel(pending + repeat("}", 60))));
    CHECK(refused(in_kernel(".reg .b32 r; mov.b32 r, {" + repeat("r,", 5000) + "r};")));
    CHECK(refused(in_kernel(".reg .b32 r; mov.b32 " + repeat("r,", 5000) + "r;")));
    CHECK(refused(in_kernel("mov" + repeat(".b32", 5000) + ";")));
    const std::string function = ".func b() {" + repeat("membar.cta;", 5000) + "}\n";
    std::string aliases;
    for (int i = 0; i < 2000; ++i) {
        aliases += ".func a" + std::to_string(i) + "();\n.alias a" + std::to_string(i) + ", b;\n";
    }
    CHECK(refused(header + function + aliases));
}

TEST_CASE("names are checked") {
    CHECK(refused(in_kernel(".reg .b32 r; .reg .b32 r;")));
    CHECK(refused(in_kernel(".reg .b32 r; @r ret;")));
    CHECK(refused(in_kernel("@1 ret;")));
    CHECK(refused(in_kernel("L: L: ret;")));
    CHECK(refused(in_kernel("T: .branchtargets T; ret;")));
    CHECK(refused(in_kernel("L: ld.b32 _, [L];")));
    CHECK(refused(in_kernel("mov.u32 _, %nonsense;")));
    CHECK(refused(in_kernel("mov.u32 _, %tid.q;")));
    CHECK(refused(header + ".entry k() {ret;} .entry k() {ret;}"));
    CHECK(refused(header + ".global .b32 k; .entry k() {ret;}"));
    CHECK(refused(header + ".entry k(.param .b32 a, .param .b32 a) {ret;}"));
    CHECK(refused(header + ".global .texref t;"));
    CHECK(refused("\xff\xfe"));
    CHECK(refused(""));
}
