// The length of a demangled name. A name may refer back to its own parts, so 200 bytes can stand for gigabytes; the
// library's demangler would write them all.
#pragma once

#include <cstddef>
#include <string_view>

namespace warpgrade::vgpu {

// An upper bound of the demangled name's length; `most` + 1 if it exceeds `most` or the name cannot be parsed.
std::size_t demangled_size(std::string_view mangled, std::size_t most);

}  // namespace warpgrade::vgpu
