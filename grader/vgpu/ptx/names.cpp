#include "vgpu/ptx/names.hpp"

#include <utility>

namespace warpgrade::vgpu::ptx {

std::optional<Entity> Scope::find(std::string_view name) const {
    if (const auto found = names_.find(name); found != names_.end()) return found->second;
    if (ranges_.empty()) return std::nullopt;
    // %r12 may be number 12 of `%r<…>` or number 2 of `%r1<…>`; numbers have no leading zeros.
    std::uint64_t number = 0, place = 1;
    for (std::size_t split = name.size(); split > 1 && name.size() - split < 9; place *= 10) {
        const char digit = name[--split];
        if (digit < '0' || digit > '9') break;
        number += static_cast<std::uint64_t>(digit - '0') * place;
        if (digit == '0' && split + 1 < name.size()) continue;
        const auto range = ranges_.find(name.substr(0, split));
        if (range != ranges_.end() && number < range->second.count) {
            const auto index = static_cast<std::uint32_t>(range->second.first + number * range->second.width);
            return Entity{Entity::Kind::Register, index, range->second.width, {}};
        }
    }
    return std::nullopt;
}

Type parse_type(std::string_view m) {
    static constexpr std::pair<std::string_view, Type> named[] = {
        {"pred", Type::Pred},   {"b8", Type::B8},     {"b16", Type::B16},       {"b32", Type::B32}, {"b64", Type::B64},
        {"b128", Type::B128},   {"u8", Type::U8},     {"u16", Type::U16},       {"u32", Type::U32}, {"u64", Type::U64},
        {"s8", Type::S8},       {"s16", Type::S16},   {"s32", Type::S32},       {"s64", Type::S64}, {"f16", Type::F16},
        {"f16x2", Type::F16x2}, {"bf16", Type::BF16}, {"bf16x2", Type::BF16x2}, {"f32", Type::F32}, {"f64", Type::F64}};
    for (const auto& [name, type] : named)
        if (m == name) return type;
    return Type::None;
}

}  // namespace warpgrade::vgpu::ptx
