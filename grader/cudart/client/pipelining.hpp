// Predicts which requests will succeed, so that the program need not wait for their replies. It does so only in simple
// programs: one thread, the default stream, memory from cudaMalloc, no error so far, and no kernel since the last wait.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

#include "device/protocol.hpp"

namespace warpgrade::cudart {

class Pipelining {
  public:
    void record_request(device::wire::Op op) {
        if (!is_plain(op)) plain_ = false;
        if (op == device::wire::Op::launch) running_ = true;
    }
    void record_reply(device::wire::Op op, bool success) {
        if (!success) plain_ = false;
        if (device::wire::ops[static_cast<std::size_t>(op)].when == device::wire::When::wait) running_ = false;
    }
    // Predicts nothing from here on.
    void stop() { plain_ = false; }

    void record_allocation(std::uint64_t address, std::uint64_t bytes) { memory_[address] = bytes; }
    // Records that the program frees the memory; returns true if that will succeed.
    bool record_free(std::uint64_t address) { return memory_.erase(address) != 0 && is_clear(); }
    // True if the copy to the device will succeed.
    [[nodiscard]] bool can_write(const device::wire::Region& region, const device::wire::Transfer& transfer) const {
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

    // Any other request ends the predictions.
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
