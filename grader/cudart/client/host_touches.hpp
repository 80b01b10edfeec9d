// Finds out whether host code uses managed memory that a kernel may still be writing. From a launch to the next wait
// the pages that the kernel wrote are closed; the first use of one of them ends in a signal handler, which notes where
// the program is, opens the page and lets it go on. The device server decides whether that was too early.
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
    std::uint32_t after = 0;  // the last request before it
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
    // For the handler: does the program go on, now that the page is open? `note`: the server has to hear of it.
    bool open(const HostTouch& touch, bool note) noexcept;
    // What was noted since the last time.
    std::vector<HostTouch> take();

  private:
    struct Slot {
        HostTouch touch;
        std::atomic<bool> filled = false;
    };
    std::vector<Pages> pages_;
    std::atomic<unsigned> used_ = 0;
    Slot slots_[64];  // who makes more mistakes between two requests is told of these
};

}  // namespace warpgrade::cudart
