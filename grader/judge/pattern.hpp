// Finds what the wrong elements of a result have in common, as beginners' mistakes leave it: a transposed or shifted
// result, zeros, too few bits, unwritten memory, only the last block, every 32nd element.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"

namespace warpgrade::judge {

struct ComparedElements {
    std::vector<double> expected, got;
    std::vector<std::size_t> wrong;     // indices, in order
    std::size_t rows = 0, columns = 0;  // 0: no matrix
    std::size_t unwritten = 0;          // wrong elements that are fresh device memory
    int digits = 0;                     // significant bits of the elements' type; 0: no floating point
    std::span<const device::LaunchConfig> launches = {};  // that may have made them
};

struct Pattern {
    std::vector<std::string_view> signs;  // from signs.hpp
    std::string text;                     // follows "12 of 64 elements are wrong"
};

// The pattern that best explains all wrong elements, if any.
std::optional<Pattern> find_pattern(const ComparedElements& c);

}  // namespace warpgrade::judge
