// Which managed memory would move between host and device, for the profile: pages of 64 KiB, as drivers move them on
// x86. Each lies where it was used last: on the device since a kernel or a copy there has used it, on the host since
// its bytes have changed between two uses by the device. What the host only reads, the server does not see. No time and
// no counter depends on this.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "device/analysis.hpp"

namespace warpgrade::device {

class Migrations {
  public:
    static constexpr std::uint64_t page_bytes = 64 << 10;
    // Bytes that are looked at for changes in one program: about a second. Beyond it nothing is counted any more.
    static constexpr std::uint64_t most_looked_at = std::uint64_t{4} << 30;

    explicit Migrations(Device& device) : device_(device) {}

    void add(DevicePtr address, std::uint64_t bytes);
    void remove(DevicePtr address) { ranges_.erase(address); }
    void clear() { ranges_.clear(); }

    // Before the device uses any of it.
    void look();
    // The device has used it.
    void used(std::span<const MemoryAccess> accesses);
    void prefetch(DevicePtr address, std::uint64_t bytes, bool to_device);

    // Since the last call.
    nlohmann::json take();
    [[nodiscard]] bool gave_up() const { return looked_at_ > most_looked_at; }

  private:
    enum class Way : std::uint8_t { to_device, to_host, prefetched_to_device, prefetched_to_host };
    struct Sum {
        std::uint64_t pages = 0, bytes = 0;
    };
    struct Page {
        enum class Home : std::uint8_t { nobody, host, device } home = Home::nobody;
        std::size_t contents = 0;  // a hash, while it is on the device
    };
    struct Range {
        std::uint64_t bytes = 0;
        std::vector<Page> pages;
    };
    std::span<const std::byte> contents(DevicePtr range, const Range& of, std::size_t page);
    // Calls visit(range's address, range, number of the page) for the pages that hold any of these bytes.
    template <class Visit>
    void for_pages(DevicePtr address, std::uint64_t bytes, Visit&& visit);
    void move(const Range& range, std::size_t page, Way way);

    Device& device_;
    std::map<DevicePtr, Range> ranges_;
    std::array<Sum, 4> sums_{};  // by Way
    std::uint64_t looked_at_ = 0;
    std::vector<std::byte> buffer_;
};

}  // namespace warpgrade::device
