// The running program's own machine code: its addresses in memory and in the program's file.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace warpgrade::device {

struct ProgramCode {
    std::uint64_t begin = 0, end = 0;  // in memory
    std::uint64_t base = 0;            // of the file in memory

    static ProgramCode locate() noexcept {
        ProgramCode code;
        // The program itself comes first, even if it is linked statically.
        dl_iterate_phdr(
            [](dl_phdr_info* info, std::size_t, void* self) {
                static_cast<ProgramCode*>(self)->read(*info);
                return 1;
            },
            &code);
        return code;
    }
    [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t bytes = 1) const {
        return address >= begin && address < end && bytes <= end - address;
    }
    [[nodiscard]] std::uint64_t file_offset(std::uint64_t address) const { return address - base; }

  private:
    void read(const dl_phdr_info& info) noexcept {
        base = info.dlpi_addr;
        for (const auto& part : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
            if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
            begin = base + part.p_vaddr;
            end = begin + part.p_memsz;
        }
    }
};

}  // namespace warpgrade::device
