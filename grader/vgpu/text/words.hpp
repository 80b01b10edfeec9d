// Numbers and names in messages for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warpgrade::vgpu {

std::string grouped(std::uint64_t number);                             // "1,024"
std::string counted(std::uint64_t number, std::string_view singular);  // "1 byte", "1,024 bytes"
// "one more thread of its warp does", "15 more threads of its warp do".
std::string also(std::uint64_t others);
// The C++ name of a linker symbol. Empty if it is not a mangled name, or if its demangled form is too long.
std::string demangled(const std::string& mangled);
// "tiled" of "_Z5tiledPKfS0_Pf": without parameters and return type; template arguments stay.
std::string readable_name(const std::string& mangled);
// "tile" of "_ZZ5tiledPKfE4tile": a variable without the function that contains it.
std::string variable_name(const std::string& symbol);

}  // namespace warpgrade::vgpu
