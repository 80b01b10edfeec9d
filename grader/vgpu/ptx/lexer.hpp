// PTX's tokens. They are scanned on demand from the text, so that a large module needs no token list. A token's text is
// valid as long as the PTX text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vgpu/ptx/ast.hpp"

namespace warpgrade::vgpu::ptx {

struct Token {
    enum class Kind : std::uint8_t {
        End,
        Identifier,  // foo, %r1, $L__BB0_2, _
        Dotted,      // .global, .L1::no_allocate, .2d: text is without the dot
        Integer,     // value; `is_unsigned` with the U suffix
        Float,       // value holds the raw bits of `float_type`
        String,      // text is between the quotes
        Punctuation  // one character: text
    };
    Kind kind = Kind::End;
    Type float_type = Type::None;
    bool is_unsigned = false;
    std::uint32_t line = 1;
    std::uint64_t value = 0;
    std::string_view text;

    [[nodiscard]] bool is(char punctuation) const { return kind == Kind::Punctuation && text[0] == punctuation; }
    [[nodiscard]] bool is_dotted(std::string_view name) const { return kind == Kind::Dotted && text == name; }
};

class Lexer {
  public:
    explicit Lexer(std::string_view text);

    [[nodiscard]] const Token& peek() const { return current_; }
    // The token after peek(). It distinguishes a label from an opcode.
    const Token& peek_second();
    Token next();  // returns peek() and moves on

  private:
    Token scan();
    void skip_blanks();
    Token scan_number();
    Token scan_hex_float(Type type, std::size_t digits);
    [[nodiscard]] char at(std::size_t offset) const {
        return position_ + offset < text_.size() ? text_[position_ + offset] : '\0';
    }
    Token take(Token::Kind kind, std::size_t length);

    std::string_view text_;
    std::size_t position_ = 0;
    std::uint32_t line_ = 1;
    Token current_, second_;
    bool has_second_ = false;
};

// Names a token for messages; long ones are shortened.
std::string describe(const Token& token);

}  // namespace warpgrade::vgpu::ptx
