// How long a mangled name gets when it is demangled. A name may refer back to its own parts, so that 200 bytes can
// stand for gigabytes; the library's demangler writes them all.
#pragma once

#include <cstddef>
#include <string_view>

namespace warpgrade::vgpu {

// At least the length of the demangled name, up to `most`; more than that, or what is not understood, is `most` + 1.
std::size_t demangled_size(std::string_view mangled, std::size_t most);

}  // namespace warpgrade::vgpu
