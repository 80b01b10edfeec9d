#include <charconv>

#include "vgpu/ptx/parser.hpp"
#include "vgpu/ptx/parser_state.hpp"

namespace warpgrade::vgpu::ptx {

namespace {

std::uint64_t count_operands(const std::vector<Operand>& operands) {
    std::uint64_t count = operands.size();
    for (const Operand& operand : operands) count += count_operands(operand.elements);
    return count;
}

}  // namespace

Module parse(std::string_view text) { return Parser(text).parse(); }

void Parser::fail(const std::string& message) const { throw PtxError(lexer_.peek().line, message); }
void Parser::fail_at(std::uint32_t line, const std::string& message) const { throw PtxError(line, message); }
void Parser::expected(const std::string& what) const {
    fail("expected " + what + ", found " + describe(lexer_.peek()));
}

bool Parser::accept(char punctuation) {
    if (!lexer_.peek().is(punctuation)) return false;
    lexer_.next();
    return true;
}

bool Parser::accept_dotted(std::string_view name) {
    if (!lexer_.peek().is_dotted(name)) return false;
    lexer_.next();
    return true;
}

void Parser::expect(char punctuation) {
    if (!accept(punctuation)) expected(std::string("'") + punctuation + "'");
}

Token Parser::expect_identifier(const std::string& what) {
    if (lexer_.peek().kind != Token::Kind::Identifier) expected(what);
    return lexer_.next();
}

std::uint64_t Parser::expect_integer(const std::string& what) {
    if (lexer_.peek().kind != Token::Kind::Integer) expected(what);
    return lexer_.next().value;
}

std::uint32_t Parser::expect_u32(const std::string& what) {
    if (lexer_.peek().kind == Token::Kind::Integer && lexer_.peek().value > 0xffffffffu) fail(what + " is too large");
    return static_cast<std::uint32_t>(expect_integer(what));
}

std::int64_t Parser::expect_signed(const std::string& what) {
    const bool negative = accept('-');
    const std::uint64_t value = expect_integer(what);
    return static_cast<std::int64_t>(negative ? 0 - value : value);
}

std::int64_t Parser::optional_offset() {
    std::uint64_t offset = 0;
    while (lexer_.peek().is('+') || lexer_.peek().is('-')) {
        const bool subtract = lexer_.next().is('-');
        const auto value = static_cast<std::uint64_t>(expect_signed("an offset"));
        offset = subtract ? offset - value : offset + value;
    }
    return static_cast<std::int64_t>(offset);
}

Module Parser::parse() {
    if (!lexer_.peek().is_dotted("version")) expected("'.version' at the start of the module");
    parse_version();
    while (lexer_.peek().kind != Token::Kind::End) parse_module_item();
    if (module_.target_name.empty()) fail("the module has no .target");
    resolve_aliases();
    return std::move(module_);
}

void Parser::parse_version() {
    lexer_.next();
    const Token token = lexer_.next();
    const char* end = token.text.data() + token.text.size();
    const auto major = std::from_chars(token.text.data(), end, module_.version_major);
    if (token.kind != Token::Kind::Float || major.ec != std::errc{} || major.ptr == end || *major.ptr != '.' ||
        std::from_chars(major.ptr + 1, end, module_.version_minor).ptr != end) {
        fail_at(token.line, "expected a version such as 9.0, found " + describe(token));
    }
}

void Parser::parse_target() {
    do {
        const Token token = expect_identifier("a target such as sm_90");
        if (token.text.substr(0, 3) != "sm_") continue;  // debug, texmode_independent, map_f64_to_f32
        module_.target_name = std::string(token.text);
        const char* digits = token.text.data() + 3;
        const char* end = token.text.data() + token.text.size();
        const auto number = std::from_chars(digits, end, module_.target);
        if (number.ec != std::errc{} || end - number.ptr > 1 || module_.target < 0) {
            fail_at(token.line, "expected a target such as sm_90, found " + describe(token));
        }
    } while (accept(','));
}

void Parser::parse_file() {
    const std::uint32_t index = expect_u32("a file number");
    if (lexer_.peek().kind != Token::Kind::String) expected("a file name");
    module_.files.emplace_back(index, std::string(lexer_.next().text));
    while (accept(',')) expect_integer("a time stamp or a size");
}

// Skips debug information.
void Parser::skip_section() {
    lexer_.next();  // the name, with or without a dot
    const std::uint32_t line = lexer_.peek().line;
    expect('{');
    for (std::size_t depth = 1; depth > 0;) {
        if (lexer_.peek().kind == Token::Kind::End) fail_at(line, "'{' of a .section without '}'");
        const Token token = lexer_.next();
        if (token.is('{')) ++depth;
        if (token.is('}')) --depth;
    }
}

// `.attribute(.managed)` and similar; the opening parenthesis is next.
void Parser::skip_parentheses(bool* is_managed) {
    expect('(');
    for (std::size_t depth = 1; depth > 0;) {
        if (lexer_.peek().kind == Token::Kind::End) expected("')'");
        const Token token = lexer_.next();
        if (token.is('(')) ++depth;
        if (token.is(')')) --depth;
        if (is_managed && token.is_dotted("managed")) *is_managed = true;
    }
}

Parser::Linkage Parser::parse_linkage() {
    Linkage linkage;
    for (;;) {
        if (accept_dotted("extern")) {
            linkage.is_extern = true;
        } else if (accept_dotted("visible")) {
            linkage.is_visible = true;
        } else if (accept_dotted("weak") || accept_dotted("common")) {
            linkage.is_weak = linkage.is_visible = true;
        } else {
            return linkage;
        }
    }
}

void Parser::parse_module_item() {
    if (accept(';')) return;
    const Linkage linkage = parse_linkage();
    if (lexer_.peek().kind != Token::Kind::Dotted) expected("a directive");
    const Token directive = lexer_.next();
    Space space = Space::None;
    if (directive.text == "target") {
        parse_target();
    } else if (directive.text == "address_size") {
        module_.address_bits = static_cast<int>(expect_u32("32 or 64"));
        if (module_.address_bits != 64) fail_at(directive.line, "only 64-bit addresses are supported");
    } else if (directive.text == "file") {
        parse_file();
    } else if (directive.text == "section") {
        skip_section();
    } else if (directive.text == "pragma") {
        while (!accept(';')) {
            if (lexer_.peek().kind == Token::Kind::End) expected("';' after .pragma");
            lexer_.next();
        }
    } else if (directive.text == "entry" || directive.text == "func") {
        parse_function(directive.text == "entry", linkage);
    } else if (directive.text == "alias") {
        const Token name = expect_identifier("a function's name");
        expect(',');
        aliases_.push_back({name.text, expect_identifier("a function's name").text, name.line});
        expect(';');
    } else if (space_from_name(directive.text, space) && space != Space::Param && space != Space::Generic) {
        parse_module_variables(space, linkage);
    } else {
        fail_at(directive.line, "unknown directive " + describe(directive));
    }
}

// `.alias a, b;`: a is declared, b is defined; a becomes a second function with b's body.
void Parser::resolve_aliases() {
    std::uint64_t repeated = 0;
    for (const Alias& alias : aliases_) {
        const auto name = module_names_.find(alias.name), aliasee = module_names_.find(alias.aliasee);
        if (name == module_names_.end() || !name->second.is_function ||
            !module_.functions[name->second.index].is_declaration) {
            fail_at(alias.line, ".alias needs a declared function, but '" + std::string(alias.name) + "' is not one");
        }
        if (aliasee == module_names_.end() || !aliasee->second.is_function ||
            module_.functions[aliasee->second.index].is_declaration) {
            fail_at(alias.line,
                    ".alias refers to '" + std::string(alias.aliasee) + "', which is not a defined function");
        }
        const Function& body = module_.functions[aliasee->second.index];
        repeated += body.registers.size() + body.variables.size();
        for (const Instruction& instruction : body.body) repeated += 1 + count_operands(instruction.operands);
        if (repeated > limit::alias_instructions) fail_at(alias.line, "the module's aliases repeat too much code");
        Function copy = body;
        copy.name = std::string(alias.name);
        module_.functions[name->second.index] = std::move(copy);
    }
}

}  // namespace warpgrade::vgpu::ptx
