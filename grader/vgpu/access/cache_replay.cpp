#include "vgpu/access/cache_replay.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace warpgrade::vgpu {

CacheReplay::CacheReplay(std::uint64_t l2_bytes, std::size_t slots, const Multiprocessors& multiprocessors,
                         unsigned threads)
    : alone_(threads == 1),
      max_waiting_(4 * std::size_t{threads}),
      l2_(l2_bytes, (threads + 1) / 2),
      spread_(multiprocessors.count),
      shared_l1_(multiprocessors, slots) {
    parts_.resize(std::size_t{sets().parts()} + 1);
    spare_.reserve(max_waiting_);
    for (unsigned p = 0; p < sets().parts(); ++p) parts_[p].stats.resize(slots);
}

CacheStats CacheReplay::stats(std::size_t slot) const {
    CacheStats all;
    for (unsigned p = 0; p < sets().parts(); ++p) all += parts_[p].stats[slot];
    return all;
}

void CacheReplay::replay(Part& part, BlockRun& run) {
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
    l2_.request(std::span(mine.memory).first(mine.used), part.stats, number);
    for (BlockRun::Sampled& block : run.sampled)
        if (shared_l1_.number_of(block.number) % sets().parts() == number)
            shared_l1_.add(block.number, std::move(block.misses));
}

// Gives an old run for it, if there is one.
CacheReplay::Run CacheReplay::put_in_order(Run run) {
    early_.emplace(run->first, std::move(run));
    while (!early_.empty() && early_.begin()->first == next_) {
        auto first = early_.extract(early_.begin());
        next_ += first.mapped()->blocks.size();
        queue_.push_back({std::move(first.mapped()), parts_.size()});
    }
    if (spare_.empty()) return {};
    Run old = std::move(spare_.back());
    spare_.pop_back();
    return old;
}

void CacheReplay::drop_done() {
    for (; !queue_.empty() && queue_.front().left == 0; ++dropped_) {
        if (spare_.size() < spare_.capacity()) spare_.push_back(std::move(queue_.front().run));
        queue_.pop_front();
    }
}

// Several runs at a time, since each time host threads may wait for the lock. If L2 finds no memory, the launch is
// over, and the others must not wait for this part.
void CacheReplay::work_on(Part& part, Lock& lock) {
    part.busy = true;
    while (has_more(part)) {
        std::array<BlockRun*, 32> runs{};
        const std::size_t first = part.done - dropped_, count = std::min(queue_.size() - first, runs.size());
        for (std::size_t i = 0; i < count; ++i) runs[i] = queue_[first + i].run.get();
        lock.unlock();
        try {
            for (std::size_t i = 0; i < count; ++i) replay(part, *runs[i]);
        } catch (...) {
            lock.lock();
            part.busy = false;
            progress_.notify_all();
            throw;
        }
        lock.lock();
        for (std::size_t i = 0; i < count; ++i, ++part.done) --queue_[part.done - dropped_].left;
        drop_done();
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
    if (alone_ && early_.empty() && run.first == next_) {
        next_ += run.blocks.size();
        for (Part& part : parts_) replay(part, run);
        return run.clear();
    }
    Run own = std::make_unique<BlockRun>(std::move(run)), old;
    {
        Lock lock(mutex_);
        old = put_in_order(std::move(own));
        for (std::size_t part = thread; part < parts_.size(); part += sets().parts())
            if (has_work(parts_[part])) work_on(parts_[part], lock);
        while (early_.size() + queue_.size() > max_waiting_) {
            if (Part* part = find_work())
                work_on(*part, lock);
            else if (std::ranges::none_of(parts_, &Part::busy))
                break;  // all wait for a block that has not ended
            else
                progress_.wait(lock);
        }
    }
    run = old ? std::move(*old) : BlockRun{};
    run.clear();
}

void CacheReplay::finish_all() {
    Lock lock(mutex_);
    while (Part* part = find_work()) work_on(*part, lock);
}

}  // namespace warpgrade::vgpu
