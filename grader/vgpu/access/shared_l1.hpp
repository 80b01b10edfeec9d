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
};

// The L1s of a few multiprocessors, which stand for all. Blocks go round in turn. What those that are there at the same
// time did not find in their own share of L1 is looked up here, a request of each in turn.
class SharedL1 {
  public:
    struct Found {  // sectors of loads
        std::uint64_t asked = 0, found = 0;
    };
    SharedL1(const Multiprocessors& multiprocessors, std::size_t slots);
    // Host threads may ask at any time.
    [[nodiscard]] bool samples(std::uint64_t block) const { return !has_enough_ && block % count_ % apart_ == 0; }
    // A sampled block's misses, of which only the first ones are needed. Blocks come in the order of their index.
    static constexpr std::size_t max_requests = std::size_t{1} << 14;
    void add(std::uint64_t block, std::vector<LineRequest> misses);
    // After the last block.
    void finish();
    [[nodiscard]] const Found& found(std::size_t slot) const { return found_[slot]; }

  private:
    static constexpr std::size_t ways = 4;
    struct Way {
        std::uint64_t line = 0;
        std::uint64_t used = 0;  // when; 0: never
        unsigned sectors = 0;
    };
    struct Multiprocessor {
        std::vector<Way> cache;                         // set by set
        std::vector<std::vector<LineRequest>> waiting;  // for the blocks that are there at the same time
    };
    Way& find(std::vector<Way>& cache, std::uint64_t line) const;
    void read(std::vector<Way>& cache, const LineRequest& miss);
    void run(Multiprocessor& multiprocessor);

    std::uint32_t count_, apart_, blocks_at_once_;
    std::size_t sets_;
    std::vector<Multiprocessor> sampled_;
    std::vector<Found> found_;  // by slot
    std::uint64_t now_ = 0, requests_ = 0;
    std::atomic<bool> has_enough_ = false;  // of blocks in order, so that none is missing that comes before the last
};

}  // namespace warpgrade::vgpu
