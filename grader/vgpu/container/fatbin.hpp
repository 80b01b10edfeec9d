// Reads the fatbinary container that nvcc embeds in a program: one or more device images (PTX, cubin), compressed or
// not, for one or more architectures. The input is the student's and may be hostile: every size is checked, and what it
// decompresses to is bounded.
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
    std::string name;                // source file's name, with -lineinfo; else empty
    std::vector<std::uint8_t> data;  // decompressed; empty for Kind::Other

    [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(data.data()), data.size()}; }
    [[nodiscard]] std::string target() const;  // "90a"
};

inline constexpr std::uint64_t max_fatbin_bytes = std::uint64_t{64} << 20;  // of all decompressed entries together

// Whether the image starts as a container does (and not, say, as PTX text).
bool is_fatbin(std::span<const std::byte> image);

// `image` begins at the container's header (to which the fatBinC wrapper's `data` points). Bytes after the container
// are ignored.
std::vector<FatbinEntry> read_fatbin(std::span<const std::byte> image);

// The containers that stand one after the other in an image: more than one when files were compiled separately and
// linked, first what nvlink made of them, then each file's own.
std::vector<std::span<const std::byte>> split_fatbins(std::span<const std::byte> image);

// The PTX that a device of this compute capability (90) would compile: of the highest architecture up to its own, a
// plain one before an architecture-specific one. Throws when kernels are there, but no such PTX, and says what to
// compile with. Null when the container holds no code at all: every executable registers such an empty module.
const FatbinEntry* choose_ptx(const std::vector<FatbinEntry>& entries, int compute_capability);

// The cubin that would run there (same major, up to its minor), for its register counts; null when there is none.
const FatbinEntry* choose_cubin(const std::vector<FatbinEntry>& entries, int compute_capability);

}  // namespace warpgrade::vgpu
