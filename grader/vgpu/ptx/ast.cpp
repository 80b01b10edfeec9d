#include "vgpu/ptx/ast.hpp"

#include <iterator>
#include <optional>

namespace warpgrade::vgpu::ptx {
namespace {

struct TypeRow {
    Type type;
    const char* name;
    std::uint32_t bytes;
};

constexpr TypeRow type_rows[] = {
    {Type::None, "", 0},       {Type::Pred, "pred", 0}, {Type::B8, "b8", 1},         {Type::B16, "b16", 2},
    {Type::B32, "b32", 4},     {Type::B64, "b64", 8},   {Type::B128, "b128", 16},    {Type::U8, "u8", 1},
    {Type::U16, "u16", 2},     {Type::U32, "u32", 4},   {Type::U64, "u64", 8},       {Type::S8, "s8", 1},
    {Type::S16, "s16", 2},     {Type::S32, "s32", 4},   {Type::S64, "s64", 8},       {Type::F16, "f16", 2},
    {Type::F16x2, "f16x2", 4}, {Type::BF16, "bf16", 2}, {Type::BF16x2, "bf16x2", 4}, {Type::F32, "f32", 4},
    {Type::F64, "f64", 8},
};

constexpr bool rows_in_order() {
    for (std::size_t i = 0; i < std::size(type_rows); ++i) {
        if (static_cast<std::size_t>(type_rows[i].type) != i) return false;
    }
    return true;
}
static_assert(rows_in_order());

}  // namespace

std::uint32_t size_of(Type type) { return type_rows[static_cast<std::size_t>(type)].bytes; }
const char* name_of(Type type) { return type_rows[static_cast<std::size_t>(type)].name; }

const Function* Module::find_function(const std::string& name) const {
    const Function* declaration = nullptr;
    for (const Function& function : functions) {
        if (function.name != name) continue;
        if (!function.is_declaration) return &function;
        declaration = &function;
    }
    return declaration;
}

const std::string* Module::file_name(std::uint32_t index) const {
    for (const auto& [number, name] : files) {
        if (number == index) return &name;
    }
    return nullptr;
}

Location Module::outermost(LocationId location) const {
    if (location >= locations.size()) return {};
    // Frames refer only to earlier ones, so this ends.
    while (locations[location].inlined_at != 0 && locations[location].inlined_at < location) {
        location = locations[location].inlined_at;
    }
    return locations[location];
}

Location Module::innermost_own(LocationId location) const {
    const Location outer = outermost(location);
    const auto folder = [&](const Location& at) {
        const std::string* name = at.line ? file_name(at.file) : nullptr;
        return name ? std::optional(name->substr(0, name->rfind('/') + 1)) : std::nullopt;
    };
    const auto wanted = folder(outer);
    if (!wanted || location >= locations.size()) return outer;
    while (folder(locations[location]) != wanted) {
        const LocationId next = locations[location].inlined_at;
        if (next == 0 || next >= location) return outer;
        location = next;
    }
    return locations[location];
}

}  // namespace warpgrade::vgpu::ptx
