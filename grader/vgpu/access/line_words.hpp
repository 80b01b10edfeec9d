// A word for each line of device memory, in pages that are made when one of their lines is first asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "vgpu/memory/host_pages.hpp"

namespace warpgrade::vgpu {

class LinePages {
  public:
    static constexpr unsigned log_lines = 12;  // of a page
    // The words of a page, zero at first. Several host threads may ask.
    std::uint64_t* get(std::uint64_t page);
    [[nodiscard]] std::size_t size() const { return pages_.size(); }
    void clear() { pages_.clear(); }

  private:
    std::mutex mutex_;
    std::unordered_map<std::uint64_t, HostPages> pages_;
};

// Finds words without the lock. Each user of the pages has one.
class LineWords {
  public:
    struct Page {
        std::uint64_t number = ~std::uint64_t{0};  // is none: lines have 41 bits
        std::uintptr_t origin = 0;                 // where the word of line 0 would be
        [[nodiscard]] std::uint64_t* word_of(std::uint64_t line) const {
            return reinterpret_cast<std::uint64_t*>(origin + line * sizeof(std::uint64_t));
        }
    };
    // Pages that were found before, by the last bits of their numbers: most are neighbours.
    struct Table {
        const Page* pages;
        std::uint64_t mask;
        [[nodiscard]] const Page& likely(std::uint64_t number) const { return pages[number & mask]; }
    };
    explicit LineWords(LinePages& pages) : pages_(&pages) {}
    [[nodiscard]] Table table() const { return {known_.data(), known_.size() - 1}; }
    // A page that the table may not have. Changes the table.
    const Page& find(std::uint64_t number);

  private:
    [[nodiscard]] Page& place_of(std::uint64_t number);
    void grow();

    LinePages* pages_;
    std::size_t count_ = 0;
    std::vector<Page> known_ = std::vector<Page>(64);  // a hash table with open addressing, mostly empty
};

}  // namespace warpgrade::vgpu
