#include "device/origin.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace warpgrade::device {

void OriginLog::keep_up(std::span<const std::byte> bytes, bool begins, bool mapped) {
    if (up_bytes_ + bytes.size() > max_bytes) {
        overflown_ = true;
        return;
    }
    up_bytes_ += bytes.size();
    if (begins || up_.empty()) up_.push_back({{}, mapped, ++number_});
    up_.back().bytes.insert(up_.back().bytes.end(), bytes.begin(), bytes.end());
}

void OriginLog::wrote(std::span<const std::byte> piece, bool begins) {
    if (enabled()) keep_up(piece, begins, false);
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
    const bool whole = region.pitch == region.width || region.height == 1;
    if (!whole) piece.row_bytes = region.width;
    const std::uint64_t rows = whole ? 1 : region.height, width = whole ? region.bytes() : region.width;
    for (std::uint64_t row = 0; row < rows; ++row) {
        const std::uint64_t address = region.address + row * region.pitch, at = row * width;
        device_.read(address, std::span(piece.bytes).subspan(at, width));
        device_.writers_of(address, std::span(piece.writers).subspan(at / 4, (width + 3) / 4));
    }
    keep(std::move(piece));
}

void OriginLog::copied(const wire::Region& destination, const wire::Region& source) {
    if (!enabled()) return;
    const auto base = [&](DevicePtr address) {
        const auto found = device_.find_allocation(address);
        return found ? found->address : address;
    };
    steps_.push_back({0, {base(source.address)}, {base(destination.address)}});
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

void OriginLog::filled(std::uint8_t value, std::uint64_t bytes) {
    if (!enabled()) return;
    // Many small fills can spell anything, and four of a byte each a value.
    if (bytes < sizeof(std::uint32_t)) spelling_.insert(value);
    if (bytes < small_copy_bytes) ++fill_count_;
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
    for (const auto& run : device_.take_host_data()) keep_up(run, true, true);
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

void OriginLog::waited() {
    if (!enabled()) return;
    device_.visit_host_memory([&](const HostMemoryView& view) {
        std::uint64_t& seen = seen_[view.address];
        if (seen == view.version) return;
        seen = view.version;
        if (std::ranges::none_of(view.writers, writer::is_launch)) return;
        keep({{view.bytes.begin(), view.bytes.end()}, {view.writers.begin(), view.writers.end()}, view.address, true});
    });
}

void OriginLog::begin_call() {
    if (!enabled()) return;
    down_.clear(), up_.clear(), steps_.clear(), words_.clear(), spelling_.clear(), images_.clear(), seen_.clear();
    down_bytes_ = up_bytes_ = small_copies_ = fill_count_ = launches_ = 0;
    overflown_ = false;
    device_.begin_call();
}

}  // namespace warpgrade::device
