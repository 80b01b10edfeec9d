// The sections and symbols of a cubin, which is an ELF file. libelf reads one from a file descriptor or from memory
// that it may write; what is here is a view that checks each offset, since the input is the student's.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace warpgrade::vgpu::elf {

using Bytes = std::span<const std::uint8_t>;

// Throws FatbinError.
[[noreturn]] void malformed();

template <typename T>
T load(Bytes bytes, std::uint64_t offset) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) malformed();
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

struct Section {
    std::string_view name;
    std::uint64_t size = 0;
    std::uint32_t info = 0, link = 0;
    Bytes bytes;  // empty for sections without content
};

struct Symbol {
    std::string_view name;
    std::uint16_t section = 0;
    std::uint64_t offset = 0;
    bool is_function = false;
};

struct File {
    int arch = 0;  // 90 for sm_90
    std::vector<Section> sections;
    [[nodiscard]] const Section* find(std::string_view name) const;
    // In the order of the symbol table; empty if there is none. Throws FatbinError.
    [[nodiscard]] std::vector<Symbol> symbols() const;
};

// The names refer to `file`. Throws FatbinError if it is not a cubin or malformed.
File read(Bytes file);

}  // namespace warpgrade::vgpu::elf
