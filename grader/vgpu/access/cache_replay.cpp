#include "vgpu/access/cache_replay.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace warpgrade::vgpu {

CacheReplay::CacheReplay(std::uint64_t l2_bytes, std::size_t slots, std::uint32_t multiprocessors, unsigned threads)
    : max_waiting_(4 * std::size_t{threads}), l2_(l2_bytes, threads), spread_(multiprocessors) {
    parts_.resize(std::size_t{sets().parts()} + 1);
    for (unsigned p = 0; p < sets().parts(); ++p) parts_[p].stats.resize(slots);
}

CacheStats CacheReplay::stats(std::size_t slot) const {
    CacheStats all;
    for (unsigned p = 0; p < sets().parts(); ++p) all += parts_[p].stats[slot];
    return all;
}

void CacheReplay::replay(Part& part, const BlockRun& run) {
    const auto number = static_cast<unsigned>(&part - parts_.data());
    if (number == sets().parts()) {
        lost_.l2_reads += run.lost_reads;
        lost_.dram_reads += run.lost_reads;
        lost_.l2_writes += run.lost_writes;
        lost_.dram_writes += run.lost_writes;
        for (const BlockWork& work : run.blocks) spread_.add(work);
        return;
    }
    const BlockRun::Part& mine = run.parts[number];
    l2_.request(std::span(mine.memory).first(mine.used), mine.ends, part.stats, number);
}

void CacheReplay::put_in_order(BlockRun& run) {
    early_.emplace(run.first, std::move(run));
    run = {};
    if (!spare_.empty()) {
        run = std::move(spare_.back());
        spare_.pop_back();
    }
    while (!early_.empty() && early_.begin()->first == next_) {
        auto first = early_.extract(early_.begin());
        next_ += first.mapped().blocks.size();
        queue_.push_back({std::move(first.mapped()), parts_.size()});
    }
}

void CacheReplay::drop_done() {
    for (; !queue_.empty() && queue_.front().left == 0; ++dropped_) {
        spare_.push_back(std::move(queue_.front().run));
        spare_.back().clear();
        queue_.pop_front();
    }
}

void CacheReplay::work_on(Part& part, Lock& lock) {
    part.busy = true;
    while (part.done < dropped_ + queue_.size()) {
        Queued& queued = queue_[part.done - dropped_];
        lock.unlock();
        replay(part, queued.run);
        lock.lock();
        ++part.done;
        if (--queued.left == 0) drop_done();
    }
    part.busy = false;
    progress_.notify_all();
}

// The part that is furthest behind.
CacheReplay::Part* CacheReplay::find_work() {
    Part* found = nullptr;
    for (Part& part : parts_)
        if (has_work(part) && (!found || part.done < found->done)) found = &part;
    return found;
}

void CacheReplay::finish(BlockRun& run, unsigned thread) {
    if (sets().parts() == 1 && early_.empty() && run.first == next_) {  // one host thread, which has not to wait
        next_ += run.blocks.size();
        for (Part& part : parts_) replay(part, run);
        return run.clear();
    }
    Lock lock(mutex_);
    put_in_order(run);
    for (std::size_t own = thread; own < parts_.size(); own += sets().parts())
        if (has_work(parts_[own])) work_on(parts_[own], lock);
    while (early_.size() + queue_.size() > max_waiting_) {
        if (Part* part = find_work())
            work_on(*part, lock);
        else if (std::ranges::none_of(parts_, &Part::busy))
            break;  // all wait for a block that has not ended
        else
            progress_.wait(lock);
    }
}

void CacheReplay::finish_all() {
    Lock lock(mutex_);
    while (Part* part = find_work()) work_on(*part, lock);
}

}  // namespace warpgrade::vgpu
