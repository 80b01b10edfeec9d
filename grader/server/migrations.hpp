// Estimates how managed memory would migrate between host and device, for the profile, in pages of 64 KiB as drivers on
// x86 move them. A page moves to the device when a kernel or copy uses it there, and to the host when its bytes have
// changed between two uses by the device. The server cannot see pages that the host only reads. No modelled time and no
// counter depends on this.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "device/analysis.hpp"
#include "server/device_names.hpp"

namespace warpgrade::server {

class Migrations {
  public:
    static constexpr std::uint64_t page_bytes = 64 << 10;
    // Bytes examined for changes in one program, which takes about a second. Beyond it counting stops.
    static constexpr std::uint64_t max_examined_bytes = std::uint64_t{4} << 30;

    explicit Migrations(Device& device) : device_(device) {}

    void add(DevicePtr address, std::uint64_t bytes);
    void remove(DevicePtr address) { ranges_.erase(address); }
    void clear() { ranges_.clear(); }

    // Call it before the device uses managed memory.
    void find_host_writes();
    void record_accesses(std::span<const MemoryAccess> accesses);
    void prefetch(DevicePtr address, std::uint64_t bytes, bool to_device);

    // The migrations since the last call.
    nlohmann::json take();
    [[nodiscard]] bool is_over_limit() const { return examined_bytes_ > max_examined_bytes; }

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
    std::span<const std::byte> read_page(DevicePtr base, const Range& range, std::size_t page);
    // Calls visit(base address of the range, range, page number) for the pages that hold any of these bytes.
    template <class Visit>
    void for_each_page(DevicePtr address, std::uint64_t bytes, Visit&& visit);
    void move(const Range& range, std::size_t page, Way way);

    Device& device_;
    std::map<DevicePtr, Range> ranges_;
    std::array<Sum, 4> sums_{};  // by Way
    std::uint64_t examined_bytes_ = 0;
    std::vector<std::byte> buffer_;
};

}  // namespace warpgrade::server
