// Knows of some requests that they will succeed, so that the program need not wait for their replies. Only what is
// plain is foreseen: one thread, the default stream, memory of cudaMalloc, no error yet, and no kernel of which nobody
// has heard how it ended.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

#include "device/protocol.hpp"

namespace warpgrade::cudart {

class Pipelining {
  public:
    // Every request that is sent, and every reply.
    void asked(device::wire::Op op) {
        if (!is_plain(op)) plain_ = false;
        if (op == device::wire::Op::launch) running_ = true;
    }
    void answered(device::wire::Op op, bool success) {
        if (!success) plain_ = false;
        if (device::wire::ops[static_cast<std::size_t>(op)].when == device::wire::When::wait) running_ = false;
    }
    // Something else happened that makes it harder to tell.
    void doubt() { plain_ = false; }

    void allocated(std::uint64_t address, std::uint64_t bytes) { memory_[address] = bytes; }
    // The program wants to free it: does that succeed?
    bool frees(std::uint64_t address) { return memory_.erase(address) != 0 && is_clear(); }
    // A blocking copy from pageable memory.
    [[nodiscard]] bool writes(const device::wire::Region& region, const device::wire::Transfer& transfer) const {
        const bool usual = transfer.host == 0 && transfer.stream == 0 && transfer.blocking && region.height == 1;
        if (!usual || !is_clear()) return false;
        auto found = memory_.upper_bound(region.address);
        if (found == memory_.begin()) return false;
        --found;
        const std::uint64_t offset = region.address - found->first;
        return offset <= found->second && region.width <= found->second - offset;
    }

  private:
    [[nodiscard]] bool is_clear() const { return plain_ && !running_; }

    // After any other one nothing is foreseen any more.
    static bool is_plain(device::wire::Op op) {
        using device::wire::Op;
        switch (op) {
            case Op::hello:
            case Op::load_module:
            case Op::find_function:
            case Op::find_symbol:
            case Op::set_dynamic_shared:
            case Op::allocate:
            case Op::free_memory:
            case Op::memory_info:
            case Op::find_allocation:
            case Op::write:
            case Op::read:
            case Op::copy:
            case Op::fill:
            case Op::launch:
            case Op::occupancy:
            case Op::create_event:
            case Op::destroy_event:
            case Op::record_event:
            case Op::synchronize_event:
            case Op::elapsed_time:
            case Op::synchronize_stream:
            case Op::synchronize_device:
            case Op::set_limit:
            case Op::take_output:
                return true;
            default:
                return false;
        }
    }

    std::map<std::uint64_t, std::uint64_t> memory_;  // bytes by address
    bool plain_ = true, running_ = false;
};

}  // namespace warpgrade::cudart
