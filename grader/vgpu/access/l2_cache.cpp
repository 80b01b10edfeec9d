#include "vgpu/access/l2_cache.hpp"

#include <bit>
#include <mutex>
#include <utility>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace warpgrade::vgpu {

struct L2Cache::Storage {
    explicit Storage(std::uint64_t count) : filled(count), sets(count * sizeof(Set)) {}
    [[nodiscard]] Set& set(std::uint64_t index) const { return reinterpret_cast<Set*>(sets.data())[index]; }
    // Lines of memory that has been freed have words too: addresses are not used again.
    static constexpr std::size_t max_kept_pages = 2048;  // the words of 1 GiB

    LinePages pages;
    std::vector<std::uint8_t> filled;  // the ways that a set has used in this launch
    HostPages sets;                    // zero-filled on demand: a small launch touches little of a large cache
    Word now = 0;
};

namespace {

// The last launch's L2, for the next launch.
template <class Storage>
struct Spare {
    std::mutex mutex;
    std::unique_ptr<Storage> storage;
};
template <class Storage>
Spare<Storage> spare;

// One bit for each half of a line of which a sector is among these.
std::uint64_t halves_of(std::uint64_t sectors) { return (sectors | sectors >> 1) & 5; }

// Where a LineRequest has its sectors, its line, and the instruction: slot and kind.
constexpr int sectors_at = 60;
constexpr std::uint64_t line_bits = (std::uint64_t{1} << 41) - 1,
                        instruction_bits = (std::uint64_t{1} << sectors_at) - 1 - line_bits;

}  // namespace

L2Sets::L2Sets(std::uint64_t l2_bytes, unsigned parts)
    : count_(std::max<std::uint64_t>(l2_bytes / line_bytes / ways, 1)),
      reciprocal_(~std::uint64_t{0} / count_ + 1),
      parts_(std::clamp(parts, 1u, max_parts)) {}

L2Cache::L2Cache(std::uint64_t bytes, unsigned parts) : sets_(bytes, parts) {
    {
        const std::lock_guard lock(spare<Storage>.mutex);
        storage_ = std::move(spare<Storage>.storage);
    }
    if (storage_ && storage_->filled.size() == sets_.count())
        std::ranges::fill(storage_->filled, std::uint8_t{0});
    else
        storage_ = std::make_unique<Storage>(sets_.count());
    if (storage_->pages.size() > Storage::max_kept_pages) storage_->pages.clear();
    for (unsigned i = 0; i < sets_.parts(); ++i)
        parts_.push_back({LineWords(storage_->pages), storage_->now, storage_->now | (tick - 1)});
}

L2Cache::~L2Cache() {
    for (const Part& part : parts_) storage_->now = std::max(storage_->now, part.now);
    const std::lock_guard lock(spare<Storage>.mutex);
    std::swap(storage_, spare<Storage>.storage);
}

inline L2Cache::Word L2Cache::Set::least_seen() const {
#if defined(__AVX2__)
    const auto least = [](__m256i v, __m256i w) {  // of words below 2^63
        return _mm256_blendv_epi8(v, w, _mm256_cmpgt_epi64(v, w));
    };
    const auto four = [&](unsigned i) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(seen + i)); };
    __m256i all = least(least(four(0), four(4)), least(four(8), four(12)));
    all = least(all, _mm256_permute4x64_epi64(all, 0b01'00'11'10));
    all = least(all, _mm256_permute4x64_epi64(all, 0b10'11'00'01));
    return static_cast<Word>(_mm_cvtsi128_si64(_mm256_castsi256_si128(all)));
#else
    Word all = seen[0];
    for (unsigned i = 1; i < ways; ++i) all = std::min(all, seen[i]);
    return all;
#endif
}

// Who asks for a line that L2 does not have often asks for the next one soon, and between irregular requests the host
// does not foresee that.
inline void L2Cache::fetch(const Set& set) {
    constexpr std::size_t host_line = 64;
    for (std::size_t at = 0; at < sizeof set; at += host_line)
        __builtin_prefetch(reinterpret_cast<const std::byte*>(&set) + at, 1);
}

// Makes room for a line that L2 does not have. `word` is what the line's place will have after the request.
void L2Cache::bring(std::uint64_t line, Word* place, Word word, CacheStats& stats) const {
    const std::uint64_t index = sets_.index_of(line);
    Set& set = storage_->set(index);
    fetch(storage_->set(std::min(index + 1, sets_.count() - 1)));
    std::uint8_t& filled = storage_->filled[index];
    Word way = filled;
    if (way < ways) {
        ++filled;
    } else {
        const auto now = [&](Word w) { return (*set.line[w] & ~way_bits) | w << 8; };
        Word least = set.least_seen();
        way = (least & way_bits) >> 8;
        if (now(way) != least) {
            for (Word w = 0; w < ways; ++w) set.seen[w] = now(w);
            least = set.least_seen();
            way = (least & way_bits) >> 8;
        }
        stats.dram_writes += count_sectors(least >> 4 & 15);
        *set.line[way] = 0;
    }
    set.line[way] = place;
    set.seen[way] = (word & ~way_bits) | way << 8;
}

// The requests of one instruction, from the next one on. Returns the first of another instruction.
template <bool Reads>
inline const LineRequest* L2Cache::request(const LineRequest* next, const LineRequest* end, Part& part,
                                           CacheStats& stats) const {
    constexpr Word set_sectors = Reads ? 0x01 : 0x11;  // valid, or dirty as well
    const auto first = std::bit_cast<std::uint64_t>(*next);
    const bool atomic = static_cast<LineRequest::Kind>(next->kind) == LineRequest::Kind::Atomic;
    const Word floor = part.floor;
    LineWords::Table table = part.words.table();
    Word now = part.now;
    std::uint64_t asked = 0, absent = 0, fetched = 0, changed = 0;
    do {
        const auto bits = std::bit_cast<std::uint64_t>(*next);
        if (((bits ^ first) & instruction_bits) != 0) break;
        const std::uint64_t line = bits & line_bits, wanted = bits >> sectors_at, number = line >> LinePages::log_lines;
        const LineWords::Page* page = &table.likely(number);
        if (page->number != number) [[unlikely]] {
            part.now = now;
            page = &part.words.find(number);
            table = part.words.table();
        }
        Word* const place = page->word_of(line);
        const Word known = *place;
        now += tick;
        Word left = known & 0xff;
        if (known <= floor) [[unlikely]] {
            left = 0;
            bring(line, place, now | wanted * set_sectors, stats);
        }
        asked += count_sectors(wanted);
        if (const Word missing = wanted & ~left) {
            absent += count_sectors(missing);
            if constexpr (Reads) fetched += count_sectors(halves_of(missing) & ~halves_of(left & 15));
        }
        if constexpr (!Reads) changed += count_sectors(wanted & left & ~(left >> 4));
        *place = now | left | wanted * set_sectors;
    } while (++next != end);
    part.now = now;
    if constexpr (Reads) {
        stats.l2_reads += asked;
        stats.l2_read_hits += asked - absent;
        stats.dram_reads += absent;
        stats.fetched_sectors += 2 * fetched;
    } else if (atomic) {
        stats.dram_reads += absent;
    } else {  // needs no old content: L2 tracks which bytes of a sector are new
        stats.l2_writes += asked;
        stats.fresh_writes += absent;
        stats.changed += changed;
    }
    return next;
}

void L2Cache::request(std::span<const LineRequest> requests, std::span<CacheStats> stats, unsigned number) {
    Part& part = parts_[number];
    const LineRequest* next = requests.data();
    const LineRequest* const last = next + requests.size();
    while (next != last) {
        CacheStats& counted = stats[next->slot];
        const bool reads = static_cast<LineRequest::Kind>(next->kind) <= LineRequest::Kind::ReadPastL1;
        next = reads ? request<true>(next, last, part, counted) : request<false>(next, last, part, counted);
    }
}

}  // namespace warpgrade::vgpu
