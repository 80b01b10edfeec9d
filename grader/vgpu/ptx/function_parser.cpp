#include <algorithm>
#include <utility>

#include "vgpu/ptx/parser.hpp"
#include "vgpu/ptx/parser_state.hpp"

namespace warpgrade::vgpu::ptx {

void Parser::parse_function(bool is_entry, const Linkage& linkage) {
    function_ = {};
    function_.is_entry = is_entry;
    function_.is_weak = linkage.is_weak;
    function_.is_visible = linkage.is_visible;
    while (lexer_.peek().kind == Token::Kind::Dotted) {  // .attribute(…), .unified
        if (lexer_.next().text == "attribute") skip_parentheses(nullptr);
    }
    if (lexer_.peek().is('(')) {
        if (is_entry) fail("a kernel cannot return a value");
        function_.returns = parse_parameters();
    }
    const Token name = expect_identifier("a function's name");
    function_.name = std::string(name.text);
    function_.ptx_line = name.line;
    if (lexer_.peek().is('(')) function_.parameters = parse_parameters();
    parse_function_directives(function_);

    const auto [entry, is_new] = module_names_.try_emplace(name.text, ModuleName{true, module_.functions.size()});
    if (!entry->second.is_function) fail_at(name.line, "'" + function_.name + "' is already a variable");
    const std::size_t index = entry->second.index;
    if (is_new) module_.functions.emplace_back().is_declaration = true;
    module_.functions[index].name = function_.name;

    function_.is_declaration = !lexer_.peek().is('{');
    if (function_.is_declaration) {
        expect(';');
    } else {
        if (linkage.is_extern) fail_at(name.line, "the .extern function '" + function_.name + "' has a body");
        if (!module_.functions[index].is_declaration) fail_at(name.line, "'" + function_.name + "' is defined twice");
        parse_body();
    }
    if (module_.functions[index].is_declaration) module_.functions[index] = std::move(function_);
}

// `.maxntid 256, 1, 1` and similar. Skips directives that do not matter here, with their numbers.
void Parser::parse_function_directives(Function& function) {
    while (lexer_.peek().kind == Token::Kind::Dotted) {
        const Token directive = lexer_.next();
        if (directive.text == "pragma") {
            while (lexer_.peek().kind == Token::Kind::String || lexer_.peek().is(',')) lexer_.next();
            expect(';');
            continue;
        }
        if (directive.text == "attribute") {
            skip_parentheses(nullptr);
            continue;
        }
        std::vector<std::uint32_t> numbers;
        while (lexer_.peek().kind == Token::Kind::Integer) {
            numbers.push_back(expect_u32("a number"));
            if (numbers.size() > 3) fail("too many numbers after " + describe(directive));
            if (!accept(',')) break;
        }
        const bool most = directive.text == "maxntid", exactly = directive.text == "reqntid";
        if (most || exactly) {
            if (numbers.empty()) expected("a number of threads");
            numbers.resize(3, 1);
            std::copy(numbers.begin(), numbers.end(), exactly ? function.req_ntid : function.max_ntid);
        } else if (directive.text == "minnctapersm" && !numbers.empty()) {
            function.min_nctapersm = numbers[0];
        }
    }
}

void Parser::open_scope() {
    if (scopes_.size() == limit::scope_depth) fail("blocks nest too deeply");
    scopes_.emplace_back();
}

// Labels may be used before they are defined, so open names are resolved at the end of their scope. Those that the
// scope does not define pass to the enclosing scope.
void Parser::close_scope() {
    Scope scope = std::move(scopes_.back());
    scopes_.pop_back();
    for (Pending& pending : scope.pending) {
        const std::string_view name = pending.operand ? std::string_view(pending.operand->symbol) : pending.name;
        const std::optional<Entity> entity = scope.find(name);
        const bool is_label = entity && entity->kind == Entity::Kind::Label;
        const bool is_table = entity && entity->kind == Entity::Kind::Table;
        if (pending.target && is_label) {
            *pending.target = entity->index;
        } else if (pending.operand && is_label) {
            if (pending.operand->kind != Operand::Kind::Symbol || pending.operand->offset != 0) {
                fail_at(pending.line, "label '" + std::string(name) + "' cannot be an address");
            }
            pending.operand->kind = Operand::Kind::Label;
            pending.operand->target = entity->index;
        } else if (pending.operand && is_table) {
            pending.operand->symbol = entity->unique_name;
        } else if (!scopes_.empty()) {
            scopes_.back().pending.push_back(pending);
        } else if (pending.target || !is_module_name(name)) {
            fail_at(pending.line, "unknown name '" + std::string(name) + "'");
        }
    }
}

void Parser::parse_body() {
    const std::uint32_t first_line = lexer_.peek().line;
    expect('{');
    scopes_.clear();
    used_names_.clear();
    last_parameter_.clear();
    frames_.clear();
    location_ = 0;
    function_bytes_ = 0;
    label_at_end_ = false;
    open_scope();
    // Names are views of the function's own strings, which do not move.
    for (const auto* list : {&function_.returns, &function_.parameters}) {
        for (std::size_t i = 0; i < list->size(); ++i) {
            const Parameter& parameter = (*list)[i];
            used_names_.emplace(parameter.name, 0);
            const Entity entity{Entity::Kind::Parameter, static_cast<std::uint32_t>(i), 1, {}};
            if (!scopes_.back().add(parameter.name, entity)) {
                fail("parameter '" + parameter.name + "' is declared twice");
            }
        }
    }
    while (!scopes_.empty()) {
        if (lexer_.peek().kind == Token::Kind::End) fail_at(first_line, "'{' of '" + function_.name + "' without '}'");
        parse_statement();
    }
}

void Parser::parse_statement() {
    const Token& token = lexer_.peek();
    if (accept(';')) return;
    if (accept('{')) return open_scope();
    if (token.is('}')) {
        const std::uint32_t line = token.line;
        lexer_.next();
        if (scopes_.size() == 1) finish_body(line);
        return close_scope();
    }
    if (token.kind == Token::Kind::Dotted) return parse_scope_directive();
    if (token.kind == Token::Kind::Identifier && lexer_.peek_second().is(':')) return parse_label();
    parse_instruction();
}

// A label may stand at the very end, and a function may end without `ret`: both get one, so that no program counter can
// leave the body.
void Parser::finish_body(std::uint32_t line) {
    if (!label_at_end_ && !function_.body.empty()) {
        const Instruction& last = function_.body.back();
        const bool leaves = last.opcode == "ret" || last.opcode == "exit" || last.opcode == "trap" ||
                            last.opcode == "bra" || last.opcode == "brx";
        if (leaves && last.guard == Operand::no_register) return;
    }
    Instruction ret;
    ret.opcode = "ret";
    ret.location = location_;
    ret.ptx_line = line;
    function_.body.push_back(std::move(ret));
}

void Parser::parse_label() {
    const Token name = lexer_.next();
    expect(':');
    if (accept_dotted("branchtargets")) return parse_branch_targets(name.text, name.line);
    if (accept_dotted("calltargets")) return parse_call_targets(name.text);
    if (accept_dotted("callprototype")) return parse_prototype(name.text);
    const Entity label{Entity::Kind::Label, static_cast<std::uint32_t>(function_.body.size()), 1, {}};
    if (name.text[0] == '%' || !scopes_.back().add(name.text, label)) {
        fail_at(name.line, "label '" + std::string(name.text) + "' is defined twice, or its name is already used");
    }
    label_at_end_ = true;
}

void Parser::parse_scope_directive() {
    const Token directive = lexer_.next();
    Space space = Space::None;
    if (directive.text == "loc") {
        parse_location();
    } else if (directive.text == "reg") {
        parse_registers();
    } else if (directive.text == "pragma") {
        while (lexer_.peek().kind == Token::Kind::String || lexer_.peek().is(','))
            if (lexer_.next().text == "nounroll")
                function_.nounroll.push_back(static_cast<std::uint32_t>(function_.body.size()));
        expect(';');
    } else if (directive.text == "file") {
        parse_file();
    } else if (directive.text == "section") {
        skip_section();
    } else if (space_from_name(directive.text, space) && space != Space::Generic) {
        if (space == Space::Global || space == Space::Const) {
            fail_at(directive.line, describe(directive) + " variables inside a function are not supported");
        }
        parse_local_variables(space);
    } else {
        fail_at(directive.line, "unknown directive " + describe(directive) + " in a function");
    }
}

void Parser::add_register(std::string_view name, Type type, std::uint32_t width) {
    if (width == 1) {
        function_.registers.push_back({std::string(name), type});
        return;
    }
    for (std::uint32_t i = 0; i < width; ++i) {
        function_.registers.push_back({std::string(name) + "." + "xyzw"[i], type});
    }
}

void Parser::parse_registers() {
    Shape shape;
    parse_shape_prefix(shape, nullptr);
    do {
        const Token name = expect_identifier("a register's name");
        const auto first = static_cast<std::uint32_t>(function_.registers.size());
        const bool is_range = accept('<');
        const std::uint32_t count = is_range ? expect_u32("a number of registers") : 1;
        register_count_ += std::uint64_t{count} * shape.width;
        if (register_count_ > limit::registers) {
            fail_at(name.line, "more than " + std::to_string(limit::registers) + " registers in the module");
        }
        bool is_new = true;
        if (is_range) {
            expect('>');
            for (std::uint32_t i = 0; i < count; ++i) {
                add_register(std::string(name.text) + std::to_string(i), shape.type, shape.width);
            }
            is_new = scopes_.back().add_range(name.text, first, count, shape.width);
        } else {
            add_register(name.text, shape.type, shape.width);
            is_new = scopes_.back().add(name.text, {Entity::Kind::Register, first, shape.width, {}});
        }
        if (!is_new) fail_at(name.line, "'" + std::string(name.text) + "' is declared twice in its scope");
    } while (accept(','));
    expect(';');
}

// A unique name in the function for a variable or table of an inner scope: the name itself, or name@2.
std::string Parser::unique_name(std::string_view name) {
    std::string unique(name);
    const auto [entry, is_new] = used_names_.try_emplace(unique, 1);
    if (is_new && !is_module_name(name)) return unique;
    return unique + "@" + std::to_string(++entry->second);
}

void Parser::parse_local_variables(Space space) {
    Shape shape;
    parse_shape_prefix(shape, nullptr);
    if (shape.type == Type::Pred) fail("a variable cannot be a predicate");
    do {
        const Token name = expect_identifier("a variable's name");
        Variable variable = parse_declarator(space, shape, name);
        auto index = static_cast<std::uint32_t>(function_.variables.size());
        // Every call opens a block that declares param0, param1 … again. The blocks of two calls never overlap, so
        // equal parameters share storage.
        const auto last = last_parameter_.find(name.text);
        const bool shared = space == Space::Param && last != last_parameter_.end() && !find(name.text) &&
                            function_.variables[last->second].bytes == variable.bytes &&
                            function_.variables[last->second].align == variable.align &&
                            function_.variables[last->second].type == variable.type;
        if (shared) {
            index = last->second;
        } else {
            function_bytes_ += variable.bytes;
            if (function_bytes_ > limit::function_bytes) {
                fail_at(name.line, "variables of more than " + std::to_string(limit::function_bytes) +
                                       " bytes in the function '" + function_.name + "'");
            }
            variable.name = unique_name(name.text);
            function_.variables.push_back(std::move(variable));
            if (space == Space::Param) last_parameter_[name.text] = index;
        }
        if (!scopes_.back().add(name.text, {Entity::Kind::Variable, index, 1, {}})) {
            fail_at(name.line, "'" + std::string(name.text) + "' is declared twice in its scope");
        }
    } while (accept(','));
    expect(';');
}

void Parser::parse_instruction() {
    Instruction instruction;
    instruction.location = location_;
    if (accept('@')) {
        instruction.guard_negated = accept('!');
        const Operand guard = parse_named();
        if (guard.kind != Operand::Kind::Register || function_.registers[guard.reg].type != Type::Pred) {
            fail("a guard must be a predicate register");
        }
        instruction.guard = guard.reg;
    }
    const Token opcode = expect_identifier("an instruction");
    if (opcode.text[0] == '%' || opcode.text[0] == '$' || opcode.text[0] == '_') {
        fail_at(opcode.line, "expected an instruction, found " + describe(opcode));
    }
    instruction.opcode = std::string(opcode.text);
    instruction.ptx_line = opcode.line;
    while (lexer_.peek().kind == Token::Kind::Dotted) {
        if (instruction.modifiers.size() == limit::modifiers) fail("too many modifiers");
        instruction.modifiers.emplace_back(lexer_.next().text);
    }
    if (instruction.is_call()) {
        parse_call_operands(instruction);
    } else if (!lexer_.peek().is(';')) {
        do {
            if (instruction.operands.size() == limit::operands) fail("too many operands");
            instruction.operands.push_back(parse_operand(0));
        } while (accept(','));
    }
    expect(';');
    label_at_end_ = false;
    function_.body.push_back(std::move(instruction));
    for (Operand& operand : function_.body.back().operands) collect_pending(operand, opcode.line);
}

}  // namespace warpgrade::vgpu::ptx
