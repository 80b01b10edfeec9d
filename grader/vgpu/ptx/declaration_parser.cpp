#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "vgpu/ptx/parser.hpp"
#include "vgpu/ptx/parser_state.hpp"

namespace warpgrade::vgpu::ptx {

Type type_from_name(std::string_view name) {
    for (auto type = Type::Pred;; type = static_cast<Type>(static_cast<int>(type) + 1)) {
        if (name == name_of(type)) return type;
        if (type == Type::F64) return Type::None;
    }
}

bool space_from_name(std::string_view name, Space& space) {
    static constexpr struct {
        std::string_view name;
        Space space;
    } spaces[] = {{"global", Space::Global}, {"shared", Space::Shared}, {"local", Space::Local},
                  {"const", Space::Const},   {"param", Space::Param},   {"generic", Space::Generic}};
    const auto* found = std::find_if(std::begin(spaces), std::end(spaces), [&](auto& row) { return row.name == name; });
    if (found == std::end(spaces)) return false;
    space = found->space;
    return true;
}

// `.align 4 .v2 .f32`, with attributes and, on parameters, `.ptr .global .align 16` in any order that PTX allows.
void Parser::parse_shape_prefix(Shape& shape, bool* is_managed) {
    while (lexer_.peek().kind == Token::Kind::Dotted) {
        const Token token = lexer_.next();
        Space pointee = Space::None;
        if (token.text == "align") {
            shape.align = expect_u32("an alignment");
            if (!std::has_single_bit(shape.align) || shape.align > 4096) {
                fail_at(token.line, "alignment " + std::to_string(shape.align) + " is not a power of two up to 4096");
            }
        } else if (token.text == "attribute") {
            skip_parentheses(is_managed);
        } else if (token.text == "ptr") {
            // The state space that the pointer points to does not matter here.
            if (lexer_.peek().kind == Token::Kind::Dotted && space_from_name(lexer_.peek().text, pointee))
                lexer_.next();
            if (accept_dotted("align")) expect_u32("an alignment");
        } else if (token.text == "v2" || token.text == "v4") {
            shape.width = token.text == "v2" ? 2 : 4;
        } else if (const Type type = type_from_name(token.text); type != Type::None) {
            shape.type = type;
        } else {
            fail_at(token.line, "unsupported type or attribute " + describe(token));
        }
    }
    if (shape.type == Type::None) expected("a type");
}

void Parser::parse_dimensions(Shape& shape) {
    while (accept('[')) {
        if (shape.dimensions.size() == limit::dimensions) fail("too many dimensions");
        if (lexer_.peek().is(']')) {
            if (!shape.dimensions.empty()) fail("only the first dimension may be empty");
            shape.is_unsized = true;
            shape.dimensions.push_back(1);
        } else {
            shape.dimensions.push_back(expect_integer("an array's size"));
        }
        expect(']');
    }
}

// Bytes of the whole array. An unsized array counts as one element of its first dimension.
std::uint64_t Parser::shape_bytes(const Shape& shape, std::uint64_t most) const {
    std::uint64_t bytes = std::uint64_t{size_of(shape.type)} * shape.width;
    for (const std::uint64_t dimension : shape.dimensions) {
        if (bytes != 0 && dimension > most / bytes) fail("array of more than " + std::to_string(most) + " bytes");
        bytes *= dimension;
    }
    return bytes;
}

void Parser::parse_module_variables(Space space, const Linkage& linkage) {
    bool is_managed = false;
    Shape shape;
    parse_shape_prefix(shape, &is_managed);
    if (shape.type == Type::Pred) fail("a variable cannot be a predicate");
    do {
        const Token name = expect_identifier("a variable's name");
        Variable variable = parse_declarator(space, shape, name);
        variable.is_extern = linkage.is_extern;
        variable.is_weak = linkage.is_weak;
        variable.is_visible = linkage.is_visible;
        variable.is_managed = is_managed;
        const auto [entry, is_new] = module_names_.try_emplace(name.text, ModuleName{false, module_.variables.size()});
        if (is_new) {
            module_.variables.push_back(std::move(variable));
            continue;
        }
        if (entry->second.is_function) fail_at(name.line, "'" + variable.name + "' is already a function");
        Variable& earlier = module_.variables[entry->second.index];
        if (!earlier.is_extern && !variable.is_extern) fail_at(name.line, "'" + variable.name + "' is defined twice");
        if (earlier.is_extern) earlier = std::move(variable);
    } while (accept(','));
    expect(';');
}

Variable Parser::parse_declarator(Space space, Shape shape, const Token& name) {
    Variable variable;
    variable.name = std::string(name.text);
    variable.space = space;
    variable.type = shape.type;
    variable.align = shape.natural_align();
    variable.ptx_line = name.line;
    parse_dimensions(shape);
    const std::uint64_t bytes = shape_bytes(shape, limit::variable_bytes);
    variable.bytes = shape.is_unsized ? 0 : bytes;
    if (lexer_.peek().is('=')) {
        if (space != Space::Global && space != Space::Const)
            fail("only .global and .const variables can have initial values");
        lexer_.next();
        parse_initialiser(variable, shape);
    }
    return variable;
}

void Parser::parse_initialiser(Variable& variable, const Shape& shape) {
    Shape flat = shape;  // a vector adds a dimension
    if (flat.width > 1) flat.dimensions.push_back(flat.width);
    masked_ = {};
    if (!shape.is_unsized) reserve_initial(variable, variable.bytes);
    if (lexer_.peek().is('{')) {
        if (flat.dimensions.empty()) fail("a scalar's initial value cannot have braces");
        std::uint64_t used = 0;
        parse_initialiser_list(variable, flat, 0, 0, used);
    } else {
        if (!flat.dimensions.empty()) expected("'{'");
        parse_initial_value(variable, flat, 0);
    }
    if (masked_.next_byte != 0) fail("an address of the initial value is incomplete");
    variable.bytes = std::max<std::uint64_t>(variable.bytes, variable.initial.size());
}

// Parses `{a, b, {c, d}}` from element `first`. `used` becomes the number of elements used at this level.
void Parser::parse_initialiser_list(Variable& variable, const Shape& shape, std::size_t level, std::uint64_t first,
                                    std::uint64_t& used) {
    if (level >= shape.dimensions.size()) fail("braces nest deeper than the array has dimensions");
    std::uint64_t row = 1;  // elements in one item of this level
    for (std::size_t i = level + 1; i < shape.dimensions.size(); ++i) row *= shape.dimensions[i];
    const std::uint64_t element_bytes = size_of(shape.type);
    const bool grows = shape.is_unsized && level == 0;
    const std::uint64_t extent = grows ? limit::initialised_bytes / element_bytes : shape.dimensions[level] * row;
    expect('{');
    used = 0;
    while (!lexer_.peek().is('}')) {
        const bool nested = lexer_.peek().is('{');
        const std::uint64_t step = nested ? row : 1;
        if (step > extent || used > extent - step) fail("more initial values than elements");
        if (grows) {
            const std::uint64_t rows = (used + step + row - 1) / std::max<std::uint64_t>(row, 1);
            reserve_initial(variable, rows * row * element_bytes);
        }
        if (nested) {
            std::uint64_t inner = 0;
            parse_initialiser_list(variable, shape, level + 1, first + used, inner);
        } else {
            parse_initial_value(variable, shape, first + used);
        }
        used += step;
        if (!accept(',')) break;
    }
    expect('}');
}

void Parser::reserve_initial(Variable& variable, std::uint64_t bytes) {
    if (bytes <= variable.initial.size()) return;
    initialised_bytes_ += bytes - variable.initial.size();
    if (initialised_bytes_ > limit::initialised_bytes) {
        fail("initial values of more than " + std::to_string(limit::initialised_bytes) + " bytes in the module");
    }
    variable.initial.resize(bytes);
}

void Parser::parse_initial_value(Variable& variable, const Shape& shape, std::uint64_t element) {
    const std::uint64_t bytes = size_of(shape.type), offset = element * bytes;
    const Token start = lexer_.peek();
    const bool is_mask = start.kind == Token::Kind::Integer && lexer_.peek_second().is('(');
    if (is_mask) {
        if (bytes != 1) fail("a masked address needs elements of one byte");
        lexer_.next();
        return add_masked_byte(variable, offset, start.value);
    }
    if (masked_.next_byte != 0) fail("an address of the initial value is incomplete");
    if (start.kind == Token::Kind::Identifier) {
        Relocation relocation = parse_address_value();
        if (bytes != 4 && bytes != 8) fail_at(start.line, "an address needs 4 or 8 bytes");
        if (relocation.symbol != variable.name && !is_module_name(relocation.symbol)) {
            fail_at(start.line, "unknown name '" + relocation.symbol + "' in an initial value");
        }
        relocation.offset = offset;
        relocation.bytes = static_cast<std::uint32_t>(bytes);
        variable.relocations.push_back(std::move(relocation));
        return;
    }

    const Operand value = parse_immediate();
    const bool is_float = shape.type == Type::F32 || shape.type == Type::F64;
    std::uint64_t bits = value.imm;
    if (is_float) {
        double number = static_cast<double>(static_cast<std::int64_t>(value.imm));
        if (value.imm_type == Type::F32) number = std::bit_cast<float>(static_cast<std::uint32_t>(value.imm));
        if (value.imm_type == Type::F64) number = std::bit_cast<double>(value.imm);
        if (value.imm_type != shape.type) {
            bits = shape.type == Type::F64 ? std::bit_cast<std::uint64_t>(number)
                                           : std::bit_cast<std::uint32_t>(static_cast<float>(number));
        }
    } else if (value.imm_type != Type::None && size_of(value.imm_type) != bytes) {
        fail_at(start.line, "a float literal does not fit the element's type");
    }
    if (offset + bytes > variable.initial.size()) fail_at(start.line, "more initial values than elements");
    std::memcpy(variable.initial.data() + offset, &bits, std::min<std::size_t>(bytes, sizeof bits));
    const bool negative = !is_float && value.imm_type == Type::None && static_cast<std::int64_t>(bits) < 0;
    if (bytes == 16 && negative) std::memset(variable.initial.data() + offset + 8, 0xff, 8);
}

// `sym`, `sym+4`, `generic(sym)+4`.
Relocation Parser::parse_address_value() {
    Relocation relocation;
    std::uint64_t addend = 0;  // unsigned, so that it may wrap
    const Token name = expect_identifier("a name");
    if (name.text == "generic" && lexer_.peek().is('(')) {
        lexer_.next();
        relocation.generic = true;
        relocation.symbol = std::string(expect_identifier("a name").text);
        addend = static_cast<std::uint64_t>(optional_offset());
        expect(')');
    } else {
        relocation.symbol = std::string(name.text);
    }
    relocation.addend = static_cast<std::int64_t>(addend + static_cast<std::uint64_t>(optional_offset()));
    return relocation;
}

// Adds one byte of an address, as packed structures hold it: 0xFF00(generic(sym)+4) is its second byte. All eight bytes
// must come in order; together they become one relocation.
void Parser::add_masked_byte(Variable& variable, std::uint64_t offset, std::uint64_t mask) {
    const std::uint32_t line = lexer_.peek().line;
    expect('(');
    Relocation relocation = parse_address_value();
    expect(')');
    if (relocation.symbol != variable.name && !is_module_name(relocation.symbol)) {
        fail_at(line, "unknown name '" + relocation.symbol + "' in an initial value");
    }
    relocation.offset = offset - masked_.next_byte;
    const bool continues =
        masked_.next_byte == 0 ||
        (masked_.relocation.symbol == relocation.symbol && masked_.relocation.addend == relocation.addend &&
         masked_.relocation.generic == relocation.generic && masked_.relocation.offset == relocation.offset);
    if (mask != std::uint64_t{0xff} << (8 * masked_.next_byte) || !continues) {
        fail_at(line, "the bytes of an address must all be given, in order");
    }
    if (masked_.next_byte == 0) masked_.relocation = std::move(relocation);
    if (++masked_.next_byte < 8) return;
    variable.relocations.push_back(std::move(masked_.relocation));
    masked_ = {};
}

Parameter Parser::parse_parameter() {
    if (accept_dotted("reg")) fail("parameters in registers (.reg) are not supported");
    if (!accept_dotted("param")) expected("'.param'");
    Shape shape;
    parse_shape_prefix(shape, nullptr);
    Parameter parameter;
    parameter.name = std::string(expect_identifier("a parameter's name").text);
    parameter.type = shape.type;
    parameter.align = shape.natural_align();
    parse_dimensions(shape);
    const std::uint64_t bytes = shape_bytes(shape, limit::parameter_bytes);
    parameter.bytes = shape.is_unsized ? 0 : bytes;
    if (shape.type == Type::Pred) fail("a parameter cannot be a predicate");
    return parameter;
}

std::vector<Parameter> Parser::parse_parameters() {
    std::vector<Parameter> parameters;
    expect('(');
    if (accept(')')) return parameters;
    do {
        parameters.push_back(parse_parameter());
    } while (accept(','));
    expect(')');
    return parameters;
}

}  // namespace warpgrade::vgpu::ptx
