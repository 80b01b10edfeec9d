#include <utility>

#include "vgpu/ptx/parser.hpp"
#include "vgpu/ptx/parser_state.hpp"
#include "vgpu/ptx/special_registers.hpp"

namespace warpgrade::vgpu::ptx {
namespace {

using Kind = Operand::Kind;

// The value of Operand::target until the name is resolved; see Parser::collect_pending.
constexpr std::uint32_t unresolved = ~0u;

}  // namespace

std::optional<Entity> Parser::find(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
        if (auto entity = scope->find(name)) return entity;
    }
    return std::nullopt;
}

// Integers in every base, floats, with a sign or ~ before them.
Operand Parser::parse_immediate() {
    const bool negative = accept('-');
    if (!negative) accept('+');
    const bool inverted = !negative && accept('~');
    const Token token = lexer_.peek();
    if (token.kind != Token::Kind::Integer && token.kind != Token::Kind::Float) expected("a number");
    lexer_.next();
    Operand operand;
    operand.kind = Kind::Immediate;
    operand.imm = token.value;
    if (token.kind == Token::Kind::Float) {
        if (inverted) fail_at(token.line, "'~' before a float");
        operand.imm_type = token.float_type;
        if (negative) operand.imm ^= token.float_type == Type::F32 ? std::uint64_t{1} << 31 : std::uint64_t{1} << 63;
    } else if (negative) {
        operand.imm = 0 - operand.imm;
    } else if (inverted) {
        operand.imm = ~operand.imm;
    }
    return operand;
}

Operand Parser::parse_operand(std::size_t depth) {
    if (depth > limit::operand_depth) fail("operand nests too deeply");
    const Token& token = lexer_.peek();
    if (token.is('[')) return parse_address(depth);
    if (token.is('{')) return parse_list('{', '}', depth);
    if (accept('!')) {
        Operand operand = parse_named();
        if (operand.kind != Kind::Register) fail("'!' needs a register");
        operand.negated = true;
        return operand;
    }
    if (token.kind != Token::Kind::Identifier) {
        const bool number = token.kind == Token::Kind::Integer || token.kind == Token::Kind::Float || token.is('-') ||
                            token.is('+') || token.is('~');
        if (!number) expected("an operand");
        return parse_immediate();
    }
    Operand first = parse_named();
    if (!accept('|')) return first;
    Operand pair;
    pair.kind = Kind::Pair;
    pair.elements.push_back(std::move(first));
    pair.elements.push_back(parse_named());
    return pair;
}

Operand Parser::parse_named() {
    const Token name = expect_identifier("a name");
    Operand operand;
    if (name.text == "_") return operand;
    const std::optional<Entity> entity = find(name.text);
    if (entity && entity->kind == Entity::Kind::Register) {
        operand.kind = Kind::Register;
        operand.reg = entity->index;
        if (entity->width == 1) {
            if (lexer_.peek().kind == Token::Kind::Dotted) {
                fail("'" + std::string(name.text) + "' is not a vector; " + describe(lexer_.peek()) +
                     " is not supported here");
            }
            return operand;
        }
        if (lexer_.peek().kind == Token::Kind::Dotted) {
            static constexpr std::string_view letters = "xyzw", colours = "rgba";
            const Token component = lexer_.next();
            std::size_t index = component.text.size() == 1 ? letters.find(component.text) : letters.npos;
            if (component.text.size() == 1 && index == letters.npos) index = colours.find(component.text);
            if (index >= entity->width) fail_at(component.line, "no such component: " + describe(component));
            operand.reg += static_cast<std::uint32_t>(index);
            return operand;
        }
        operand.kind = Kind::Vector;
        operand.reg = Operand::no_register;
        for (std::uint32_t i = 0; i < entity->width; ++i) {
            Operand element;
            element.kind = Kind::Register;
            element.reg = entity->index + i;
            operand.elements.push_back(std::move(element));
        }
        return operand;
    }
    if (name.text == "WARP_SZ") {
        operand.kind = Kind::Immediate;
        operand.imm = 32;
        return operand;
    }
    if (!entity && name.text[0] == '%') {
        operand.kind = Kind::Special;
        operand.symbol = std::string(name.text);
        if (lexer_.peek().kind == Token::Kind::Dotted) operand.symbol += "." + std::string(lexer_.next().text);
        if (!find_special(operand.symbol)) {
            fail_at(name.line, "'" + operand.symbol + "' is neither declared nor a special register");
        }
        return operand;
    }
    operand.kind = Kind::Symbol;
    if (entity && entity->kind == Entity::Kind::Variable) {
        operand.symbol = function_.variables[entity->index].name;
    } else if (entity && entity->kind == Entity::Kind::Parameter) {
        operand.symbol = std::string(name.text);
    } else if (entity && entity->kind == Entity::Kind::Table) {
        operand.symbol = entity->unique_name;
    } else {
        operand.symbol = std::string(name.text);
        operand.target = unresolved;
    }
    operand.offset = optional_offset();
    return operand;
}

// [%rd1+4], [sym], [256]; textures and bulk copies add coordinates: [%rd1, {%f1, %f2}], which go to `elements`.
Operand Parser::parse_address(std::size_t depth) {
    expect('[');
    Operand address;
    if (lexer_.peek().kind == Token::Kind::Identifier) {
        address = parse_named();
        if (address.kind != Kind::Register && address.kind != Kind::Symbol) fail("this cannot be an address");
        if (address.kind == Kind::Register) address.offset = optional_offset();
    } else {
        address = parse_immediate();
        if (address.imm_type != Type::None) fail("a float cannot be an address");
        address.offset = optional_offset();
    }
    address.kind = Kind::Address;
    while (accept(',')) {
        if (address.elements.size() == limit::vector_elements) fail("too many parts in an address");
        address.elements.push_back(parse_operand(depth + 1));
    }
    expect(']');
    return address;
}

Operand Parser::parse_list(char open, char close, std::size_t depth) {
    Operand list;
    list.kind = Kind::Vector;
    expect(open);
    if (accept(close)) return list;
    do {
        if (list.elements.size() == limit::vector_elements) fail("too many elements in an operand");
        list.elements.push_back(parse_operand(depth + 1));
    } while (accept(','));
    expect(close);
    return list;
}

// call (ret), callee, (arguments), prototype: only the callee is always present.
void Parser::parse_call_operands(Instruction& instruction) {
    std::vector<Operand>& operands = instruction.operands;
    if (lexer_.peek().is('(')) {
        operands.push_back(parse_list('(', ')', 0));
        expect(',');
    } else {
        operands.emplace_back();
    }
    operands.push_back(parse_operand(0));
    if (operands[1].kind != Kind::Register && operands[1].kind != Kind::Symbol) fail("this cannot be called");
    Operand arguments;
    arguments.kind = Kind::Vector;
    bool more = accept(',');
    if (more && lexer_.peek().is('(')) {
        arguments = parse_list('(', ')', 0);
        more = accept(',');
    }
    operands.push_back(std::move(arguments));
    if (more) operands.push_back(parse_operand(0));
}

// The instruction is at its final place: its operands keep their addresses from now on.
void Parser::collect_pending(Operand& operand, std::uint32_t line) {
    const bool named = operand.kind == Kind::Symbol || operand.kind == Kind::Address;
    if (named && operand.target == unresolved) {
        operand.target = 0;
        // operand.symbol moves with the operand if it is short, so the name is read from the operand later.
        scopes_.back().pending.push_back({{}, line, &operand, nullptr});
    }
    for (Operand& element : operand.elements) collect_pending(element, line);
}

}  // namespace warpgrade::vgpu::ptx
