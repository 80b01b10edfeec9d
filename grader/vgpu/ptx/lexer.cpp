#include "vgpu/ptx/lexer.hpp"

#include <bit>
#include <charconv>

namespace warpgrade::vgpu::ptx {
namespace {

// <cctype> depends on the locale and is undefined for negative char.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name_start(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%'; }
bool is_name_part(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }
bool is_modifier_part(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

int digit_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

}  // namespace

Lexer::Lexer(std::string_view text) : text_(text) {
    // The fatbinary pads its PTX with zero bytes.
    while (!text_.empty() && text_.back() == '\0') text_.remove_suffix(1);
    current_ = scan();
}

const Token& Lexer::peek_second() {
    if (!has_second_) {
        second_ = scan();
        has_second_ = true;
    }
    return second_;
}

Token Lexer::next() {
    Token token = current_;
    if (has_second_) {
        current_ = second_;
        has_second_ = false;
    } else {
        current_ = scan();
    }
    return token;
}

void Lexer::skip_blanks() {
    while (position_ < text_.size()) {
        const char c = text_[position_];
        if (c == '\n') {
            ++line_;
            ++position_;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            ++position_;
        } else if (c == '/' && at(1) == '/') {
            while (position_ < text_.size() && text_[position_] != '\n') ++position_;
        } else if (c == '/' && at(1) == '*') {
            const std::uint32_t opened = line_;
            position_ += 2;
            while (!(at(0) == '*' && at(1) == '/')) {
                if (position_ >= text_.size()) throw PtxError(opened, "unterminated comment");
                if (text_[position_] == '\n') ++line_;
                ++position_;
            }
            position_ += 2;
        } else {
            return;
        }
    }
}

Token Lexer::take(Token::Kind kind, std::size_t length) {
    Token token;
    token.kind = kind;
    token.line = line_;
    token.text = text_.substr(position_, length);
    position_ += token.text.size();
    return token;
}

Token Lexer::scan() {
    skip_blanks();
    const char c = at(0);
    if (position_ >= text_.size()) return take(Token::Kind::End, 0);
    if (is_digit(c)) return scan_number();
    if (is_name_start(c)) {
        std::size_t length = 1;
        while (is_name_part(at(length))) ++length;
        return take(Token::Kind::Identifier, length);
    }
    if (c == '.' && is_modifier_part(at(1))) {
        ++position_;
        std::size_t length = 1;
        while (is_modifier_part(at(length)) ||
               (at(length) == ':' && at(length + 1) == ':' && is_modifier_part(at(length + 2)))) {
            length += at(length) == ':' ? 2 : 1;
        }
        return take(Token::Kind::Dotted, length);
    }
    if (c == '"') {
        ++position_;
        std::size_t length = 0;
        while (at(length) != '"') {
            if (position_ + length >= text_.size() || at(length) == '\n') throw PtxError(line_, "unterminated string");
            length += at(length) == '\\' && at(length + 1) != '\n' ? 2 : 1;
        }
        Token token = take(Token::Kind::String, length);
        ++position_;
        return token;
    }
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
        throw PtxError(line_, "unexpected byte " + std::to_string(static_cast<unsigned char>(c)));
    }
    return take(Token::Kind::Punctuation, 1);
}

// 0f3F800000 and 0d3FF0000000000000: the raw bits of a float.
Token Lexer::scan_hex_float(Type type, std::size_t digits) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < digits; ++i) {
        const int digit = digit_value(at(2 + i));
        if (digit > 15) throw PtxError(line_, "float literal needs " + std::to_string(digits) + " hexadecimal digits");
        bits = bits << 4 | static_cast<std::uint64_t>(digit);
    }
    Token token = take(Token::Kind::Float, 2 + digits);
    token.float_type = type;
    token.value = bits;
    return token;
}

Token Lexer::scan_number() {
    const char second = at(0) == '0' ? static_cast<char>(at(1) | 0x20) : '\0';
    if (second == 'f') return scan_hex_float(Type::F32, 8);
    if (second == 'd') return scan_hex_float(Type::F64, 16);
    const bool hex = second == 'x', binary = second == 'b';
    std::size_t length = hex || binary ? 2 : 0;

    if (!hex && !binary) {
        std::size_t end = 0;
        while (is_digit(at(end))) ++end;
        const bool point = at(end) == '.' && is_digit(at(end + 1));
        const bool exponent = (at(end) | 0x20) == 'e';
        if (point || exponent) {
            double value = 0;
            const char* first = text_.data() + position_;
            const auto result = std::from_chars(first, text_.data() + text_.size(), value);
            if (result.ec != std::errc{}) throw PtxError(line_, "float literal out of range");
            Token token = take(Token::Kind::Float, static_cast<std::size_t>(result.ptr - first));
            token.float_type = Type::F64;
            token.value = std::bit_cast<std::uint64_t>(value);
            if (is_name_part(at(0))) throw PtxError(line_, "malformed number");
            return token;
        }
    }

    const unsigned base = hex ? 16 : binary ? 2 : at(0) == '0' && is_digit(at(1)) ? 8 : 10;
    const std::size_t start = length;
    std::uint64_t value = 0;
    while (digit_value(at(length)) < static_cast<int>(base)) {
        const auto digit = static_cast<unsigned>(digit_value(at(length)));
        if (value > (~std::uint64_t{0} - digit) / base) throw PtxError(line_, "integer literal of more than 64 bits");
        value = value * base + digit;
        ++length;
    }
    const std::size_t end = length;
    const bool is_unsigned = at(length) == 'U' || at(length) == 'u';
    if (is_unsigned) ++length;
    if (end == start || is_name_part(at(length))) throw PtxError(line_, "malformed number");
    Token token = take(Token::Kind::Integer, length);
    token.value = value;
    token.is_unsigned = is_unsigned;
    return token;
}

std::string describe(const Token& token) {
    constexpr std::size_t max_shown_bytes = 60;
    if (token.kind == Token::Kind::End) return "the end of the text";
    std::string text(token.text.substr(0, max_shown_bytes));
    if (token.text.size() > max_shown_bytes) text += "…";
    if (token.kind == Token::Kind::String) return "\"" + text + "\"";
    return (token.kind == Token::Kind::Dotted ? "'." : "'") + text + "'";
}

}  // namespace warpgrade::vgpu::ptx
