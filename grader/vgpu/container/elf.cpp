#include "vgpu/container/elf.hpp"

#include <algorithm>

#include "vgpu/container/fatbin.hpp"

namespace warpgrade::vgpu::elf {
namespace {

// ELF64, little-endian.
constexpr std::size_t header_bytes = 64, section_header_bytes = 64, symbol_bytes = 24;
constexpr std::uint16_t machine_cuda = 190;
constexpr std::uint32_t section_nobits = 8;
constexpr std::uint8_t symbol_type_mask = 0xf, symbol_function = 2;

std::string_view string_at(Bytes strings, std::uint64_t offset) {
    if (offset >= strings.size()) malformed();
    const auto* begin = reinterpret_cast<const char*>(strings.data() + offset);
    return {begin, strnlen(begin, strings.size() - offset)};
}

}  // namespace

void malformed() { throw FatbinError("the cubin is malformed"); }

const Section* File::find(std::string_view name) const {
    const auto found = std::ranges::find(sections, name, &Section::name);
    return found == sections.end() ? nullptr : &*found;
}

std::vector<Symbol> File::symbols() const {
    std::vector<Symbol> symbols;
    const Section* table = find(".symtab");
    if (!table) return symbols;
    if (table->link >= sections.size()) malformed();
    const Bytes strings = sections[table->link].bytes;
    for (std::uint64_t offset = 0; offset + symbol_bytes <= table->bytes.size(); offset += symbol_bytes) {
        const auto type = load<std::uint8_t>(table->bytes, offset + 4) & symbol_type_mask;
        symbols.push_back({string_at(strings, load<std::uint32_t>(table->bytes, offset)),
                           load<std::uint16_t>(table->bytes, offset + 6), load<std::uint64_t>(table->bytes, offset + 8),
                           type == symbol_function});
    }
    return symbols;
}

File read(Bytes file) {
    static constexpr std::uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1};
    if (file.size() < header_bytes || std::memcmp(file.data(), magic, sizeof magic) != 0 ||
        load<std::uint16_t>(file, 18) != machine_cuda) {
        throw FatbinError("this is not a cubin");
    }
    File elf;
    const auto flags = load<std::uint32_t>(file, 48);
    elf.arch = static_cast<int>(file[8] >= 8 ? flags >> 8 & 0xff : flags & 0xff);  // depends on the ABI version
    const auto table = load<std::uint64_t>(file, 40);
    const auto count = load<std::uint16_t>(file, 60), names = load<std::uint16_t>(file, 62);
    if (load<std::uint16_t>(file, 58) != section_header_bytes || table > file.size() || names >= count) malformed();
    std::vector<std::uint32_t> name_offsets;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t header = table + i * section_header_bytes;
        Section section;
        name_offsets.push_back(load<std::uint32_t>(file, header));
        section.size = load<std::uint64_t>(file, header + 32);
        section.link = load<std::uint32_t>(file, header + 40);
        section.info = load<std::uint32_t>(file, header + 44);
        const auto offset = load<std::uint64_t>(file, header + 24);
        if (load<std::uint32_t>(file, header + 4) != section_nobits && section.size > 0) {
            if (offset > file.size() || file.size() - offset < section.size) malformed();
            section.bytes = file.subspan(offset, section.size);
        }
        elf.sections.push_back(section);
    }
    for (std::size_t i = 0; i < elf.sections.size(); ++i)
        elf.sections[i].name = string_at(elf.sections[names].bytes, name_offsets[i]);
    return elf;
}

}  // namespace warpgrade::vgpu::elf
