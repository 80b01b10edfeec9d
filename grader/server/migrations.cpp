#include "server/migrations.hpp"

#include <algorithm>
#include <string_view>

#include "device/fresh_memory.hpp"

namespace warpgrade::server {
namespace {

std::size_t hash(std::span<const std::byte> bytes) {
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

bool is_fresh(std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{fresh_byte}; });
}

}  // namespace

void Migrations::add(DevicePtr address, std::uint64_t bytes) {
    // A device that keeps origins has its own copy of host memory, which reads here would update too early.
    if (const Analysis* analysis = device_.analysis(); !analysis || analysis->keeps_origin()) return;
    ranges_[address] = {bytes, std::vector<Page>((bytes + page_bytes - 1) / page_bytes)};
}

std::span<const std::byte> Migrations::read_page(DevicePtr base, const Range& range, std::size_t page) {
    buffer_.resize(std::min(page_bytes, range.bytes - page * page_bytes));
    examined_bytes_ += buffer_.size();
    device_.read(base + page * page_bytes, buffer_);
    return buffer_;
}

template <class Visit>
void Migrations::for_each_page(DevicePtr address, std::uint64_t bytes, Visit&& visit) {
    auto found = ranges_.upper_bound(address);
    if (found == ranges_.begin() || bytes == 0) return;
    auto& [base, range] = *--found;
    if (address - base >= range.bytes) return;
    const std::uint64_t first = address - base, last = first + std::min(range.bytes - first, bytes) - 1;
    for (std::size_t page = first / page_bytes; page <= last / page_bytes; ++page) visit(base, range, page);
}

void Migrations::move(const Range& range, std::size_t page, Way way) {
    Sum& sum = sums_[static_cast<std::size_t>(way)];
    ++sum.pages;
    sum.bytes += std::min(page_bytes, range.bytes - page * page_bytes);
}

void Migrations::find_host_writes() {
    for (auto& [base, range] : ranges_)
        for (std::size_t i = 0; i < range.pages.size() && !is_over_limit(); ++i) {
            Page& page = range.pages[i];
            if (page.home == Page::Home::nobody) {
                if (!is_fresh(read_page(base, range, i))) page.home = Page::Home::host;
            } else if (page.home == Page::Home::device && hash(read_page(base, range, i)) != page.contents) {
                page.home = Page::Home::host;
                move(range, i, Way::to_host);
            }
        }
}

void Migrations::record_accesses(std::span<const MemoryAccess> accesses) {
    if (ranges_.empty() || is_over_limit()) return;
    std::map<std::pair<DevicePtr, std::size_t>, bool> pages;  // was it written, or new to the device?
    for (const MemoryAccess& access : accesses)
        for_each_page(access.address, access.bytes, [&](DevicePtr base, Range& range, std::size_t i) {
            Page& page = range.pages[i];
            if (page.home == Page::Home::host) move(range, i, Way::to_device);
            const bool fresh = std::exchange(page.home, Page::Home::device) != Page::Home::device;
            pages[{base, i}] |= fresh || access.use != MemoryUse::read;
        });
    for (const auto& [where, changed] : pages) {
        Range& range = ranges_.at(where.first);
        if (changed) range.pages[where.second].contents = hash(read_page(where.first, range, where.second));
    }
}

void Migrations::prefetch(DevicePtr address, std::uint64_t bytes, bool to_device) {
    find_host_writes();
    if (is_over_limit()) return;
    for_each_page(address, bytes, [&](DevicePtr base, Range& range, std::size_t i) {
        Page& page = range.pages[i];
        if (to_device) {
            if (page.home == Page::Home::host) move(range, i, Way::prefetched_to_device);
            page = {Page::Home::device, hash(read_page(base, range, i))};
        } else if (std::exchange(page.home, Page::Home::host) == Page::Home::device) {
            move(range, i, Way::prefetched_to_host);
        }
    });
}

nlohmann::json Migrations::take() {
    constexpr std::array names{"to_device", "to_host", "prefetched_to_device", "prefetched_to_host"};
    auto all = nlohmann::json::object();
    for (std::size_t way = 0; way < names.size(); ++way)
        if (const Sum sum = std::exchange(sums_[way], {}); sum.pages != 0)
            all[names[way]] = {{"pages", sum.pages}, {"bytes", sum.bytes}};
    return all;
}

}  // namespace warpgrade::server
