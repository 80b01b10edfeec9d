#include "vgpu/container/cubin.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "vgpu/container/fatbin.hpp"

namespace warpgrade::vgpu {
namespace {

using Bytes = std::span<const std::uint8_t>;

// ELF64, little-endian.
constexpr std::size_t elf_header_bytes = 64, section_header_bytes = 64, symbol_bytes = 24;
constexpr std::uint16_t machine_cuda = 190;
constexpr std::uint32_t section_nobits = 8;

// .nv.info holds records of {format, attribute, size or value}; only those with a size matter here.
constexpr std::uint8_t format_sized = 4;
constexpr std::uint8_t attribute_frame_size = 0x11, attribute_min_stack_size = 0x12, attribute_register_count = 0x2f;

// From sm_90 on, a kernel's .nv.shared section begins with the 1 KiB that the system reserves in each block.
constexpr int first_arch_with_reserved_shared = 90;
constexpr std::uint64_t reserved_shared_bytes = 1024;

[[noreturn]] void malformed() { throw FatbinError("the cubin is malformed"); }

template <typename T>
T load(Bytes bytes, std::uint64_t offset) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) malformed();
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

std::string_view string_at(Bytes strings, std::uint64_t offset) {
    if (offset >= strings.size()) malformed();
    const auto* begin = reinterpret_cast<const char*>(strings.data() + offset);
    return {begin, strnlen(begin, strings.size() - offset)};
}

struct Section {
    std::string_view name;
    std::uint64_t size = 0;
    std::uint32_t info = 0, link = 0;
    Bytes bytes;  // empty for sections without content
};

struct Elf {
    int arch = 0;
    std::vector<Section> sections;
    [[nodiscard]] const Section* find(std::string_view name) const {
        for (const Section& section : sections) {
            if (section.name == name) return &section;
        }
        return nullptr;
    }
};

Elf read_elf(Bytes file) {
    static constexpr std::uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1};
    if (file.size() < elf_header_bytes || std::memcmp(file.data(), magic, sizeof magic) != 0 ||
        load<std::uint16_t>(file, 18) != machine_cuda) {
        throw FatbinError("this is not a cubin");
    }
    Elf elf;
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
    for (std::size_t i = 0; i < elf.sections.size(); ++i) {
        elf.sections[i].name = string_at(elf.sections[names].bytes, name_offsets[i]);
    }
    return elf;
}

struct Attributes {
    std::uint32_t registers = 0, frame = 0, stack = 0;
};

std::unordered_map<std::string_view, Attributes> read_attributes(const Elf& elf) {
    std::unordered_map<std::string_view, Attributes> attributes;
    const Section* info = elf.find(".nv.info");
    const Section* symbols = elf.find(".symtab");
    if (!info || !symbols) return attributes;
    if (symbols->link >= elf.sections.size()) malformed();
    const Bytes strings = elf.sections[symbols->link].bytes;
    for (std::uint64_t offset = 0; offset < info->bytes.size();) {
        const auto format = load<std::uint8_t>(info->bytes, offset),
                   attribute = load<std::uint8_t>(info->bytes, offset + 1);
        const auto size = load<std::uint16_t>(info->bytes, offset + 2);
        offset += 4;
        if (format != format_sized) continue;
        const bool known = attribute == attribute_frame_size || attribute == attribute_min_stack_size ||
                           attribute == attribute_register_count;
        if (known && size >= 8) {
            const auto symbol = load<std::uint32_t>(info->bytes, offset);
            const auto value = load<std::uint32_t>(info->bytes, offset + 4);
            const auto name = load<std::uint32_t>(symbols->bytes, std::uint64_t{symbol} * symbol_bytes);
            Attributes& of_symbol = attributes[string_at(strings, name)];
            if (attribute == attribute_register_count) of_symbol.registers = value;
            if (attribute == attribute_frame_size) of_symbol.frame = value;
            if (attribute == attribute_min_stack_size) of_symbol.stack = value;
        }
        offset += size;
    }
    return attributes;
}

}  // namespace

std::vector<KernelResources> read_cubin(std::span<const std::uint8_t> cubin) {
    constexpr std::string_view text = ".text.", shared = ".nv.shared.", constants = ".nv.constant0.";
    const Elf elf = read_elf(cubin);
    const auto attributes = read_attributes(elf);
    std::unordered_map<std::string_view, std::uint64_t> shared_sizes;
    std::unordered_map<std::string_view, bool> has_parameters;  // functions have no constant bank
    for (const Section& section : elf.sections) {
        if (section.name.starts_with(shared)) shared_sizes[section.name.substr(shared.size())] = section.size;
        if (section.name.starts_with(constants)) has_parameters[section.name.substr(constants.size())] = true;
    }
    std::vector<KernelResources> kernels;
    for (const Section& section : elf.sections) {
        if (!section.name.starts_with(text)) continue;
        const std::string_view name = section.name.substr(text.size());
        if (has_parameters.count(name) == 0) continue;
        KernelResources kernel;
        kernel.name = std::string(name);
        if (const auto found = attributes.find(name); found != attributes.end()) {
            kernel.registers_per_thread = found->second.registers;
            kernel.local_bytes_per_thread = std::max(found->second.frame, found->second.stack);
        }
        // Cubins of older toolkits hold the count only in the code section's header.
        if (kernel.registers_per_thread == 0) kernel.registers_per_thread = section.info >> 24;
        if (const auto found = shared_sizes.find(name); found != shared_sizes.end()) {
            std::uint64_t bytes = found->second;
            if (elf.arch >= first_arch_with_reserved_shared && bytes >= reserved_shared_bytes) {
                bytes -= reserved_shared_bytes;
            }
            if (bytes > 0xffffffffu) malformed();
            kernel.static_shared_bytes = static_cast<std::uint32_t>(bytes);
        }
        kernels.push_back(std::move(kernel));
    }
    return kernels;
}

bool has_kernels(std::span<const std::uint8_t> cubin) {
    try {
        return !read_cubin(cubin).empty();
    } catch (const FatbinError&) {
        return true;
    }
}

}  // namespace warpgrade::vgpu
