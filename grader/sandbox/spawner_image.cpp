#include "sandbox/spawner_image.hpp"

// WG_SPAWNER: the path of the program, from CMakeLists.txt.
asm(".section .rodata\n"
    ".balign 16\n"
    "warpgrade_spawner_begin:\n"
    ".incbin \"" WG_SPAWNER
    "\"\n"
    "warpgrade_spawner_end:\n"
    ".byte 0\n"
    ".text\n");

extern "C" {
extern const std::byte warpgrade_spawner_begin[], warpgrade_spawner_end[];
}

namespace warpgrade::sandbox {

std::span<const std::byte> spawner_image() { return {warpgrade_spawner_begin, warpgrade_spawner_end}; }

}  // namespace warpgrade::sandbox
