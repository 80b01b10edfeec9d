// PTX's special registers, one row each, for the parser, the decoder and the start of a block.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace warpgrade::vgpu::ptx {

// Values that a block sets when it starts (exec/block_start.cpp): 32 bits for each lane. Vectors take three adjacent
// entries: x, y, z.
enum class Special : std::uint8_t {
    TidX,
    TidY,
    TidZ,
    NtidX,
    NtidY,
    NtidZ,
    CtaidX,
    CtaidY,
    CtaidZ,
    NctaidX,
    NctaidY,
    NctaidZ,
    LaneId,
    WarpId,
    NwarpId,
    SmId,
    NsmId,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    DynamicSmemSize,
    TotalSmemSize,
    EnvReg1,
    EnvReg2,
    ReservedSharedOffset,
    Count,
};

struct SpecialRegister {
    enum class Kind : std::uint8_t {
        Filled,     // a Special, 32 bits wide
        Fixed,      // the same number in every launch, in the width of the destination
        Clock,      // instructions that the warp has executed
        ClockHigh,  // their upper 32 bits
        Refused,    // PTX has it, the virtual GPU does not
    };
    enum class Name : std::uint8_t {
        Whole,    // "%laneid"
        Vector,   // "%tid" with .x, .y and .z; without them, or with .w, it is refused
        Numbered  // "%pm": %pm0, %pm1 …
    };
    std::string_view name;
    Kind kind = Kind::Refused;
    Special special = Special::Count;  // of Kind::Filled; for a vector, its x
    std::uint64_t value = 0;           // of Kind::Fixed
    Name form = Name::Whole;
};

// All rows. The first match counts.
std::span<const SpecialRegister> special_registers();

// The register with this name, including the % and a suffix such as ".x"; a component of a vector is returned as a row
// of its own. Nothing if PTX has no such register.
std::optional<SpecialRegister> find_special(std::string_view name);

}  // namespace warpgrade::vgpu::ptx
