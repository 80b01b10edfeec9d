// What the wrong elements of a result have in common, as a beginner's mistake leaves it: the result transposed or
// shifted, zeros, too few bits, memory that nothing wrote, the last block alone wrong, every 32nd element.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpgrade::judge {

// A result beside what is right, element by element; `wrong` are the indices at which they differ, in order.
struct ComparedElements {
    std::vector<double> expected, got;
    std::vector<std::size_t> wrong;
    std::size_t rows = 0, columns = 0;  // 0: no matrix
    std::size_t unwritten = 0;          // wrong elements that are fresh device memory
    int digits = 0;                     // significant bits of the elements' type; 0: no floating point
};

struct Pattern {
    std::vector<std::string_view> signs;  // from signs.hpp
    std::string text;                     // goes on after "12 of 64 elements are wrong"
};

// The pattern that explains all wrong elements best, if there is one.
std::optional<Pattern> find_pattern(const ComparedElements& c);

}  // namespace warpgrade::judge
