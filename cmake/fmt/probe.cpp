// Uses what fmt.cpp must define.
#include <fmt/format.h>

int main(int count, char** words) { return static_cast<int>(fmt::format("{} {:.3f} {}", count, 2.5, words[0]).size()); }
