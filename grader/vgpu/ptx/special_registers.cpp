#include "vgpu/ptx/special_registers.hpp"

namespace warpgrade::vgpu::ptx {
namespace {

using Kind = SpecialRegister::Kind;
using Name = SpecialRegister::Name;

constexpr SpecialRegister filled(std::string_view name, Special special) { return {name, Kind::Filled, special}; }
constexpr SpecialRegister xyz(std::string_view name, Special x) { return {name, Kind::Filled, x, 0, Name::Vector}; }
constexpr SpecialRegister fixed(std::string_view name, std::uint64_t value, Name form = Name::Whole) {
    return {name, Kind::Fixed, Special::Count, value, form};
}

constexpr SpecialRegister rows[] = {
    xyz("%tid", Special::TidX),
    xyz("%ntid", Special::NtidX),
    xyz("%ctaid", Special::CtaidX),
    xyz("%nctaid", Special::NctaidX),
    // Every block is its own cluster.
    xyz("%clusterid", Special::CtaidX),
    xyz("%nclusterid", Special::NctaidX),
    fixed("%cluster_ctaid", 0, Name::Vector),
    fixed("%cluster_nctaid", 1, Name::Vector),
    fixed("%cluster_ctarank", 0),
    fixed("%cluster_nctarank", 1),
    {.name = "%is_explicit_cluster"},
    filled("%laneid", Special::LaneId),
    filled("%warpid", Special::WarpId),
    filled("%nwarpid", Special::NwarpId),
    filled("%smid", Special::SmId),
    filled("%nsmid", Special::NsmId),
    fixed("%gridid", 1),
    fixed("%current_graph_exec", 0),
    filled("%lanemask_eq", Special::LanemaskEq),
    filled("%lanemask_le", Special::LanemaskLe),
    filled("%lanemask_lt", Special::LanemaskLt),
    filled("%lanemask_ge", Special::LanemaskGe),
    filled("%lanemask_gt", Special::LanemaskGt),
    {.name = "%clock", .kind = Kind::Clock},
    {.name = "%clock_hi", .kind = Kind::ClockHigh},
    {.name = "%clock64", .kind = Kind::Clock},
    {.name = "%globaltimer", .kind = Kind::Clock},
    {.name = "%globaltimer_lo", .kind = Kind::Clock},
    {.name = "%globaltimer_hi", .kind = Kind::ClockHigh},
    filled("%dynamic_smem_size", Special::DynamicSmemSize),
    filled("%total_smem_size", Special::TotalSmemSize),
    {.name = "%aggr_smem_size"},
    filled("%reserved_smem_offset_1", Special::ReservedSharedOffset),
    {.name = "%reserved_smem_offset_", .form = Name::Numbered},
    // The address of a cooperative launch's workspace.
    filled("%envreg1", Special::EnvReg1),
    filled("%envreg2", Special::EnvReg2),
    fixed("%envreg", 0, Name::Numbered),
    fixed("%pm", 0, Name::Numbered),
};

// The index of the component that a suffix names; 4 if it names none.
unsigned component(std::string_view suffix) {
    constexpr std::string_view components = ".x.y.z.w";
    const auto at = suffix.size() == 2 ? components.find(suffix) : std::string_view::npos;
    return at == std::string_view::npos ? 4 : static_cast<unsigned>(at / 2);
}

// The register that a vector row and a suffix name together.
std::optional<SpecialRegister> part_of(SpecialRegister row, std::string_view suffix) {
    const unsigned index = component(suffix);
    if (index == 4 && !suffix.empty()) return std::nullopt;
    row.form = Name::Whole;
    if (index == 4 || (index == 3 && row.kind == Kind::Filled))
        row.kind = Kind::Refused;
    else if (row.kind == Kind::Filled)
        row.special = static_cast<Special>(static_cast<unsigned>(row.special) + index);
    return row;
}

}  // namespace

std::span<const SpecialRegister> special_registers() { return rows; }

std::optional<SpecialRegister> find_special(std::string_view name) {
    for (const SpecialRegister& row : rows) {
        if (!name.starts_with(row.name)) continue;
        const std::string_view suffix = name.substr(row.name.size());
        if (row.form == Name::Vector) {
            if (suffix.empty() || suffix[0] == '.') return part_of(row, suffix);
        } else if (suffix.empty() || row.form == Name::Numbered) {
            return row;
        }
    }
    return std::nullopt;
}

}  // namespace warpgrade::vgpu::ptx
