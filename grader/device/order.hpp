// The order in which the virtual GPU runs the blocks, warps and lanes of a launch. CUDA promises none, so that a right
// result does not depend on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpgrade::device {

enum class Order : std::uint8_t {
    forward,      // the first block, and in it the first warp, runs until it waits; the lanes of a warp stay together
    reverse,      // of the blocks that fit on the device at once the last one first, and in it the last warp; half of
                  // a warp's lanes run until they wait, then the others
    interleaved,  // as many blocks as fit on the device; each of their warps in turn runs to its next access of memory
    ahead,        // as interleaved, but the last block runs until it waits, and so does the last warp of each block;
                  // lanes as in reverse
};

inline constexpr std::string_view order_names[] = {"forward", "reverse", "interleaved", "ahead"};

// Throws std::invalid_argument that lists the accepted words.
inline Order parse_order(std::string_view word) {
    for (std::size_t i = 0; i < std::size(order_names); ++i)
        if (order_names[i] == word) return static_cast<Order>(i);
    throw std::invalid_argument("unknown order '" + std::string(word) +
                                "'; use forward, reverse, interleaved or ahead");
}

}  // namespace warpgrade::device
