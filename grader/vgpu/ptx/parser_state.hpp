// The parser's class. Its parts are in module_parser.cpp (module level), declaration_parser.cpp (variables, parameters,
// initial values), function_parser.cpp (bodies), operand_parser.cpp and table_parser.cpp (source lines, branch tables).
// Only for use inside ptx/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "vgpu/ptx/ast.hpp"
#include "vgpu/ptx/lexer.hpp"
#include "vgpu/ptx/names.hpp"

namespace warpgrade::vgpu::ptx {

Type type_from_name(std::string_view name);  // None if it is not a type
bool space_from_name(std::string_view name, Space& space);

class Parser {
  public:
    explicit Parser(std::string_view text) : lexer_(text) {}
    Module parse();

  private:
    struct Linkage {
        bool is_extern = false, is_visible = false, is_weak = false;
    };
    struct Alias {
        std::string_view name, aliasee;
        std::uint32_t line;
    };
    struct ModuleName {
        bool is_function;
        std::size_t index;
    };
    struct Shape {  // shape of a declaration: element type, vector width and array dimensions
        Type type = Type::None;
        std::uint32_t width = 1;
        std::uint32_t align = 0;  // 0: natural
        std::vector<std::uint64_t> dimensions;
        bool is_unsized = false;  // the first dimension is []
        [[nodiscard]] std::uint32_t natural_align() const { return align ? align : size_of(type) * width; }
    };
    // The part so far of an address that an initialiser spells byte by byte, as 0xFF(sym), 0xFF00(sym) …
    struct MaskedAddress {
        Relocation relocation;
        std::uint32_t next_byte = 0;  // 0: no address is open
    };
    struct LocationKey {
        std::uint32_t file, line, column, inlined_at;
        bool operator==(const LocationKey&) const = default;
    };
    struct LocationHash {
        std::size_t operator()(const LocationKey& key) const;
    };

    // Tokens.
    [[noreturn]] void fail(const std::string& message) const;
    [[noreturn]] void fail_at(std::uint32_t line, const std::string& message) const;
    [[noreturn]] void expected(const std::string& what) const;
    bool accept(char punctuation);
    bool accept_dotted(std::string_view name);
    void expect(char punctuation);
    Token expect_identifier(const std::string& what);
    std::uint64_t expect_integer(const std::string& what);
    std::uint32_t expect_u32(const std::string& what);
    std::int64_t expect_signed(const std::string& what);
    std::int64_t optional_offset();  // any number of `+4`, `-4`, `+-4`

    // Module level.
    void parse_version();
    void parse_target();
    void parse_file();
    void skip_section();
    void skip_parentheses(bool* is_managed);
    void parse_module_item();
    Linkage parse_linkage();
    void resolve_aliases();
    [[nodiscard]] bool is_module_name(std::string_view name) const { return module_names_.count(name) != 0; }

    // Declarations.
    void parse_shape_prefix(Shape& shape, bool* is_managed);
    void parse_dimensions(Shape& shape);
    std::uint64_t shape_bytes(const Shape& shape, std::uint64_t most) const;
    void parse_module_variables(Space space, const Linkage& linkage);
    Variable parse_declarator(Space space, Shape shape, const Token& name);
    void parse_initialiser(Variable& variable, const Shape& shape);
    void parse_initialiser_list(Variable& variable, const Shape& shape, std::size_t level, std::uint64_t first,
                                std::uint64_t& used);
    void parse_initial_value(Variable& variable, const Shape& shape, std::uint64_t element);
    Relocation parse_address_value();
    void add_masked_byte(Variable& variable, std::uint64_t offset, std::uint64_t mask);
    void reserve_initial(Variable& variable, std::uint64_t bytes);
    Parameter parse_parameter();
    std::vector<Parameter> parse_parameters();  // ( … ), possibly empty

    // Functions.
    void parse_function(bool is_entry, const Linkage& linkage);
    void parse_function_directives(Function& function);
    void parse_body();
    void parse_statement();
    void parse_label();
    void parse_scope_directive();
    void parse_registers();
    void parse_local_variables(Space space);
    void parse_location();
    void parse_branch_targets(std::string_view name, std::uint32_t line);
    void parse_call_targets(std::string_view name);
    void parse_prototype(std::string_view name);
    void parse_instruction();
    void open_scope();
    void close_scope();
    void finish_body(std::uint32_t line);
    std::string unique_name(std::string_view name);
    LocationId intern(const LocationKey& key);
    std::optional<Entity> find(std::string_view name) const;
    void add_register(std::string_view name, Type type, std::uint32_t width);

    // Operands.
    Operand parse_operand(std::size_t depth);
    Operand parse_named();
    Operand parse_address(std::size_t depth);
    Operand parse_list(char open, char close, std::size_t depth);
    Operand parse_immediate();
    void parse_call_operands(Instruction& instruction);
    void collect_pending(Operand& operand, std::uint32_t line);

    Lexer lexer_;
    Module module_;
    std::unordered_map<std::string_view, ModuleName> module_names_;
    std::vector<Alias> aliases_;
    std::uint64_t register_count_ = 0, initialised_bytes_ = 0;
    std::unordered_map<LocationKey, LocationId, LocationHash> location_ids_;
    std::vector<std::uint32_t> location_depth_{0};
    MaskedAddress masked_;

    // Of the function being parsed.
    Function function_;
    std::vector<Scope> scopes_;
    std::uint64_t function_bytes_ = 0;                                    // of its variables
    std::unordered_map<std::string, std::uint32_t> used_names_;           // unique names and their last suffix
    std::unordered_map<std::string_view, std::uint32_t> last_parameter_;  // latest index of each .param variable
    std::unordered_map<LocationKey, LocationId, LocationHash> frames_;    // latest location at a file, line, column
    LocationId location_ = 0;
    bool label_at_end_ = false;
};

}  // namespace warpgrade::vgpu::ptx
