#include "judge/assertion.hpp"
#include "support/contains.hpp"

using namespace warpgrade::judge;

TEST_CASE("of what a test calls its values, plain names are shown") {
    CHECK(checked_value("C, near(expected)") == "C");
    CHECK(checked_value("rows[3], equals_exactly(a, b)") == "rows[3]");
    for (const char* expression : {"run.output, near(expected)", "compared.submission.output, near(x)",
                                   "rows[i], near(x)", "submission().call<f>(in(x), n), near(expected)",
                                   "p->x, near(x)", "3, near(x)", "a[], near(x)", "", "ns::x, near(x)"})
        CHECK(checked_value(expression) == "the result");
}

TEST_CASE("an assertion of plain values is told in words") {
    CHECK(explain_assertion("CHECK", "count == 100", "99 == 100") == "count: 99, expected 100");
    CHECK(explain_assertion("CHECK", "run.sectors <= limit", "8192 (0x2000) <= 512 (0x200)") ==
          "the result: 8192, expected at most 512");
    CHECK(explain_assertion("CHECK", "width >= 4", "3 >= 4") == "width: 3, expected at least 4");
    CHECK(explain_assertion("CHECK", "f<int>(x) < y", "3 < 2") == "the result: 3, expected less than 2");
    CHECK(explain_assertion("CHECK", "x > y", "2 > 3") == "x: 2, expected more than 3");
    CHECK(explain_assertion("REQUIRE", "x != y", "2 != 2") == "x: 2, expected anything but 2");
    CHECK(explain_assertion("CHECK", "ok", "false") == "ok: false, expected true");
    CHECK(explain_assertion("CHECK", "run.ok()", "false") == "the result: false, expected true");
    CHECK(explain_assertion("CHECK_FALSE", "x", "true") == "x: true, expected false");
    CHECK(explain_assertion("CHECK_FALSE", "x == 3", "3 == 3") == "the result: true, expected false");
    CHECK(explain_assertion("CHECK", "x == y", "1 (0x == 2 (0x2)") == "x: 1 (0x, expected 2");
}
