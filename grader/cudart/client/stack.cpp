#include "cudart/client/stack.hpp"

#include <unwind.h>

#include <cstdint>
#include <cstring>

namespace warpgrade::cudart {
namespace {

struct Search {
    std::uintptr_t begin, end;
    bool found = false;
};

// A function that returns to this frame's code has its return address directly below this frame.
_Unwind_Reason_Code look(_Unwind_Context* frame, void* argument) {
    auto& search = *static_cast<Search*>(argument);
    std::uintptr_t stored = 0;
    const std::uintptr_t place = _Unwind_GetCFA(frame) - sizeof stored;
    if (place >= search.end) return _URC_END_OF_STACK;
    if (place < search.begin || search.end - place < sizeof stored) return _URC_NO_REASON;
    std::memcpy(&stored, reinterpret_cast<const void*>(place), sizeof stored);
    search.found = stored == _Unwind_GetIP(frame);
    return search.found ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

bool overwrites_return(const void* begin, std::size_t bytes) {
    constexpr std::uintptr_t most_stack = 8 << 20, smallest = 16;
    const auto from = reinterpret_cast<std::uintptr_t>(begin);
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (bytes < smallest || from < here || from - here > most_stack || bytes > most_stack) return false;
    Search search{from, from + bytes};
    _Unwind_Backtrace(look, &search);
    return search.found;
}

}  // namespace warpgrade::cudart
