#include "vgpu/memory/defined.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace warpgrade::vgpu {

bool DefinedBytes::all(std::uint64_t offset, std::uint64_t bytes) const {
    bool defined = true;
    for_words(offset, bytes, [&](std::uint64_t word, std::uint64_t mask) {
        const std::uint64_t now = std::atomic_ref(words()[word]).load(std::memory_order_relaxed);
        defined &= (now & mask) == mask;
    });
    return defined;
}

bool DefinedBytes::none(std::uint64_t offset, std::uint64_t bytes) const {
    bool undefined = true;
    for_words(offset, bytes, [&](std::uint64_t word, std::uint64_t mask) {
        undefined &= (std::atomic_ref(words()[word]).load(std::memory_order_relaxed) & mask) == 0;
    });
    return undefined;
}

void DefinedBytes::reset() {
    if (missing_ == bytes_) return;
    bits_.reset();
    missing_ = bytes_;
}

void DefinedBytes::define(std::uint64_t offset, std::uint64_t bytes) {
    for_words(offset, bytes, [&](std::uint64_t word, std::uint64_t mask) {
        std::atomic_ref bits(words()[word]);
        if ((bits.load(std::memory_order_relaxed) & mask) == mask) return;
        const std::uint64_t before = bits.fetch_or(mask, std::memory_order_relaxed);
        missing_.fetch_sub(static_cast<unsigned>(std::popcount(mask & ~before)), std::memory_order_relaxed);
    });
}

void DefinedBytes::undefine(std::uint64_t offset, std::uint64_t bytes) {
    for_words(offset, bytes, [&](std::uint64_t word, std::uint64_t mask) {
        const std::uint64_t before = std::atomic_ref(words()[word]).fetch_and(~mask, std::memory_order_relaxed);
        missing_.fetch_add(static_cast<unsigned>(std::popcount(mask & before)), std::memory_order_relaxed);
    });
}

void DefinedBytes::copy(std::uint64_t offset, const DefinedBytes* other, std::uint64_t from, std::uint64_t bytes) {
    if (!other || other->complete() || other->all(from, bytes)) return define(offset, bytes);
    const auto one = [&](std::uint64_t i) {
        if (other->all(from + i, 1))
            define(offset + i, 1);
        else
            undefine(offset + i, 1);
    };
    if (other == this && from < offset)  // like memmove
        for (std::uint64_t i = bytes; i-- > 0;) one(i);
    else
        for (std::uint64_t i = 0; i < bytes; ++i) one(i);
}

void DefinedBytes::save(std::uint64_t offset, std::uint64_t bytes, std::byte* to) const {
    std::memcpy(to, bits_.data() + offset / 8, std::min((bytes + 63) / 64 * 8, bits_.size() - offset / 8));
}

void DefinedBytes::restore(std::uint64_t offset, std::uint64_t bytes, const std::byte* from) {
    const std::uint64_t last = std::min((offset + bytes + 63) / 64, bits_.size() / 8);
    for (std::uint64_t word = offset / 64; word < last; ++word) {
        std::uint64_t before;
        std::memcpy(&before, from + (word - offset / 64) * 8, sizeof before);
        missing_ += static_cast<unsigned>(std::popcount(words()[word]));
        missing_ -= static_cast<unsigned>(std::popcount(before));
        words()[word] = before;
    }
}

}  // namespace warpgrade::vgpu
