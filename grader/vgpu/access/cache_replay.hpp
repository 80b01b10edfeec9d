// Gives the blocks' misses to L2 and their work to multiprocessors in the order of the blocks, regardless of the order
// in which they end. L2 has a part for each two host threads, up to L2Sets::max_parts. A part belongs to one of them,
// in whose core's caches its sets stay, and which does what there is for it whenever it hands over a run. If too many
// runs wait, any host thread does what it finds. Multiprocessors whose L1 is looked up (shared_l1.hpp) are spread over
// the parts of L2.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "vgpu/access/block_run.hpp"
#include "vgpu/access/l2_cache.hpp"
#include "vgpu/access/shared_l1.hpp"

namespace warpgrade::vgpu {

class CacheReplay {
  public:
    CacheReplay(std::uint64_t l2_bytes, std::size_t slots, const Multiprocessors& multiprocessors,
                unsigned threads = 1);
    [[nodiscard]] const L2Sets& sets() const { return l2_.sets(); }
    // Empties the run, which is not empty, of the host thread with this number.
    void finish(BlockRun& run, unsigned thread = 0);
    // Does what is left and no other host thread is doing. To be called by each one after its last run.
    void finish_all();
    // By statistics slot; all from LineRequest::max_slots on share the last one.
    [[nodiscard]] CacheStats stats(std::size_t slot) const;
    [[nodiscard]] const CacheStats& lost() const { return lost_; }  // without a slot: see BlockL1::max_requests
    [[nodiscard]] const WorkSpread& spread() const { return spread_; }
    [[nodiscard]] SharedL1& shared_l1() { return shared_l1_; }

  private:
    struct alignas(64) Part {
        bool busy = false;
        std::uint64_t done = 0;  // how many of the runs in order
        std::vector<CacheStats> stats;
    };
    using Run = std::unique_ptr<BlockRun>;
    struct Queued {
        Run run;
        std::size_t left;  // the parts that have not done it
    };
    using Lock = std::unique_lock<std::mutex>;
    [[nodiscard]] bool has_more(const Part& part) const { return part.done < dropped_ + queue_.size(); }
    [[nodiscard]] bool has_work(const Part& part) const { return !part.busy && has_more(part); }
    Part* find_work();
    Run put_in_order(Run run);
    void work_on(Part& part, Lock& lock);
    void replay(Part& part, BlockRun& run);
    void drop_done();

    std::mutex mutex_;  // of all members up to spare_, but what belongs to the run and part that a host thread works on
    std::condition_variable progress_;
    std::uint64_t next_ = 0;              // the first block that no run in order has
    std::map<std::uint64_t, Run> early_;  // by first block
    std::deque<Queued> queue_;            // the runs in order that some part has not done
    std::uint64_t dropped_ = 0;           // the runs before those
    std::vector<Part> parts_;             // of L2, and a last one for the blocks' work
    std::vector<Run> spare_;              // their memory is used again
    bool alone_;                          // there is only one host thread
    std::size_t max_waiting_;             // runs; then all help
    L2Cache l2_;
    CacheStats lost_;
    WorkSpread spread_;
    SharedL1 shared_l1_;
};

}  // namespace warpgrade::vgpu
