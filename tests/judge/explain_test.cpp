#include <csignal>

#include "judge/explain.hpp"
#include "support/contains.hpp"

using namespace warpgrade;
using namespace warpgrade::judge;

namespace {

const CallSpec spec{"f", {{wire::Kind::in, wire::Type::f32, 0, {}, 10}}, wire::Type::none, {"x"}};

wire::Reply crash(std::uint64_t address) {
    wire::Reply reply;
    reply.status = wire::Status::crashed;
    reply.signal = SIGSEGV;
    reply.address = address;
    return reply;
}

}  // namespace

TEST_CASE("an address says what was done wrong") {
    CHECK_THAT(explain(crash(0), spec), Contains("null pointer"));
    CHECK_THAT(explain(crash(0x0700'0000'0000), spec), Contains("device pointer 0x70000000000"));
    CHECK_THAT(explain(crash(0x0100'0000'0010), spec), Contains("device pointer"));
    CHECK_THAT(explain(crash(0x7fff'0000'0000), spec), Contains("at address 0x7fff00000000"));
    auto guard = crash(1);
    guard.argument = 0;
    guard.distance = 12;
    CHECK_THAT(explain(guard, spec), Contains("12 bytes past the end of x (an input of f, 10 float)"));
}

// Replies come from the process that holds the student's code.
TEST_CASE("hostile replies make no harm") {
    auto reply = crash(1);
    reply.argument = 1000;
    CHECK_THAT(explain(reply, spec), Contains("an argument of f"));
    reply.status = wire::Status::threw;
    reply.text_bytes = 0xffffffff;
    reply.text[0] = '\x1b';
    CHECK(explain(reply, spec).size() < 1000);
    CHECK_THAT(explain(reply, spec), !Contains("\x1b"));
    reply.status = static_cast<wire::Status>(12345);
    CHECK_THAT(explain(reply, spec), Contains("judge's connection"));
    CHECK(tame("a\nb\rc\x7f") == "a b c ");
}

TEST_CASE("an end without a word is explained by its exit code") {
    CHECK_THAT(explain_exit(0, spec), Contains("called exit(0) inside f"));
    CHECK_THAT(explain_exit(128 + SIGKILL, spec), Contains("killed"));
    CHECK_THAT(explain_exit(-1, spec), Contains("closed"));
}
