#include "vgpu/container/fatbin.hpp"

#include <lz4.h>
#include <zstd.h>

#include <climits>
#include <cstring>

#include "vgpu/container/cubin.hpp"

namespace warpgrade::vgpu {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint32_t container_magic = 0xBA55ED50, wrapper_magic = 0x466243B1;

// Layout of the container's header and of an entry's, as nvcc 13.0 writes them; notes/ptx.md, trap 3.
namespace container {
constexpr std::size_t header_bytes = 16, version = 4, header_size = 6, content_size = 8;
}
namespace entry {
constexpr std::size_t header_bytes = 64, kind = 0, header_size = 4, stored_size = 8, compressed_size = 16, arch = 28,
                      name_offset = 32, name_length = 36, flags = 40, uncompressed_size = 56;
constexpr std::uint16_t kind_ptx = 1, kind_elf = 2;
constexpr std::uint64_t flag_lz4 = 0x2000, flag_zstd = 0x8000, flag_arch_specific = 0x100000, flag_family = 0x200000;
}  // namespace entry

template <typename T>
T load(Bytes bytes, std::size_t offset) {  // little-endian, like the host
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) throw FatbinError("the device code is truncated");
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

Bytes slice(Bytes bytes, std::uint64_t offset, std::uint64_t length) {
    if (offset > bytes.size() || bytes.size() - offset < length) throw FatbinError("the device code is truncated");
    return bytes.subspan(offset, length);
}

std::vector<std::uint8_t> copy(Bytes bytes) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    return {data, data + bytes.size()};
}

std::vector<std::uint8_t> decompress(Bytes stored, std::uint64_t flags, std::uint64_t bytes) {
    std::vector<std::uint8_t> result(bytes);
    std::uint64_t produced = 0;
    if (flags & entry::flag_zstd) {
        const std::size_t code = ZSTD_decompress(result.data(), result.size(), stored.data(), stored.size());
        if (ZSTD_isError(code)) {
            throw FatbinError(std::string("the device code cannot be decompressed: ") + ZSTD_getErrorName(code));
        }
        produced = code;
    } else {
        if (stored.size() > INT_MAX || bytes > INT_MAX) throw FatbinError("the device code is too large");
        const int code =
            LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()), reinterpret_cast<char*>(result.data()),
                                static_cast<int>(stored.size()), static_cast<int>(bytes));
        if (code < 0) throw FatbinError("the device code cannot be decompressed (LZ4)");
        produced = static_cast<std::uint64_t>(code);
    }
    if (produced != bytes)
        throw FatbinError("the decompressed device code does not have the size that its header says");
    return result;
}

FatbinEntry read_entry(Bytes header, Bytes stored, std::uint64_t& budget) {
    FatbinEntry result;
    const auto kind = load<std::uint16_t>(header, entry::kind);
    result.kind = kind == entry::kind_ptx   ? FatbinEntry::Kind::Ptx
                  : kind == entry::kind_elf ? FatbinEntry::Kind::Cubin
                                            : FatbinEntry::Kind::Other;
    const auto arch = load<std::uint32_t>(header, entry::arch);
    if (arch > 9999) throw FatbinError("the device code is for an invalid architecture");
    result.arch = static_cast<int>(arch);
    const auto flags = load<std::uint64_t>(header, entry::flags);
    if (flags & entry::flag_arch_specific) result.variant = 'a';
    if (flags & entry::flag_family) result.variant = 'f';
    const auto name_length = load<std::uint32_t>(header, entry::name_length);
    if (name_length > 0) {
        const Bytes name = slice(header, load<std::uint32_t>(header, entry::name_offset), name_length);
        result.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
    }
    if (result.kind == FatbinEntry::Kind::Other) return result;

    const auto compressed = load<std::uint32_t>(header, entry::compressed_size);
    const std::uint64_t bytes = compressed ? load<std::uint64_t>(header, entry::uncompressed_size) : stored.size();
    if (bytes > budget) {
        throw FatbinError("the device code is larger than " + std::to_string(max_fatbin_bytes >> 20) + " MiB");
    }
    budget -= bytes;
    if (compressed == 0) {
        result.data = copy(stored);
    } else if (flags & (entry::flag_zstd | entry::flag_lz4)) {
        result.data = decompress(slice(stored, 0, compressed), flags, bytes);
    } else {
        throw FatbinError("the device code is compressed in a way that is not supported; compile with --no-compress");
    }
    return result;
}

bool usable(const FatbinEntry& candidate, int compute_capability) {
    if (candidate.variant == 'a') return candidate.arch == compute_capability;
    if (candidate.variant == 'f' || candidate.kind == FatbinEntry::Kind::Cubin) {
        return candidate.arch / 10 == compute_capability / 10 && candidate.arch <= compute_capability;
    }
    return candidate.arch <= compute_capability;
}

const FatbinEntry* choose(const std::vector<FatbinEntry>& entries, FatbinEntry::Kind kind, int compute_capability) {
    const FatbinEntry* best = nullptr;
    for (const FatbinEntry& candidate : entries) {
        if (candidate.kind != kind || !usable(candidate, compute_capability)) continue;
        const bool better = !best || candidate.arch > best->arch ||
                            (candidate.arch == best->arch && best->variant != 0 && candidate.variant == 0);
        if (better) best = &candidate;
    }
    return best;
}

bool has_code(const FatbinEntry& candidate) {
    if (candidate.kind != FatbinEntry::Kind::Cubin) return true;
    return has_kernels(candidate.data);
}

}  // namespace

std::string FatbinEntry::target() const { return variant ? std::to_string(arch) + variant : std::to_string(arch); }

bool is_fatbin(std::span<const std::byte> image) {
    return image.size() >= sizeof container_magic && load<std::uint32_t>(image, 0) == container_magic;
}

std::vector<FatbinEntry> read_fatbin(std::span<const std::byte> image) {
    const auto magic = load<std::uint32_t>(image, 0);
    if (magic == wrapper_magic) throw FatbinError("this is the fatbinary's wrapper, not its container");
    if (magic != container_magic) throw FatbinError("this is not a fatbinary");
    const auto version = load<std::uint16_t>(image, container::version);
    if (version != 1) throw FatbinError("fatbinary version " + std::to_string(version) + " is not supported");
    const auto header_size = load<std::uint16_t>(image, container::header_size);
    if (header_size < container::header_bytes) throw FatbinError("the fatbinary's header is malformed");
    Bytes rest = slice(image, header_size, load<std::uint64_t>(image, container::content_size));

    std::vector<FatbinEntry> entries;
    std::uint64_t budget = max_fatbin_bytes;
    while (!rest.empty()) {
        const auto entry_header = load<std::uint32_t>(rest, entry::header_size);
        if (entry_header < entry::header_bytes) throw FatbinError("the fatbinary has a malformed entry");
        const Bytes header = slice(rest, 0, entry_header);
        const Bytes stored = slice(rest, entry_header, load<std::uint64_t>(rest, entry::stored_size));
        entries.push_back(read_entry(header, stored, budget));
        rest = rest.subspan(header.size() + stored.size());
    }
    return entries;
}

std::vector<std::span<const std::byte>> split_fatbins(std::span<const std::byte> image) {
    std::vector<Bytes> result;
    while (is_fatbin(image)) {
        const std::uint64_t header = load<std::uint16_t>(image, container::header_size);
        if (header < container::header_bytes) throw FatbinError("the fatbinary's header is malformed");
        const Bytes content = slice(image, header, load<std::uint64_t>(image, container::content_size));
        result.push_back(image.first(header + content.size()));
        image = image.subspan(header + content.size());
    }
    return result;
}

const FatbinEntry* choose_ptx(const std::vector<FatbinEntry>& entries, int compute_capability) {
    if (const FatbinEntry* found = choose(entries, FatbinEntry::Kind::Ptx, compute_capability)) return found;
    const std::string device = std::to_string(compute_capability);
    const std::string advice = "compile with -gencode arch=compute_" + device + ",code=[compute_" + device + ",sm_" +
                               device + "], or with -arch=sm_" + device;
    std::string cubins, ptx;
    for (const FatbinEntry& candidate : entries) {
        if (!has_code(candidate)) continue;
        if (candidate.kind == FatbinEntry::Kind::Ptx)
            ptx += (ptx.empty() ? "compute_" : ", compute_") + candidate.target();
        if (candidate.kind == FatbinEntry::Kind::Cubin)
            cubins += (cubins.empty() ? "sm_" : ", sm_") + candidate.target();
    }
    if (!ptx.empty()) {
        throw FatbinError("the program's PTX is for " + ptx + ", and this device has compute capability " +
                          std::to_string(compute_capability / 10) + "." + std::to_string(compute_capability % 10) +
                          "; " + advice);
    }
    if (!cubins.empty()) {
        throw FatbinError("the program was built for " + cubins + " only, without PTX; add code=compute_" + device +
                          ": " + advice);
    }
    return nullptr;
}

const FatbinEntry* choose_cubin(const std::vector<FatbinEntry>& entries, int compute_capability) {
    return choose(entries, FatbinEntry::Kind::Cubin, compute_capability);
}

}  // namespace warpgrade::vgpu
