#include "vgpu/memory/host_copy.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace warpgrade::vgpu {
namespace {
constexpr std::uint64_t page_bytes = 4096, word_bytes = LastWriter::word_bytes;
// Memory moves in pieces: what lies between two bytes that were read, not further apart than this, counts as read. A
// kernel that gathers reads single elements, and where they lie in an input shows only in between. And what was read as
// near to bytes that host code changed counts as changed: of an array that is partly as what was there before, only
// some words are different.
constexpr std::uint64_t max_unread = 64 << 10;
// A shorter run goes up with so much on both sides, read or not: a warp's largest elements. Of a few elements alone
// nobody could tell whether they are where the input has them.
constexpr std::uint64_t least_run = 32 * 8;
}  // namespace

HostCopy::HostCopy(HostPages shared, std::byte* own, std::uint64_t bytes, bool registered)
    : shared_(std::move(shared)), own_(own), bytes_(bytes), registered_(registered), changed_(bytes), loaded_(bytes) {}

void HostCopy::fetch(LastWriter& writers) {
    std::array<std::byte, page_bytes> page;
    for (std::uint64_t at = 0; at < bytes_; at += page_bytes) {
        const std::uint64_t size = std::min(page_bytes, bytes_ - at);
        if (std::memcmp(shared_.data() + at, own_ + at, size) == 0) continue;
        // Reads the shared page once, since the program may keep writing to it.
        std::memcpy(page.data(), shared_.data() + at, size);
        for (std::uint64_t i = 0; i < size; i += word_bytes) {
            const std::uint64_t part = std::min(word_bytes, size - i);
            if (std::memcmp(page.data() + i, own_ + at + i, part) == 0) continue;
            std::memcpy(own_ + at + i, page.data() + i, part);
            writers.note(at + i, part, device::writer::host);
            changed_.define(at + i, part);
            pending_ = true;
        }
        ++version_;
    }
}

void HostCopy::publish(LastWriter& writers, device::WriterTag who) {
    const auto words = writers.words();
    for (std::uint64_t word = 0; word < words.size();) {
        if (words[word] != who) {
            ++word;
            continue;
        }
        const std::uint64_t first = word;
        while (word < words.size() && words[word] == who) ++word;
        publish(first * word_bytes, std::min(word * word_bytes, bytes_) - first * word_bytes);
    }
}

void HostCopy::publish(std::uint64_t offset, std::uint64_t bytes) {
    std::memcpy(shared_.data() + offset, own_ + offset, bytes);
    if (pending_) changed_.undefine(offset, bytes);
    ++version_;
}

std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> HostCopy::take_used(LastWriter& writers) {
    std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> runs;
    if (pending_) {
        const auto words = writers.words();
        bool more = false;
        std::uint64_t end = 0;  // of the last run
        for (std::uint64_t at = 0; at < bytes_;) {
            // Skips whole pages at once: most pages are all changed or not, and all loaded or not.
            const std::uint64_t size = std::min(page_bytes, bytes_ - at);
            if (at % page_bytes == 0 && changed_.none(at, size)) {
                at += size;
                continue;
            }
            if (at % page_bytes == 0 && loaded_.none(at, size)) {
                more = true;
                at += size;
                continue;
            }
            if (!changed_.all(at, 1)) {
                ++at;
                continue;
            }
            if (!loaded_.all(at, 1)) {
                more = true;
                ++at;
                continue;
            }
            const auto is_of_host = [&](std::uint64_t place) {
                return !device::writer::is_launch(words[place / word_bytes]);
            };
            const std::uint64_t last_end = end;
            std::uint64_t first = at, last_change = at;
            for (std::uint64_t i = at; i > last_end && at - i < max_unread && is_of_host(i - 1); --i)
                if (loaded_.all(i - 1, 1)) first = i - 1;
            for (end = at + 1; at < bytes_ && at < end + max_unread && at <= last_change + max_unread && is_of_host(at);
                 ++at) {
                if (!loaded_.all(at, 1)) continue;
                end = at + 1;
                if (changed_.all(at, 1)) last_change = at;
            }
            if (!registered_ && end - first < least_run) {
                for (std::uint64_t i = 0; i < least_run && first > last_end && is_of_host(first - 1); ++i) --first;
                for (std::uint64_t i = 0; i < least_run && end < bytes_ && is_of_host(end); ++i) ++end;
            }
            runs.emplace_back(first, std::vector<std::byte>(own_ + first, own_ + end));
            more |= at > end;
            changed_.undefine(first, end - first);
            at = end;
        }
        pending_ = more;
    }
    loaded_.reset();
    return runs;
}

}  // namespace warpgrade::vgpu
