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

void OriginLog::append(Up& piece, std::span<const std::byte> bytes) {
    if (up_bytes_ + bytes.size() > max_bytes) {
        overflown_ = true;
        return;
    }
    up_bytes_ += bytes.size();
    piece.bytes.insert(piece.bytes.end(), bytes.begin(), bytes.end());
}

void OriginLog::wrote(const wire::Region& region, std::span<const std::byte> piece, bool first) {
    if (!enabled()) return;
    if (first || up_.empty()) {
        up_.push_back({region, {}, false, ++number_, 0, base_of(region.address)});
        up_.back().bytes.reserve(std::min<std::uint64_t>(region.bytes(), max_bytes));
    }
    append(up_.back(), piece);
}

// Pages that the program has registered lie elsewhere in each of its processes: they go by number. Other addresses of
// the device are the same in each run.
std::uint64_t OriginLog::canonical(std::uint64_t address) {
    namespace space = address_space;
    if ((address >= space::shared_base && address < space::host_end) || address >= space::user_end) return address;
    const auto memory = device_.find_allocation(address);
    if (!memory) return address;
    const auto number = registered_.try_emplace(memory->address, registered_.size()).first->second;
    return space::user_end + (number << 40) + (address - memory->address);
}

void OriginLog::decided(wire::Op op, std::span<const std::byte> payload) {
    if (!enabled() || !is_decision(op)) return;
    Decision decision = decision_of(op, payload, [&](std::uint64_t address) { return canonical(address); });
    decision_bytes_ += decision.payload.size() + sizeof decision;
    if (decision_bytes_ > max_decision_bytes)
        overflown_ = true;
    else
        decisions_.push_back(std::move(decision));
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
    piece.base = base_of(region.address);
    piece.bytes.resize(region.bytes());
    piece.writers.resize((piece.bytes.size() + 3) / 4);
    if (!region.contiguous()) piece.row_bytes = region.width;
    region.for_each_part(0, piece.bytes.size(), [&](std::uint64_t address, std::uint64_t at, std::uint64_t bytes) {
        device_.read(address, std::span(piece.bytes).subspan(at, bytes));
        analysis_->writers_of(address, std::span(piece.writers).subspan(at / 4, (bytes + 3) / 4));
    });
    if (std::ranges::find(piece.writers, writer::host) != piece.writers.end()) used_.insert(piece.base);
    keep(std::move(piece));
}

void OriginLog::copied(const wire::Region& destination, const wire::Region& source) {
    if (!enabled()) return;
    steps_.push_back({0, {base_of(source.address)}, {base_of(destination.address)}, ++number_});
    used_.insert(base_of(source.address));
    const std::uint64_t run = source.pitch == source.width && destination.pitch == destination.width
                                  ? source.bytes()
                                  : std::min(source.width, destination.width);
    const auto whole = device_.find_allocation(source.address);
    if (run >= small_copy_bytes || (whole && run == whole->bytes)) return;
    small_copies_ += destination.height;
    scattered_[base_of(destination.address)].insert(run);
    if (small_copies_ <= max_small_copies) return;
    for (std::uint64_t row = 0; row < destination.height; ++row)
        analysis_->mark_written(destination.address + row * destination.pitch, destination.width, writer::scattered);
}

void OriginLog::launched(const LaunchRecord& record) {
    if (!enabled()) return;
    used_.insert(record.read_from.begin(), record.read_from.end());
    overwritten_.insert(record.written_to.begin(), record.written_to.end());
    for (const auto& [address, bytes] : analysis_->take_host_data()) {
        up_.push_back({wire::Region::range(canonical(address), bytes.size()),
                       {},
                       true,
                       ++number_,
                       launches_ + 1,
                       base_of(address)});
        append(up_.back(), bytes);
    }
    steps_.push_back({++launches_, record.read_from, record.written_to, ++number_});
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
    analysis_->visit_host_memory([&](const HostMemoryView& view) {
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
    down_.clear(), up_.clear(), steps_.clear(), decisions_.clear(), images_.clear(), seen_.clear(), scattered_.clear();
    used_.clear(), overwritten_.clear();
    down_bytes_ = up_bytes_ = small_copies_ = launches_ = decision_bytes_ = 0;
    overflown_ = false;
    analysis_->begin_call();
}

}  // namespace warpgrade::device
