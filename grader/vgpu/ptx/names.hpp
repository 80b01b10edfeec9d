// The meaning of names inside a function: nested scopes of registers, variables and labels. Inline assembly opens
// blocks whose registers shadow outer ones and whose labels repeat, so lookup goes from the innermost scope outwards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vgpu/ptx/ast.hpp"

namespace warpgrade::vgpu::ptx {

struct Entity {
    enum class Kind : std::uint8_t { Register, Variable, Parameter, Label, Table };
    Kind kind;
    std::uint32_t index;      // register, variable, parameter or, for a label, instruction index
    std::uint32_t width = 1;  // registers: elements of a .v2 or .v4 register, which are adjacent
    std::string unique_name;  // tables: the name in Function::branch_targets and similar
};

// A name used before its meaning is known: a label further down, or a name of the module.
struct Pending {
    std::string_view name;
    std::uint32_t line;
    Operand* operand;       // becomes a Label, or stays a Symbol …
    std::uint32_t* target;  // … or gets the label's index, for .branchtargets
};

class Scope {
  public:
    // False if the scope has the name already.
    bool add(std::string_view name, Entity entity) { return names_.emplace(name, entity).second; }
    // `.reg .b32 %r<10>`: %r0 … %r9.
    bool add_range(std::string_view prefix, std::uint32_t first, std::uint32_t count, std::uint32_t width) {
        return ranges_.emplace(prefix, Range{first, count, width}).second;
    }
    [[nodiscard]] std::optional<Entity> find(std::string_view name) const;

    std::vector<Pending> pending;

  private:
    struct Range {
        std::uint32_t first, count, width;
    };
    std::unordered_map<std::string_view, Entity> names_;
    std::unordered_map<std::string_view, Range> ranges_;
};

Type parse_type(std::string_view modifier);  // Type::None if it is not a type

}  // namespace warpgrade::vgpu::ptx
