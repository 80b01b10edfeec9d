// What consecutive blocks did, as one host thread hands it to CacheReplay: one by one, short blocks on many host
// threads would spend their time waiting for each other.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/access/caches.hpp"
#include "vgpu/model/block_work.hpp"

namespace warpgrade::vgpu {

class L2Sets;

struct BlockRun {
    // The misses of one part of L2, of one block after the other.
    struct Part {
        std::vector<LineRequest> memory;  // its end is not in use
        std::size_t used = 0;
    };
    struct Sampled {  // for SharedL1
        std::uint64_t number;
        std::vector<LineRequest> misses;
    };
    std::uint64_t first = 0;  // number of the first block
    std::vector<BlockWork> blocks;
    std::vector<Part> parts;
    std::vector<Sampled> sampled;
    std::uint64_t lost_reads = 0, lost_writes = 0;  // see BlockL1

    // Adds a block that has ended, and takes its misses. Its number is the next one, if it is not the first.
    void add(std::uint64_t number, BlockL1& l1, const BlockWork& work, const L2Sets& sets, bool is_sampled = false);
    // The same with its misses.
    void add(std::uint64_t number, std::vector<LineRequest>& misses, const BlockWork& work, const L2Sets& sets,
             bool is_sampled = false);
    [[nodiscard]] std::size_t misses() const;  // of all parts
    void clear();                              // keeps its memory
};

}  // namespace warpgrade::vgpu
