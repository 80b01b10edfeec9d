#include "resume/preprocessed.hpp"

#include <random>
#include <string>
#include <vector>

#include "judge/catch.hpp"

using warpgrade::resume::Preprocessed;
using warpgrade::resume::word_after;

namespace {

const std::string runtime =
    "# 0 \"<built-in>\"\n# 1 \"/opt/cuda_runtime.h\" 1\nint given;\n\n# 0 \"<command-line>\" 2\n";
const std::string cstdio = "# 1 \"/usr/include/cstdio\" 1 3\nint puts();\n\n\n# 2 \"/usr/include/cstdio\" 3\n\n";

std::vector<std::string> headers(std::string_view text, std::size_t* end = nullptr) {
    Preprocessed parts(text, "sums.cu");
    std::vector<std::string> found;
    for (auto header = parts.next_header(); !header.empty(); header = parts.next_header()) found.emplace_back(header);
    if (end != nullptr) *end = parts.position();
    return found;
}

}  // namespace

TEST_CASE("the headers of a unit are the same however many empty lines are between them") {
    const auto near =
        "# 0 \"sums.cu\"\n" + runtime + "# 1 \"sums.cu\"\n# 1 \"sums.cu\"\n" + cstdio + "# 2 \"sums.cu\" 2\nint x;\n";
    const auto far =
        "# 0 \"sums.cu\"\n" + runtime + "# 1 \"sums.cu\"\n\n\n\n# 4 \"sums.cu\"\n" + cstdio + "# 12 \"sums.cu\" 2\n";
    std::size_t end = 0;
    CHECK(headers(near, &end) == std::vector{runtime, cstdio});
    CHECK(near.substr(end) == "# 2 \"sums.cu\" 2\nint x;\n");
    CHECK(headers(far, &end) == std::vector{runtime, cstdio});
    CHECK(far.substr(end) == "# 12 \"sums.cu\" 2\n");
}

TEST_CASE("a line of the unit's own ends them, also one that is no more than a pragma") {
    for (const char* line : {"int x;\n", "#pragma once\n", " \n", "x", "#", "# "}) {
        std::size_t end = 0;
        const auto text = runtime + "# 1 \"sums.cu\"\n" + line + cstdio + "# 2 \"sums.cu\" 2\n";
        INFO(line);
        CHECK(headers(text, &end).front() == runtime);
        CHECK((std::string(line) == "# " || end == runtime.size()));
    }
}

TEST_CASE("what is between the unit's markers belongs to a header, whatever it names") {
    const auto text =
        "# 1 \"/a\" 1\nconst char* a = \"sums.cu\";\n# 3 \"not/sums.cu\"\n#2 \"sums.cu\"\n# 7 \"sums.cu\" 2\n";
    CHECK(headers(text) == std::vector<std::string>{std::string(text).substr(0, std::string(text).rfind("# 7"))});
}

TEST_CASE("without a unit, or without its markers, there are none") {
    CHECK(headers("").empty());
    CHECK(headers(runtime).empty());
    CHECK(Preprocessed(runtime, "").next_header().empty());
}

TEST_CASE("no text makes it read beyond the end") {
    const std::vector<std::string> pieces{"# ", "1", "12", " \"", "sums.cu", "\"", "\n", " 2\n", "# 1 \"sums.cu\" 2\n",
                                          "x",  "#"};
    std::mt19937 random(1);
    for (int i = 0; i < 20'000; ++i) {
        std::string text;
        for (auto left = random() % 12; left > 0; --left) text += pieces[random() % pieces.size()];
        std::size_t end = 0, size = 0;
        for (const auto& header : headers(text, &end)) size += header.size();
        REQUIRE(size <= end);
        REQUIRE(end <= text.size());
    }
}

TEST_CASE("an option's word is the one after it") {
    const char* words[] = {"cudafe++", "--m64", "--orig_src_file_name", "sums.cu"};
    CHECK(word_after("--orig_src_file_name", 4, words) == "sums.cu");
    CHECK(word_after("sums.cu", 4, words).empty());
    CHECK(word_after("--m32", 4, words).empty());
}
