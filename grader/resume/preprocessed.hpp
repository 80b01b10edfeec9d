// Preprocessed text of a translation unit: what its headers say, and between them lines of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace warpgrade::resume {

// A part of a text, as far as it is there. Nothing here throws: record.cpp is loaded beside any C++ library, or none.
inline std::string_view part_of(std::string_view text, std::size_t at, std::size_t count = std::string_view::npos) {
    if (at > text.size()) return {};
    return {text.data() + at, std::min(count, text.size() - at)};
}

inline bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && part_of(text, text.size() - end.size()) == end;
}

// The word after an option of a command line, or nothing.
inline std::string_view word_after(std::string_view option, int count, const char* const* words) {
    for (int i = 0; i + 1 < count; ++i)
        if (words[i] == option) return words[i + 1];
    return {};
}

// Goes through a text. Lines of the unit's own that hold nothing are no part of it, nor are the markers that number
// them (`# 12 "unit.cu" 2`): how many there are before a header says nothing of the header.
class Preprocessed {
  public:
    Preprocessed(std::string_view text, std::string_view unit) : text_(text), unit_(unit) {}

    // Returns the next header's text with all that it includes; nothing at the first line of the unit's own that holds
    // something, and at the end.
    std::string_view next_header() {
        auto at = here_;
        while (at < text_.size() && (text_[at] == '\n' || is_own_marker(at))) at = next_line(at);
        if (unit_.empty() || part_of(text_, at, 2) != "# ") return {};
        const auto begin = at;
        do {
            at = text_.find(unit_, at);
            if (at == text_.npos) return {};  // the unit itself does not come again
            const auto line = text_.rfind('\n', at) + 1;
            if (is_own_marker(line)) {
                here_ = line;
                return part_of(text_, begin, line - begin);
            }
            at += unit_.size();
        } while (true);
    }

    // Where the last header that was returned ends: a marker of the unit is there.
    [[nodiscard]] std::size_t position() const { return here_; }

  private:
    [[nodiscard]] std::size_t next_line(std::size_t at) const {
        const auto end = text_.find('\n', at);
        return end == text_.npos ? text_.size() : end + 1;
    }
    [[nodiscard]] bool is_own_marker(std::size_t line) const {
        if (part_of(text_, line, 2) != "# ") return false;
        const auto digits = text_.find_first_not_of("0123456789", line + 2);
        return digits != text_.npos && part_of(text_, digits, 2) == " \"" &&
               part_of(text_, digits + 2, unit_.size()) == unit_ &&
               part_of(text_, digits + 2 + unit_.size(), 1) == "\"";
    }

    std::string_view text_, unit_;
    std::size_t here_ = 0;
};

}  // namespace warpgrade::resume
