// Reads the fatbinary container that nvcc embeds in a program: device images (PTX or cubin) for one or more
// architectures, possibly compressed. The input is the student's and may be hostile: every size is checked, and the
// decompressed size is limited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpgrade::vgpu {

class FatbinError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct FatbinEntry {
    enum class Kind : std::uint8_t { Ptx, Cubin, Other };
    Kind kind = Kind::Other;
    int arch = 0;                    // compute capability: 90 for sm_90 and compute_90
    char variant = 0;                // 'a' (sm_90a: that architecture only), 'f' (sm_100f: its family), or 0
    std::string name;                // name of the source file, with -lineinfo; otherwise empty
    std::vector<std::uint8_t> data;  // decompressed; empty for Kind::Other

    [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(data.data()), data.size()}; }
    [[nodiscard]] std::string target() const;  // "90a"
};

inline constexpr std::uint64_t max_fatbin_bytes = std::uint64_t{64} << 20;  // of all decompressed entries together

// True if the image begins like a container (and is not, for instance, PTX text).
bool is_fatbin(std::span<const std::byte> image);

// `image` begins at the container's header, where the fatBinC wrapper's `data` points. Ignores bytes after the
// container.
std::vector<FatbinEntry> read_fatbin(std::span<const std::byte> image);

// Splits an image into its containers. Separately compiled and linked files give several: first nvlink's output, then
// one per file.
std::vector<std::span<const std::byte>> split_fatbins(std::span<const std::byte> image);

// The PTX that a device of this compute capability (90, say) would compile: that of the highest architecture up to its
// own, where plain PTX comes before architecture-specific PTX. Throws if there are kernels but no suitable PTX, and
// says what to compile for. Null if the container holds no code: every executable registers such an empty module.
const FatbinEntry* choose_ptx(const std::vector<FatbinEntry>& entries, int compute_capability);

// The cubin that would run on the device (same major version, minor version up to its own), for its register counts;
// null if there is none.
const FatbinEntry* choose_cubin(const std::vector<FatbinEntry>& entries, int compute_capability);

}  // namespace warpgrade::vgpu
