#include "vgpu/text/demangled_size.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <vector>

namespace warpgrade::vgpu {
namespace {

struct TooLong {};

// Walks a name of the Itanium C++ ABI and adds up the lengths of its parts. Where several readings of the grammar
// differ only in length, the longest one counts.
class DemangledSizer {
  public:
    DemangledSizer(std::string_view text, std::size_t most) : text_(text), most_(most) {}

    std::size_t run() {
        if (!take("_Z")) throw TooLong{};
        return encoding();
    }

  private:
    using Size = std::uint64_t;
    static constexpr unsigned max_depth = 256;
    static constexpr Size punctuation = 24;  // the most that a part prints around its own parts: " const", "(anonymous
                                             // namespace)"

    struct DepthGuard {
        explicit DepthGuard(DemangledSizer& sizer) : sizer_(sizer) {
            if (++sizer.depth_ > max_depth) throw TooLong{};
        }
        ~DepthGuard() { --sizer_.depth_; }
        DepthGuard(const DepthGuard&) = delete;
        DepthGuard& operator=(const DepthGuard&) = delete;
        DemangledSizer& sizer_;
    };

    [[nodiscard]] char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }
    bool take(std::string_view what) {
        if (!text_.substr(at_).starts_with(what)) return false;
        at_ += what.size();
        return true;
    }
    void need(std::string_view what) {
        if (!take(what)) throw TooLong{};
    }
    Size bounded(Size size) const {
        if (size > most_) throw TooLong{};
        return size;
    }
    Size add_substitution(Size size) {
        substitutions_.push_back(bounded(size));
        return size;
    }
    Size number() {
        if (!std::isdigit(static_cast<unsigned char>(peek()))) throw TooLong{};
        Size value = 0;
        while (std::isdigit(static_cast<unsigned char>(peek())))
            value = bounded(value * 10 + static_cast<Size>(text_[at_++] - '0'));
        return value;
    }
    // The index in S_, S0_, T_, T0_: S_ is 0 and S0_ is 1, with digits in base 36 or 10.
    Size reference(unsigned base) {
        if (take("_")) return 0;
        Size value = 0;
        for (; peek() != '_'; ++at_) {
            const char c = peek();
            const bool digit = c >= '0' && c <= '9', letter = base == 36 && c >= 'A' && c <= 'Z';
            if (!digit && !letter) throw TooLong{};
            value = bounded(value * base + static_cast<Size>(digit ? c - '0' : c - 'A' + 10));
        }
        ++at_;
        return value + 1;
    }

    Size encoding() {
        const DepthGuard deeper(*this);
        if (peek() == 'T' || peek() == 'G') throw TooLong{};  // tables and guards, which are not kernels
        Size size = name();
        while (at_ < text_.size() && peek() != 'E' && peek() != '.') size = bounded(size + type() + 2);
        if (peek() == '.' && depth_ == 1) {
            size += text_.size() - at_;
            at_ = text_.size();
        }
        return bounded(size + punctuation);
    }

    Size name() {
        const DepthGuard deeper(*this);
        if (peek() == 'N') return nested_name();
        if (peek() == 'Z') return local_name();
        Size size = 0;
        bool substituted = false;
        if (peek() == 'S' && peek(1) != 't') {
            size = substitution();
            substituted = true;
        } else {
            if (take("St")) size += 5;
            size += unqualified_name();
        }
        if (peek() == 'I') {
            if (!substituted) add_substitution(size);
            size += template_args();
        }
        return bounded(size);
    }

    Size nested_name() {
        need("N");
        while (peek() == 'r' || peek() == 'V' || peek() == 'K') ++at_;
        if (peek() == 'R' || peek() == 'O') ++at_;
        Size size = punctuation;
        for (bool first = true; peek() != 'E'; first = false) {
            const char c = peek();
            bool candidate = true;
            if (c == 'S' && peek(1) != 't') {
                size += substitution();
                candidate = false;
            } else if (c == 'I') {
                if (first) throw TooLong{};
                size += template_args();
            } else if (c == 'T') {
                size += template_param();
            } else if (take("St")) {
                size += 5;
                candidate = false;
            } else {
                size += unqualified_name() + 2;
            }
            bounded(size);
            if (candidate && peek() != 'E') add_substitution(size);
        }
        need("E");
        return size;
    }

    Size local_name() {
        need("Z");
        Size size = encoding();
        need("E");
        if (take("s")) {
            size += 16;
        } else {
            if (take("d")) {
                if (peek() != '_') number();
                need("_");
            }
            size += name() + 2;
        }
        if (take("__")) {
            number();
            need("_");
        } else if (peek() == '_' && std::isdigit(static_cast<unsigned char>(peek(1)))) {
            at_ += 2;
        }
        return bounded(size);
    }

    Size unqualified_name() {
        const DepthGuard deeper(*this);
        Size size = punctuation;
        take("L");
        const char c = peek();
        if (std::isdigit(static_cast<unsigned char>(c))) {
            const Size length = number();
            if (length > text_.size() - at_) throw TooLong{};
            at_ += length;
            size += length;
        } else if (take("Ul")) {
            while (!take("E")) size = bounded(size + type() + 2);
            if (peek() != '_') number();
            need("_");
        } else if (take("Ut")) {
            if (peek() != '_') number();
            need("_");
        } else if ((c == 'C' || c == 'D') && std::isdigit(static_cast<unsigned char>(peek(1)))) {
            at_ += 2;
            size += last_name_;
        } else if (take("cv")) {
            size += type();
        } else if (std::islower(static_cast<unsigned char>(c)) && std::islower(static_cast<unsigned char>(peek(1)))) {
            at_ += 2;  // an operator
        } else {
            throw TooLong{};
        }
        while (take("B")) {
            const Size length = number();
            if (length > text_.size() - at_) throw TooLong{};
            at_ += length;
            size += length + 8;
        }
        last_name_ = std::max(last_name_, size);
        return bounded(size);
    }

    Size substitution() {
        need("S");
        constexpr std::string_view abbreviations = "tabsiod";
        if (abbreviations.find(peek()) != std::string_view::npos && peek() != '\0') {
            ++at_;
            return 80;
        }
        const Size index = reference(36);
        if (index >= substitutions_.size()) throw TooLong{};
        return substitutions_[index];
    }

    // Its position decides which list of arguments it refers to. Assumes the longest argument of all lists.
    Size template_param() {
        need("T");
        reference(10);
        return longest_argument_;
    }

    Size template_args() {
        const DepthGuard deeper(*this);
        need("I");
        Size size = 4;
        while (!take("E")) size = bounded(size + template_arg() + 2);
        return size;
    }

    Size template_arg() {
        const DepthGuard deeper(*this);
        Size size = 0;
        if (peek() == 'L') {
            size = literal();
        } else if (take("J")) {
            Size count = 0;
            for (; !take("E"); ++count) size = bounded(size + template_arg() + 2);
            longest_pack_ = std::max(longest_pack_, count);
        } else if (peek() == 'X') {
            throw TooLong{};
        } else {
            size = type();
        }
        longest_argument_ = std::max(longest_argument_, size);
        return size;
    }

    Size literal() {
        need("L");
        if (take("_Z")) {
            const Size size = encoding();
            need("E");
            return size;
        }
        Size size = type() + punctuation;
        for (; peek() != 'E'; ++at_, ++size)
            if (at_ >= text_.size()) throw TooLong{};
        need("E");
        return bounded(size);
    }

    Size type() {
        const DepthGuard deeper(*this);
        const char c = peek();
        constexpr std::string_view builtin = "vwbcahstijlmxynofdegz";
        if (builtin.find(c) != std::string_view::npos && c != '\0') {
            ++at_;
            return punctuation;
        }
        if (c == 'r' || c == 'V' || c == 'K') {
            while (peek() == 'r' || peek() == 'V' || peek() == 'K') ++at_;
            return add_substitution(type() + punctuation);
        }
        switch (c) {
            case 'P':
            case 'R':
            case 'O':
            case 'C':
            case 'G':
                ++at_;
                return add_substitution(type() + punctuation);
            case 'F': {
                ++at_;
                take("Y");
                Size size = punctuation;
                while (peek() != 'E') {
                    if (peek() == 'R' && peek(1) == 'E') ++at_;
                    if (peek() == 'O' && peek(1) == 'E') ++at_;
                    if (peek() != 'E') size = bounded(size + type() + 2);
                }
                need("E");
                return add_substitution(size);
            }
            case 'A': {
                ++at_;
                Size size = punctuation;
                if (peek() != '_') size += number() / 1'000'000 + 20;
                need("_");
                return add_substitution(size + type());
            }
            case 'M': {
                ++at_;
                const Size size = type();
                return add_substitution(size + type() + punctuation);
            }
            case 'T': {
                const Size size = add_substitution(template_param());
                return peek() == 'I' ? add_substitution(size + template_args()) : size;
            }
            case 'S':
                if (peek(1) != 't') {
                    const Size size = substitution();
                    return peek() == 'I' ? add_substitution(size + template_args()) : size;
                }
                return add_substitution(name());
            case 'D':
                return type_with_d();
            case 'u':
                ++at_;
                return add_substitution(unqualified_name());
            default:
                return add_substitution(name());
        }
    }

    Size type_with_d() {
        constexpr std::string_view builtin = "defhisuanc";
        const char c = peek(1);
        at_ += 2;
        if (c == 'p') return add_substitution(bounded((type() + 8) * std::max<Size>(longest_pack_, 1)));
        if (builtin.find(c) != std::string_view::npos && c != '\0') return punctuation;
        throw TooLong{};  // decltype and vectors
    }

    std::string_view text_;
    Size most_;
    std::size_t at_ = 0;
    unsigned depth_ = 0;
    std::vector<Size> substitutions_;
    Size longest_argument_ = 0, longest_pack_ = 0, last_name_ = 0;
};

// Counts references of a name to its own parts; each at most doubles the name.
std::size_t references(std::string_view text) {
    std::size_t count = 0;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        const char next = text[i + 1];
        count += (text[i] == 'S' || text[i] == 'T') && (next == '_' || std::isdigit(static_cast<unsigned char>(next)) ||
                                                        std::isupper(static_cast<unsigned char>(next)));
    }
    return count;
}

}  // namespace

std::size_t demangled_size(std::string_view mangled, std::size_t most) {
    constexpr std::size_t max_mangled_bytes = 1 << 14;  // longer names are not worth reading
    if (mangled.size() > max_mangled_bytes) return most + 1;
    try {
        return DemangledSizer(mangled, most).run();
    } catch (const TooLong&) {
        // The name is too long, or its grammar is unknown. Packs can do more than double it.
        if (mangled.find("Dp") != std::string_view::npos) return most + 1;
        const std::size_t doublings = references(mangled);
        if (doublings >= 20 || mangled.size() * 32 > most >> doublings) return most + 1;
        return mangled.size() * 32 << doublings;
    }
}

}  // namespace warpgrade::vgpu
