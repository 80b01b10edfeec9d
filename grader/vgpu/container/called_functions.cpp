#include "vgpu/container/called_functions.hpp"

#include <map>
#include <string_view>
#include <utility>

#include "vgpu/container/elf.hpp"

namespace warpgrade::vgpu {
namespace {

using elf::Bytes, elf::load;

// Where a function begins: the index of its section, and its offset there.
using Place = std::pair<std::uint32_t, std::uint64_t>;

// 64-bit DWARF, as ptxas writes it: a length of 12 bytes, then an offset of 8 to the common part (all ones in that
// itself), the function's address and size of 8 each, instructions. A relocation says what the
// address is relative to.
constexpr std::uint32_t long_record = 0xffffffff;
constexpr std::uint64_t length_bytes = 12, address_at = 8, instructions_at = 24;

// Instructions (table 7.29), which have operands of these kinds.
enum class Operands { none, one_byte, two_bytes, four_bytes, number, two_numbers, unknown };

Operands operands_of(std::uint8_t instruction) {
    switch (instruction) {
        case 0x00:  // nop
        case 0x0a:  // remember and restore the state
        case 0x0b:
            return Operands::none;
        case 0x02:
            return Operands::one_byte;  // advance
        case 0x03:
            return Operands::two_bytes;
        case 0x04:
            return Operands::four_bytes;
        case 0x06:  // restore, undefined, same value, offset or register of the frame
        case 0x07:
        case 0x08:
        case 0x0d:
        case 0x0e:
            return Operands::number;
        case 0x05:  // saved at an offset, in a register; the frame's offset from a register
        case 0x09:
        case 0x0c:
            return Operands::two_numbers;
        default:
            return Operands::unknown;
    }
}

// How many registers these instructions say to be on the stack.
std::uint32_t count_saved(Bytes instructions) {
    std::uint32_t saved = 0;
    std::uint64_t at = 0;
    const auto skip_number = [&] {  // LEB128
        while (load<std::uint8_t>(instructions, at++) & 0x80) {
        }
    };
    while (at < instructions.size()) {
        const std::uint8_t instruction = instructions[at++];
        const bool is_offset = instruction >> 6 == 2;
        if (is_offset || instruction == 0x05) ++saved;
        if (is_offset) skip_number();
        if (instruction >> 6 != 0) continue;  // advance, or restore
        switch (operands_of(instruction)) {
            case Operands::none:
                break;
            case Operands::one_byte:
                at += 1;
                break;
            case Operands::two_bytes:
                at += 2;
                break;
            case Operands::four_bytes:
                at += 4;
                break;
            case Operands::two_numbers:
                skip_number();
                [[fallthrough]];
            case Operands::number:
                skip_number();
                break;
            case Operands::unknown:
                return saved;
        }
    }
    return saved;
}

// By the functions' places. What is not understood is left out.
std::map<Place, std::uint32_t> read_saved_registers(const elf::File& file, const std::vector<elf::Symbol>& symbols) {
    std::map<Place, std::uint32_t> saved;
    const elf::Section *frames = file.find(".debug_frame"), *relocations = file.find(".rela.debug_frame");
    const std::uint64_t relocation_bytes = relocations != nullptr ? 24 : 16;
    if (!relocations) relocations = file.find(".rel.debug_frame");  // before sm_90
    if (!frames || !relocations) return saved;
    std::map<std::uint64_t, Place> addresses;  // by where they are in the section
    for (std::uint64_t at = 0; at + relocation_bytes <= relocations->bytes.size(); at += relocation_bytes) {
        const auto symbol = load<std::uint32_t>(relocations->bytes, at + 12);
        if (symbol >= symbols.size()) elf::malformed();
        const auto field = load<std::uint64_t>(relocations->bytes, at);  // has the offset from the symbol
        addresses[field] = {symbols[symbol].section,
                            symbols[symbol].offset + load<std::uint64_t>(frames->bytes, field)};
    }
    for (std::uint64_t at = 0; at < frames->bytes.size();) {
        if (load<std::uint32_t>(frames->bytes, at) != long_record) break;
        const auto length = load<std::uint64_t>(frames->bytes, at + 4);
        at += length_bytes;
        if (length > frames->bytes.size() - at) elf::malformed();
        const auto address = addresses.find(at + address_at);
        if (address != addresses.end() && length >= instructions_at)
            saved[address->second] = count_saved(frames->bytes.subspan(at + instructions_at, length - instructions_at));
        at += length;
    }
    return saved;
}

}  // namespace

std::vector<CalledFunction> read_called_functions(std::span<const std::uint8_t> cubin) {
    constexpr std::string_view text = ".text.";
    const elf::File file = elf::read(cubin);
    const auto symbols = file.symbols();
    const auto saved = read_saved_registers(file, symbols);
    std::vector<CalledFunction> called;
    for (const elf::Symbol& symbol : symbols) {
        if (!symbol.is_function || symbol.section >= file.sections.size()) continue;
        const std::string_view section = file.sections[symbol.section].name;
        if (!section.starts_with(text)) continue;
        const auto registers = saved.find({symbol.section, symbol.offset});
        CalledFunction function{"", std::string(symbol.name), registers == saved.end() ? 0 : registers->second};
        // Those of a kernel lie behind it, in its section.
        const std::string prefix = "$" + std::string(section.substr(text.size())) + "$";
        if (symbol.name.starts_with(prefix)) {
            function.kernel = section.substr(text.size());
            function.name = symbol.name.substr(prefix.size());
        }
        called.push_back(std::move(function));
    }
    return called;
}

}  // namespace warpgrade::vgpu
