// Finds out whether host code uses managed memory that a kernel may still be writing. From a launch to the next wait,
// the pages that the kernel wrote are protected ("closed"). The first use of one of them ends in a signal handler,
// which records the place in the program, opens the page and continues. The device server decides whether it was too
// early.
//
// The handler takes no lock and no memory. Everything else needs Connection's lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace warpgrade::cudart {

struct HostTouch {
    std::uint64_t address = 0, code = 0;
    bool writes = false;
    std::uint32_t after = 0;  // the number of the request before it
};

class HostTouches {
  public:
    struct Pages {
        std::uint64_t begin, end;
        friend bool operator==(const Pages&, const Pages&) = default;
    };

    // Closes these pages, and opens all others.
    void close(std::vector<Pages> pages);
    [[nodiscard]] bool any_closed() const { return !pages_.empty(); }
    // For the handler. Returns true if the page is open now. `record`: keep the use for the server.
    bool open(const HostTouch& touch, bool record) noexcept;
    // The recorded uses since the last call.
    std::vector<HostTouch> take();

  private:
    struct Slot {
        HostTouch touch;
        std::atomic<bool> filled = false;
    };
    std::vector<Pages> pages_;
    std::atomic<unsigned> used_ = 0;
    Slot slots_[64];  // further uses between two requests are not recorded
};

}  // namespace warpgrade::cudart
