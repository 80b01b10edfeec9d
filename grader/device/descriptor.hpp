// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

#include <utility>

namespace warpgrade::device {

class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() { reset(); }

    void reset() {
        if (number_ >= 0) ::close(number_);
        number_ = -1;
    }
    [[nodiscard]] int get() const { return number_; }
    [[nodiscard]] int release() { return std::exchange(number_, -1); }  // the caller closes it
    explicit operator bool() const { return number_ >= 0; }

  private:
    int number_ = -1;
};

}  // namespace warpgrade::device
