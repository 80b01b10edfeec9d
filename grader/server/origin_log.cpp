#include "server/origin_log.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "device/address_space.hpp"

namespace warpgrade::device {

DevicePtr OriginLog::base_of(DevicePtr address) const {
    const auto found = device_.find_allocation(address);
    return found ? found->address : 0;
}

void OriginLog::keep_up(std::span<const std::byte> bytes, std::uint64_t total, bool mapped, DevicePtr base) {
    if (up_bytes_ + bytes.size() > max_bytes) {
        overflown_ = true;
        return;
    }
    up_bytes_ += bytes.size();
    if (total != 0 || up_.empty()) {
        up_.push_back({{}, mapped, ++number_, base});
        up_.back().bytes.reserve(std::min<std::uint64_t>(total, max_bytes));
    }
    up_.back().bytes.insert(up_.back().bytes.end(), bytes.begin(), bytes.end());
}

void OriginLog::wrote(DevicePtr address, std::span<const std::byte> piece, std::uint64_t total) {
    if (enabled()) keep_up(piece, total, false, base_of(address));
}

void OriginLog::keep(Down piece) {
    down_bytes_ += piece.bytes.size();
    piece.number = ++number_;
    down_.push_back(std::move(piece));
    // What came down first is the least likely to be the result.
    while (down_bytes_ > max_bytes && down_.size() > 1) {
        down_bytes_ -= down_.front().bytes.size();
        down_.pop_front();
        overflown_ = true;
    }
}

void OriginLog::read(const wire::Region& region) {
    if (!enabled()) return;
    Down piece;
    piece.address = region.address;
    piece.bytes.resize(region.bytes());
    piece.writers.resize((piece.bytes.size() + 3) / 4);
    if (!region.contiguous()) piece.row_bytes = region.width;
    region.for_each_part(0, piece.bytes.size(), [&](std::uint64_t address, std::uint64_t at, std::uint64_t bytes) {
        device_.read(address, std::span(piece.bytes).subspan(at, bytes));
        device_.writers_of(address, std::span(piece.writers).subspan(at / 4, (bytes + 3) / 4));
    });
    if (std::ranges::find(piece.writers, writer::host) != piece.writers.end()) used_.insert(base_of(region.address));
    keep(std::move(piece));
}

void OriginLog::copied(const wire::Region& destination, const wire::Region& source) {
    if (!enabled()) return;
    steps_.push_back({0, {base_of(source.address)}, {base_of(destination.address)}});
    used_.insert(base_of(source.address));
    const std::uint64_t run = source.pitch == source.width && destination.pitch == destination.width
                                  ? source.bytes()
                                  : std::min(source.width, destination.width);
    const auto whole = device_.find_allocation(source.address);
    if (run >= small_copy_bytes || (whole && run == whole->bytes)) return;
    small_copies_ += destination.height;
    if (small_copies_ <= max_small_copies) return;
    for (std::uint64_t row = 0; row < destination.height; ++row)
        device_.mark_written(destination.address + row * destination.pitch, destination.width, writer::scattered);
}

void OriginLog::filled(DevicePtr address, std::uint8_t value, std::uint64_t bytes) {
    if (!enabled()) return;
    // Four fills of a byte each can spell a value.
    if (bytes < sizeof(std::uint32_t)) spelling_.insert(value);
    if (fills_.size() < max_fills) fills_.insert({address, bytes, value});
}

void OriginLog::launching(const LaunchConfig& config, const FunctionInfo& info, std::span<const std::byte> params) {
    if (!enabled()) return;
    for (const std::uint32_t size : {config.grid.x, config.grid.y, config.grid.z, config.block.x, config.block.y,
                                     config.block.z, static_cast<std::uint32_t>(config.dynamic_shared_bytes)})
        words_.insert(size);
    for (const ParamInfo& param : info.params) {
        for (std::uint32_t at = param.offset; at < param.offset + param.bytes;) {
            std::uint64_t pointer = 0;
            if (at % 8 == 0 && at + 8 <= param.offset + param.bytes) {
                std::memcpy(&pointer, params.data() + at, 8);
                const auto found = pointer ? device_.find_allocation(pointer) : std::nullopt;
                if (found) {
                    if (pointer != found->address) {  // an offset is a number like any other
                        words_.insert(static_cast<std::uint32_t>(pointer - found->address));
                        if ((pointer - found->address) >> 32)
                            words_.insert(static_cast<std::uint32_t>((pointer - found->address) >> 32));
                    }
                    at += 8;
                    continue;
                }
            }
            std::uint32_t word = 0;
            const std::uint32_t size = std::min<std::uint32_t>(4, param.offset + param.bytes - at);
            std::memcpy(&word, params.data() + at, size);
            words_.insert(word);
            at += size;
        }
    }
}

void OriginLog::launched(const LaunchRecord& record) {
    if (!enabled()) return;
    steps_.push_back({++launches_, record.read_from, record.written_to});
    used_.insert(record.read_from.begin(), record.read_from.end());
    overwritten_.insert(record.written_to.begin(), record.written_to.end());
    for (const auto& run : device_.take_host_data()) keep_up(run, run.size(), true, 0);
}

void OriginLog::loaded(std::span<const std::byte> image) {
    if (!enabled()) return;
    if (up_bytes_ + image.size() > max_bytes) {
        overflown_ = true;
        return;
    }
    up_bytes_ += image.size();
    images_.emplace_back(image.begin(), image.end());
}

// Registered memory is shared by whole pages, and an array may begin in the last page of another one: such neighbours
// are one piece.
void OriginLog::waited() {
    if (!enabled()) return;
    Down piece;
    bool changed = false;
    const auto end = [&] {
        if (changed && std::ranges::any_of(piece.writers, writer::is_launch)) keep(std::move(piece));
        piece = {}, changed = false;
    };
    device_.visit_host_memory([&](const HostMemoryView& view) {
        const bool registered = view.address < address_space::host_base || view.address >= address_space::host_end;
        std::uint64_t& seen = seen_[view.address];
        const bool is_new = std::exchange(seen, view.version) != view.version;
        if (!registered || view.address != piece.address + piece.bytes.size()) end();
        if (!registered && !is_new) return;
        changed |= is_new;
        if (piece.bytes.empty()) piece.address = view.address, piece.mapped = true;
        piece.bytes.insert(piece.bytes.end(), view.bytes.begin(), view.bytes.end());
        piece.writers.insert(piece.writers.end(), view.writers.begin(), view.writers.end());
    });
    end();
}

void OriginLog::begin_call() {
    if (!enabled()) return;
    down_.clear(), up_.clear(), steps_.clear(), words_.clear(), spelling_.clear(), fills_.clear(), images_.clear(),
        seen_.clear();
    used_.clear(), overwritten_.clear();
    down_bytes_ = up_bytes_ = small_copies_ = launches_ = 0;
    overflown_ = false;
    device_.begin_call();
}

}  // namespace warpgrade::device
