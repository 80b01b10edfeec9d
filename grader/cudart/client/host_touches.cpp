#include "cudart/client/host_touches.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>

#include "device/address_space.hpp"

namespace warpgrade::cudart {
namespace {

constexpr std::uint64_t page = device::address_space::page_bytes;

bool protect(const HostTouches::Pages& pages, int how) noexcept {
    return ::mprotect(reinterpret_cast<void*>(pages.begin), pages.end - pages.begin, how) == 0;
}

}  // namespace

void HostTouches::close(std::vector<Pages> pages) {
    for (const Pages& old : pages_)
        if (std::ranges::find(pages, old) == pages.end()) protect(old, PROT_READ | PROT_WRITE);
    pages_ = std::move(pages);
    for (const Pages& now : pages_) protect(now, PROT_NONE);
}

bool HostTouches::open(const HostTouch& touch, bool record) noexcept {
    const std::uint64_t begin = touch.address / page * page;
    if (!protect({begin, begin + page}, PROT_READ | PROT_WRITE)) return false;
    if (!record) return true;
    const unsigned slot = used_++;
    if (slot >= std::size(slots_)) return used_ = std::size(slots_), true;
    slots_[slot].touch = touch;
    slots_[slot].filled = true;
    return true;
}

std::vector<HostTouch> HostTouches::take() {
    std::vector<HostTouch> all;
    if (used_ == 0) return all;
    for (Slot& slot : slots_)
        if (slot.filled.exchange(false)) all.push_back(slot.touch);
    used_ = 0;
    return all;
}

}  // namespace warpgrade::cudart
