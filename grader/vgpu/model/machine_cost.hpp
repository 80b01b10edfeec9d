// What instructions cost a device beyond the one issue slot that each takes.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace warpgrade::vgpu {

// Such a part of a count as `part` is of `whole`, which is not 0; rounded.
inline std::uint64_t scaled(std::uint64_t count, std::uint64_t part, std::uint64_t whole) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(count) * part + whole / 2) / whole);
}

struct MachineCost {
    std::uint64_t further = 0;  // machine instructions beyond the first that ptxas makes of one in PTX
    // Instructions for units of which a multiprocessor has fewer than for float arithmetic. In half instructions those
    // for special functions: a conversion is half of a root, exponential, sine or bit count.
    std::uint64_t special_halves = 0;
    std::uint64_t doubles = 0, products = 0, exchanges = 0;  // products of integers; exchanges between lanes
    std::uint64_t moves = 0;                                 // from register to register: ptxas gives both the same one
    std::uint64_t logic = 0;           // comparisons, selections, shifts, bits, and sums of 64 bits
    std::uint64_t stack_requests = 0;  // registers that called functions store on the stack, and load again

    MachineCost& add(const MachineCost& other, std::uint64_t times) {
        further += times * other.further, special_halves += times * other.special_halves;
        doubles += times * other.doubles, products += times * other.products, exchanges += times * other.exchanges;
        moves += times * other.moves, logic += times * other.logic, stack_requests += times * other.stack_requests;
        return *this;
    }
    // As many of them as `part` is of `whole`.
    void scale(std::uint64_t part, std::uint64_t whole) {
        if (whole == 0) return;
        for (std::uint64_t* count :
             {&further, &special_halves, &doubles, &products, &exchanges, &moves, &logic, &stack_requests})
            *count = scaled(*count, part, whole);
    }
    bool operator==(const MachineCost&) const = default;
};

}  // namespace warpgrade::vgpu
