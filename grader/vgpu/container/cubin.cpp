#include "vgpu/container/cubin.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "vgpu/container/elf.hpp"
#include "vgpu/container/fatbin.hpp"

namespace warpgrade::vgpu {
namespace {

// .nv.info holds records of {format, attribute, size or value}; only those with a size matter here.
constexpr std::uint8_t format_sized = 4;
constexpr std::uint8_t attribute_frame_size = 0x11, attribute_min_stack_size = 0x12, attribute_register_count = 0x2f;

// From sm_90 on, a kernel's .nv.shared section begins with the 1 KiB that the system reserves in each block.
constexpr int first_arch_with_reserved_shared = 90;
constexpr std::uint64_t reserved_shared_bytes = 1024;

struct Attributes {
    std::uint32_t registers = 0, frame = 0, stack = 0;
};

std::unordered_map<std::string_view, Attributes> read_attributes(const elf::File& file,
                                                                 const std::vector<elf::Symbol>& symbols) {
    std::unordered_map<std::string_view, Attributes> attributes;
    const elf::Section* info = file.find(".nv.info");
    if (!info || symbols.empty()) return attributes;
    for (std::uint64_t offset = 0; offset < info->bytes.size();) {
        const auto format = elf::load<std::uint8_t>(info->bytes, offset),
                   attribute = elf::load<std::uint8_t>(info->bytes, offset + 1);
        const auto size = elf::load<std::uint16_t>(info->bytes, offset + 2);
        offset += 4;
        if (format != format_sized) continue;
        const bool known = attribute == attribute_frame_size || attribute == attribute_min_stack_size ||
                           attribute == attribute_register_count;
        if (known && size >= 8) {
            const auto symbol = elf::load<std::uint32_t>(info->bytes, offset);
            const auto value = elf::load<std::uint32_t>(info->bytes, offset + 4);
            if (symbol >= symbols.size()) elf::malformed();
            Attributes& of_symbol = attributes[symbols[symbol].name];
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
    const elf::File file = elf::read(cubin);
    const auto attributes = read_attributes(file, file.symbols());
    std::unordered_map<std::string_view, std::uint64_t> shared_sizes;
    std::unordered_map<std::string_view, bool> has_parameters;  // functions have no constant bank
    for (const elf::Section& section : file.sections) {
        if (section.name.starts_with(shared)) shared_sizes[section.name.substr(shared.size())] = section.size;
        if (section.name.starts_with(constants)) has_parameters[section.name.substr(constants.size())] = true;
    }
    std::vector<KernelResources> kernels;
    for (const elf::Section& section : file.sections) {
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
            if (file.arch >= first_arch_with_reserved_shared && bytes >= reserved_shared_bytes) {
                bytes -= reserved_shared_bytes;
            }
            if (bytes > 0xffffffffu) elf::malformed();
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
