// The text that kernels print: a ring, like CUDA's buffer. When it is full, new lines replace the oldest.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace warpgrade::device {

struct PrintedText {
    std::string text;
    std::uint64_t dropped_bytes = 0, dropped_lines = 0;  // before the text
};

class PrintBuffer {
  public:
    explicit PrintBuffer(std::uint64_t limit_bytes) : limit_(limit_bytes) {}

    void add(std::string_view text) {
        printed_.text += text;
        if (printed_.text.size() > limit_ + slack) drop_oldest();
    }
    void add(const PrintedText& more) {
        if (more.dropped_bytes > 0) {  // it is newer than all that is here
            drop(printed_.text.size());
            printed_.dropped_bytes += more.dropped_bytes;
            printed_.dropped_lines += more.dropped_lines;
        }
        add(more.text);
    }
    [[nodiscard]] bool empty() const { return printed_.text.empty() && printed_.dropped_bytes == 0; }
    PrintedText take() {
        drop_oldest();
        return std::exchange(printed_, {});
    }

  private:
    static constexpr std::uint64_t slack = 1 << 16;

    void drop_oldest() {
        if (printed_.text.size() <= limit_) return;
        const std::uint64_t excess = printed_.text.size() - limit_;
        const auto end_of_line = printed_.text.find('\n', excess - 1);
        drop(end_of_line == std::string::npos ? excess : end_of_line + 1);
    }
    void drop(std::uint64_t bytes) {
        const auto end = printed_.text.begin() + static_cast<std::ptrdiff_t>(bytes);
        printed_.dropped_bytes += bytes;
        printed_.dropped_lines += static_cast<std::uint64_t>(std::count(printed_.text.begin(), end, '\n'));
        printed_.text.erase(printed_.text.begin(), end);
    }

    std::uint64_t limit_;
    PrintedText printed_;
};

// The text, and in front of it what is missing.
inline std::string to_string(PrintedText printed) {
    if (printed.dropped_bytes == 0) return std::move(printed.text);
    return fmt::format("[printf's buffer was full: the first {} lines, {} bytes, are missing]\n", printed.dropped_lines,
                       printed.dropped_bytes) +
           printed.text;
}

}  // namespace warpgrade::device
