// What kernels print: the newest lines stay, and the others are counted.
#include "device/print_buffer.hpp"

#include "judge/catch.hpp"

namespace warpgrade::device {
namespace {

// What stays of a text, how many bytes and lines are gone.
void check(std::uint64_t limit, std::string_view printed, std::string_view kept, std::uint64_t bytes,
           std::uint64_t lines) {
    PrintBuffer buffer(limit);
    buffer.add(printed);
    const PrintedText taken = buffer.take();
    CHECK(taken.text == kept);
    CHECK((taken.dropped_bytes == bytes && taken.dropped_lines == lines));
    CHECK((buffer.empty() && buffer.take().text.empty()));
}

}  // namespace

TEST_CASE("of what is printed, as many of the last lines stay as there is room for") {
    check(12, "abc\ndef\nghi\n", "abc\ndef\nghi\n", 0, 0);
    check(10, "abc\ndef\nghi\n", "def\nghi\n", 4, 1);
    check(4, "abc\ndef\n", "def\n", 4, 1);
    check(5, "a\nbcdef\n", "", 8, 2);    // the last line is longer
    check(4, "abcdefgh", "efgh", 4, 0);  // no line ends
    check(10, std::string(100'000, 'x') + "\nnew\n", "new\n", 100'001, 1);
    PrintBuffer buffer(10);
    for (int i = 0; i < 50'000; ++i) buffer.add("ab\n");
    const auto taken = buffer.take();
    CHECK(taken.text == "ab\nab\nab\n");
    CHECK((taken.dropped_bytes == 149'991 && taken.dropped_lines == 49'997));
}

TEST_CASE("what follows a gap takes the place of all before it") {
    PrintBuffer buffer(100);
    CHECK(buffer.empty());
    buffer.add("old\n");
    CHECK_FALSE(buffer.empty());
    buffer.add(PrintedText{"more\n", 0, 0});
    buffer.add(PrintedText{"new\n", 5, 2});
    auto taken = buffer.take();
    CHECK(taken.text == "new\n");
    CHECK((taken.dropped_bytes == 14 && taken.dropped_lines == 4));
    CHECK(to_string(taken) == "[printf's buffer was full: the first 4 lines, 14 bytes, are missing]\nnew\n");
    CHECK(to_string({"text", 0, 0}) == "text");
    buffer.add(PrintedText{"", 1, 0});
    CHECK_FALSE(buffer.empty());
}

}  // namespace warpgrade::device
