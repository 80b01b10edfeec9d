// What blocks find in L1 because another block of their multiprocessor has loaded it. Counters do not know of it (see
// caches.hpp), times do.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/access/caches.hpp"

namespace warpgrade::vgpu {

struct Multiprocessors {
    std::uint32_t count = 1;
    std::uint32_t blocks_at_once = 1;  // on each
    std::uint64_t l1_bytes = 0;        // of each
    std::uint64_t blocks = 1;          // of the launch
};

// The L1s of a few multiprocessors, which stand for all. Blocks go round in turn. What those that are there at the same
// time did not find in their own share of L1 is looked up here, a request of each in turn. Multiprocessors do not know
// of each other, so host threads may add blocks of different ones at the same time.
class SharedL1 {
  public:
    struct Found {  // sectors of loads
        std::uint64_t asked = 0, found = 0;
    };
    SharedL1(const Multiprocessors& multiprocessors, std::size_t slots);
    // Host threads may ask at any time.
    [[nodiscard]] bool samples(std::uint64_t block) const {
        return block % all_.count % apart_ == 0 && !sampled_[number_of(block)].has_enough;
    }
    // Which of the sampled multiprocessors has this sampled block.
    [[nodiscard]] std::size_t number_of(std::uint64_t block) const { return block % all_.count / apart_; }
    // A sampled block's misses, of which only the first ones are needed. Blocks of a multiprocessor come in the order
    // of their index.
    static constexpr std::size_t max_requests = std::size_t{1} << 14;
    void add(std::uint64_t block, std::vector<LineRequest> misses);
    [[nodiscard]] Found found(std::size_t slot) const;

  private:
    struct alignas(64) Multiprocessor {
        L1Cache cache;
        std::vector<std::vector<LineRequest>> waiting;  // for the blocks that are there at the same time
        std::vector<Found> found;                       // by slot; empty until blocks have been there
        std::uint64_t requests = 0;
        std::atomic<bool> has_enough = false;  // of its blocks in order: none is missing that comes before the last
    };
    void run(Multiprocessor& its) const;

    Multiprocessors all_;
    std::uint32_t apart_;
    std::size_t slots_;
    std::vector<Multiprocessor> sampled_;
};

}  // namespace warpgrade::vgpu
