// The 128-byte cache lines that one warp-level access touches.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "vgpu/access/access.hpp"

namespace warpgrade::vgpu {

inline constexpr unsigned line_bytes = 128;

constexpr std::int64_t line_of(std::uint64_t address) {  // addresses of shapes are relative and may be negative
    return static_cast<std::int64_t>(address) >> std::countr_zero(line_bytes);
}
// The hash is in the upper bits. For tables of lines that are often a power of two apart.
constexpr std::uint64_t hash_of_line(std::uint64_t line) { return line * 0x9E3779B97F4A7C15u; }

// The sectors of one line that an access touches, one bit each. Lines of shapes are relative and may be negative.
struct LinePart {
    std::int64_t line : 60;
    std::uint64_t sectors : 4;
    [[nodiscard]] bool operator==(const LinePart&) const = default;
};
static_assert(sizeof(LinePart) == 8);

// The sectors of one 128-byte line that a memory instruction requests. Line and sectors are where a LinePart has them.
struct LineRequest {
    // Write: of whole sectors. WritePart: of sectors of which some bytes stay.
    enum class Kind : std::uint8_t { Read, ReadPastL1, Write, WritePart, Atomic };
    static constexpr int slot_bits = 16;
    std::uint64_t line : 41;         // address / 128; addresses have 48 bits
    std::uint64_t slot : slot_bits;  // the slot of the instruction's statistics
    std::uint64_t kind : 3;
    std::uint64_t sectors : 4;  // one bit each
    static constexpr std::uint32_t max_slots = 1u << slot_bits;

    // In one piece: field by field, a processor would wait for the last write before it can read the whole.
    static LineRequest of(std::uint64_t line, unsigned sectors, Kind kind, std::uint16_t slot) {
        return std::bit_cast<LineRequest>(line | std::uint64_t{slot} << 41 |
                                          std::uint64_t{static_cast<unsigned>(kind)} << 57 |
                                          std::uint64_t{sectors} << 60);
    }
};
static_assert(sizeof(LineRequest) == 8);

// The kind of a store: see Access::fills_sectors().
constexpr LineRequest::Kind write_kind(bool fills) {
    return fills ? LineRequest::Kind::Write : LineRequest::Kind::WritePart;
}

constexpr std::uint64_t count_sectors(std::uint64_t bits) { return static_cast<std::uint64_t>(std::popcount(bits)); }

// The lines of an access, each once, in the order in which the lanes first touch them.
class LineParts {
  public:
    // Addresses are those of `x` plus `base`.
    LineParts(const Access& x, std::uint64_t base, unsigned bytes);
    [[nodiscard]] const LinePart* begin() const { return parts_; }
    [[nodiscard]] const LinePart* end() const { return parts_ + count_; }
    [[nodiscard]] std::size_t size() const { return count_; }
    // As many as Access::sectors() counts.
    [[nodiscard]] std::uint32_t sectors() const {
        if (one_sector_each_) return count_;
        std::uint32_t total = 0;
        for (const LinePart& part : *this) total += static_cast<std::uint32_t>(std::popcount(part.sectors));
        return total;
    }

  private:
    static constexpr std::uint8_t nowhere = 0xff;
    template <bool Alone = false>  // Alone: no line was added before
    void add(std::uint64_t first, std::uint64_t last);
    void merge(std::int64_t line, unsigned sectors);
    void add_groups(const Access& x, std::uint64_t base, unsigned bytes);
    void add_lanes(const Access& x, std::uint64_t base);
    void merge_lanes(std::uint32_t lanes, const std::uint8_t* first);

    alignas(32) LinePart parts_[2 * warp_size];  // more than any access has
    unsigned count_ = 0;
    bool one_sector_each_ = false;  // if this is known
    // A hash table of indices into parts_, for add_groups() with open addressing. So large that lines rarely meet,
    // which costs a misprediction.
    static constexpr unsigned log_places = 8, log_places_of_lanes = 11;
    std::uint8_t places_[1u << log_places_of_lanes];
};

// The lines of a shape whose first lane is at a fixed offset in its line, which has number 0.
struct alignas(64) ShapeLines {
    std::vector<LinePart> parts;
    std::uint32_t sectors = 0;  // of all parts
    std::uint32_t l1_cycles = 0;
    bool filled = false;  // by a store: Access::fills_sectors
    // Where the L1 model has a copy of the parts in one phase; see BlockL1.
    std::uint32_t copy = 0;
    std::uint64_t phase = 0;
};

}  // namespace warpgrade::vgpu
