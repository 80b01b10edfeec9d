// The parts of a function's body besides instructions: source lines, and the tables of branches and calls.
#include <utility>

#include "vgpu/ptx/parser.hpp"
#include "vgpu/ptx/parser_state.hpp"

namespace warpgrade::vgpu::ptx {

std::size_t Parser::LocationHash::operator()(const LocationKey& key) const {
    std::uint64_t hash = key.line;
    for (const std::uint32_t part : {key.file, key.column, key.inlined_at}) {
        hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

LocationId Parser::intern(const LocationKey& key) {
    LocationKey bounded = key;
    if (location_depth_[key.inlined_at] >= limit::inline_depth) bounded.inlined_at = 0;
    const auto [entry, is_new] = location_ids_.try_emplace(bounded, static_cast<LocationId>(module_.locations.size()));
    if (is_new) {
        module_.locations.push_back({bounded.file, bounded.line, bounded.column, bounded.inlined_at});
        location_depth_.push_back(location_depth_[bounded.inlined_at] + 1);
    }
    return entry->second;
}

// `.loc 3 292 5, function_name $L__info_string1, inlined_at 2 69 9`. The enclosing frame is given only as a place; its
// own frames are those of the latest .loc at that place.
void Parser::parse_location() {
    LocationKey key{};
    key.file = expect_u32("a file number");
    key.line = expect_u32("a line");
    key.column = expect_u32("a column");
    while (accept(',')) {
        const Token part = expect_identifier("function_name or inlined_at");
        if (part.text == "function_name") {
            expect_identifier("a label");
            optional_offset();
        } else if (part.text == "inlined_at") {
            LocationKey frame{};
            frame.file = expect_u32("a file number");
            frame.line = expect_u32("a line");
            frame.column = expect_u32("a column");
            const auto known = frames_.find(frame);
            key.inlined_at = known != frames_.end() ? known->second : intern(frame);
        } else {
            fail_at(part.line, "expected function_name or inlined_at, found " + describe(part));
        }
    }
    // Line 0 marks code without a line. It counts as part of the line before.
    if (key.line == 0) return;
    location_ = intern(key);
    frames_[{key.file, key.line, key.column, 0}] = location_;
}

void Parser::parse_branch_targets(std::string_view name, std::uint32_t line) {
    auto& [unique, targets] = function_.branch_targets.emplace_back(unique_name(name), std::vector<std::uint32_t>{});
    std::vector<Token> labels;
    do {
        labels.push_back(expect_identifier("a label"));
    } while (accept(','));
    expect(';');
    targets.resize(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
        scopes_.back().pending.push_back({labels[i].text, labels[i].line, nullptr, &targets[i]});
    }
    if (!scopes_.back().add(name, {Entity::Kind::Table, 0, 1, unique})) {
        fail_at(line, "'" + std::string(name) + "' is declared twice in its scope");
    }
}

void Parser::parse_call_targets(std::string_view name) {
    std::vector<std::string> targets;
    do {
        const Token target = expect_identifier("a function's name");
        if (!is_module_name(target.text)) fail_at(target.line, "unknown function '" + std::string(target.text) + "'");
        targets.emplace_back(target.text);
    } while (accept(','));
    expect(';');
    const std::string unique = unique_name(name);
    if (!scopes_.back().add(name, {Entity::Kind::Table, 0, 1, unique})) {
        fail("'" + std::string(name) + "' is declared twice in its scope");
    }
    function_.call_targets.emplace_back(unique, std::move(targets));
}

// `proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);`
void Parser::parse_prototype(std::string_view name) {
    Prototype prototype;
    if (lexer_.peek().is('(')) prototype.returns = parse_parameters();
    expect_identifier("'_'");
    if (lexer_.peek().is('(')) prototype.parameters = parse_parameters();
    parse_function_directives(function_);
    expect(';');
    prototype.name = unique_name(name);
    if (!scopes_.back().add(name, {Entity::Kind::Table, 0, 1, prototype.name})) {
        fail("'" + std::string(name) + "' is declared twice in its scope");
    }
    function_.prototypes.push_back(std::move(prototype));
}

}  // namespace warpgrade::vgpu::ptx
