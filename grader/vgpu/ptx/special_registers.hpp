// PTX's special registers, one row each: the parser, the decoder and the start of a block read them here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace warpgrade::vgpu::ptx {

// What a block fills in when it starts (exec/block_start.cpp): 32 bits for each lane. Vectors have x, y, z in a row.
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
        Fixed,      // the same number in every launch, as wide as it is read
        Clock,      // instructions that the warp has executed
        ClockHigh,  // their upper 32 bits
        Refused,    // PTX has it, the virtual GPU does not
    };
    enum class Name : std::uint8_t {
        Whole,    // "%laneid"
        Vector,   // "%tid", of which there are .x, .y and .z; whole, or with .w, it is refused
        Numbered  // "%pm": %pm0, %pm1 …
    };
    std::string_view name;
    Kind kind = Kind::Refused;
    Special special = Special::Count;  // of a filled one; of a vector, its x
    std::uint64_t value = 0;           // of a fixed one
    Name form = Name::Whole;
};

// All rows. Of two that match, the first counts.
std::span<const SpecialRegister> special_registers();

// The register that `name` stands for, with the % and a suffix such as ".x": a component of a vector is a row of its
// own. Nothing if PTX has none of this name.
std::optional<SpecialRegister> find_special(std::string_view name);

}  // namespace warpgrade::vgpu::ptx
