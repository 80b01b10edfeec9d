// The text that a kernel prints: a ring, like CUDA's buffer. When it is full, new lines replace the oldest.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

namespace warpgrade::vgpu {

class PrintBuffer {
  public:
    explicit PrintBuffer(std::uint64_t limit_bytes) : limit_(limit_bytes) {}

    void add(std::string_view record) {
        text_ += record;
        lengths_.push_back(record.size());
        while (text_.size() - dropped_ > limit_) {
            dropped_ += lengths_.front();
            lengths_.pop_front();
        }
        if (dropped_ > limit_ + slack) compact();
    }
    std::string take() {
        compact();
        lengths_.clear();
        return std::exchange(text_, {});
    }

  private:
    static constexpr std::uint64_t slack = 1 << 16;
    void compact() {
        text_.erase(0, dropped_);
        dropped_ = 0;
    }

    std::uint64_t limit_;
    std::string text_;
    std::uint64_t dropped_ = 0;  // bytes at the front of text_ that were dropped
    std::deque<std::uint64_t> lengths_;
};

}  // namespace warpgrade::vgpu
