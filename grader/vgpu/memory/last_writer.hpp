// Which operation wrote each word of an allocation last: a launch, a copy, a fill (device/writer.hpp). Recorded only
// when the origin of outputs is wanted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "device/writer.hpp"
#include "vgpu/memory/host_pages.hpp"

namespace warpgrade::vgpu {

class LastWriter {
  public:
    static constexpr std::uint64_t word_bytes = 4;

    explicit LastWriter(std::uint64_t bytes) : words_((bytes + word_bytes - 1) / word_bytes), tags_(words_ * 2) {}

    // Notes the writer of every word that a range touches. Callers check offsets. Several host threads may write
    // different words at once (a launch in which they write the same word runs again serially).
    void note(std::uint64_t offset, std::uint64_t bytes, device::WriterTag who) {
        const std::uint64_t first = offset / word_bytes;
        std::fill_n(tags() + first, (offset + bytes + word_bytes - 1) / word_bytes - first, who);
    }
    // Notes one writer for the whole allocation without using memory: most inputs are written like this. Not while
    // kernels run.
    void note_all(device::WriterTag who) {
        tags_.reset();
        all_ = who;
    }
    // Copies the writers of `bytes` bytes of another allocation (or of this one), from offset `from`.
    void copy(std::uint64_t offset, LastWriter& other, std::uint64_t from, std::uint64_t bytes) {
        write_all_tags();
        other.write_all_tags();
        const std::uint64_t count = std::min(
            {(bytes + word_bytes - 1) / word_bytes, words_ - offset / word_bytes, other.words_ - from / word_bytes});
        const device::WriterTag* source = other.tags() + from / word_bytes;
        device::WriterTag* target = tags() + offset / word_bytes;
        if (source < target)  // like memmove
            std::copy_backward(source, source + count, target + count);
        else
            std::copy_n(source, count, target);
    }
    [[nodiscard]] std::span<const device::WriterTag> words() {
        write_all_tags();
        return {tags(), words_};
    }
    // The writers of the words from `offset`; `nobody` for words past the end.
    void read(std::uint64_t offset, std::span<device::WriterTag> found) const {
        const std::uint64_t first = std::min(offset / word_bytes, words_);
        const std::uint64_t count = std::min<std::uint64_t>(found.size(), words_ - first);
        const device::WriterTag* from = tags() + first;
        std::transform(from, from + count, found.begin(),
                       [all = all_](device::WriterTag who) { return who == device::writer::nobody ? all : who; });
        std::fill(found.begin() + static_cast<std::ptrdiff_t>(count), found.end(), device::writer::nobody);
    }
    void forget() { note_all(device::writer::nobody); }

    // For launches that are undone: the words of `bytes` bytes from `offset`; both are multiples of 4.
    void save(std::uint64_t offset, std::uint64_t bytes, std::byte* to) const {
        std::memcpy(to, tags() + offset / word_bytes,
                    (bytes + word_bytes - 1) / word_bytes * sizeof(device::WriterTag));
    }
    void restore(std::uint64_t offset, std::uint64_t bytes, const std::byte* from) {
        std::memcpy(tags() + offset / word_bytes, from,
                    (bytes + word_bytes - 1) / word_bytes * sizeof(device::WriterTag));
    }

  private:
    [[nodiscard]] device::WriterTag* tags() const { return reinterpret_cast<device::WriterTag*>(tags_.data()); }
    void write_all_tags() {
        if (all_ == device::writer::nobody) return;
        std::replace(tags(), tags() + words_, device::writer::nobody, all_);
        all_ = device::writer::nobody;
    }
    std::uint64_t words_;
    HostPages tags_;
    device::WriterTag all_ = device::writer::nobody;  // writer of the words whose tag is `nobody`
};

}  // namespace warpgrade::vgpu
