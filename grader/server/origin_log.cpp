#include "server/origin_log.hpp"

#include <algorithm>
#include <utility>

#include "device/address_space.hpp"

namespace warpgrade::server {

DevicePtr OriginLog::find_base(DevicePtr address) const {
    const auto found = device_.find_allocation(address);
    return found ? found->address : 0;
}

void OriginLog::append(Upload& piece, std::span<const std::byte> bytes) {
    if (upload_bytes_ + bytes.size() > max_bytes) {
        overflowed_ = true;
        return;
    }
    upload_bytes_ += bytes.size();
    piece.bytes.insert(piece.bytes.end(), bytes.begin(), bytes.end());
}

void OriginLog::record_upload(const wire::Region& region, std::span<const std::byte> piece, bool first) {
    if (!enabled()) return;
    if (first || uploads_.empty()) {
        uploads_.push_back({region, {}, false, ++number_, 0, find_base(region.address)});
        uploads_.back().bytes.reserve(std::min<std::uint64_t>(region.bytes(), max_bytes));
    }
    append(uploads_.back(), piece);
}

void OriginLog::register_host(std::uint64_t address, std::uint64_t bytes) {
    constexpr std::size_t most = 1 << 16;
    if (enabled() && host_ranges_.size() < most) host_ranges_[address] = {bytes, next_name_++};
}

// Device addresses are the same in each run. Those of registered memory are not: they are named by the number of the
// registration, and of other memory in such pages by the number of the pages.
std::uint64_t OriginLog::canonical(std::uint64_t address) {
    namespace space = address_space;
    if (!is_program_memory(address) || address >= space::user_end) return address;
    const auto name = [](std::uint64_t number, std::uint64_t offset) {
        return space::user_end + (number << 40) + offset;
    };
    if (auto after = host_ranges_.upper_bound(address); after != host_ranges_.begin())
        if (const auto& [begin, range] = *--after; address - begin <= range.bytes)
            return name(range.number, address - begin);
    const auto memory = device_.find_allocation(address);
    if (!memory) return address;
    const auto [found, is_new] = pages_.try_emplace(memory->address, next_name_);
    if (is_new) ++next_name_;
    return name(found->second, address - memory->address);
}

void OriginLog::record_decision(wire::Op op, std::span<const std::byte> payload) {
    if (!enabled() || !is_decision(op) || is_of_pages(op, payload)) return;
    Decision decision = make_decision(op, payload, [&](std::uint64_t address) { return canonical(address); });
    if (const FunctionId function = launched_function(decision))
        if (const auto read = analysis_->read_arguments(function)) clear_unread_arguments(decision, *read);
    decision_bytes_ += decision.payload.size() + sizeof decision;
    if (decision_bytes_ > max_decision_bytes)
        overflowed_ = true;
    else
        decisions_.push_back(std::move(decision));
}

void OriginLog::keep(Download piece) {
    download_bytes_ += piece.bytes.size();
    piece.number = ++number_;
    downloads_.push_back(std::move(piece));
    // The first downloads are the least likely to be the result.
    while (download_bytes_ > max_bytes && downloads_.size() > 1) {
        download_bytes_ -= downloads_.front().bytes.size();
        downloads_.pop_front();
        overflowed_ = true;
    }
}

void OriginLog::record_download(const wire::Region& region) {
    if (!enabled()) return;
    Download piece;
    piece.address = region.address;
    piece.base = find_base(region.address);
    piece.bytes.resize(region.bytes());
    piece.writers.resize((piece.bytes.size() + 3) / 4);
    if (!region.contiguous()) piece.row_bytes = region.width;
    region.for_each_part(0, piece.bytes.size(), [&](std::uint64_t address, std::uint64_t at, std::uint64_t bytes) {
        device_.read(address, std::span(piece.bytes).subspan(at, bytes));
        analysis_->read_writers(address, std::span(piece.writers).subspan(at / 4, (bytes + 3) / 4));
    });
    if (std::ranges::find(piece.writers, writer::host) != piece.writers.end()) used_.insert(piece.base);
    keep(std::move(piece));
}

void OriginLog::record_copy(const wire::Region& destination, const wire::Region& source) {
    if (!enabled()) return;
    steps_.push_back({0, {find_base(source.address)}, {find_base(destination.address)}, ++number_});
    used_.insert(find_base(source.address));
    const std::uint64_t run = source.pitch == source.width && destination.pitch == destination.width
                                  ? source.bytes()
                                  : std::min(source.width, destination.width);
    const auto whole = device_.find_allocation(source.address);
    if (run >= small_copy_bytes || (whole && run == whole->bytes)) return;
    small_copies_ += destination.height;
    scattered_[find_base(destination.address)].insert(run);
    if (small_copies_ <= max_small_copies) return;
    for (std::uint64_t row = 0; row < destination.height; ++row)
        analysis_->mark_written(destination.address + row * destination.pitch, destination.width, writer::scattered);
}

void OriginLog::record_launch(const LaunchRecord& record) {
    if (!enabled()) return;
    used_.insert(record.read_from.begin(), record.read_from.end());
    overwritten_.insert(record.written_to.begin(), record.written_to.end());
    for (const auto& [address, bytes] : analysis_->take_host_data()) {
        uploads_.push_back({wire::Region::range(canonical(address), bytes.size()),
                            {},
                            true,
                            ++number_,
                            launches_ + 1,
                            find_base(address)});
        append(uploads_.back(), bytes);
    }
    steps_.push_back({++launches_, record.read_from, record.written_to, ++number_});
}

void OriginLog::record_module(std::span<const std::byte> image) {
    if (!enabled()) return;
    if (upload_bytes_ + image.size() > max_bytes) {
        overflowed_ = true;
        return;
    }
    upload_bytes_ += image.size();
    images_.emplace_back(image.begin(), image.end());
}

namespace {

// These bytes of a download of pages; it begins at a multiple of a word.
OriginLog::Download cut(const OriginLog::Download& pages, std::uint64_t begin, std::uint64_t end) {
    const auto from = static_cast<std::ptrdiff_t>((begin - pages.address) / 4 * 4),
               to = static_cast<std::ptrdiff_t>(end - pages.address);
    OriginLog::Download piece;
    piece.address = pages.address + static_cast<std::uint64_t>(from);
    piece.mapped = true;
    piece.mapped_bases = pages.mapped_bases;
    piece.bytes.assign(pages.bytes.begin() + from, pages.bytes.begin() + to);
    piece.writers.assign(pages.writers.begin() + from / 4, pages.writers.begin() + (to + 3) / 4);
    return piece;
}

}  // namespace

// What is registered comes in pieces as the program registers it, and in that order: where it lies in its pages is
// nobody's choice. The rest of the pages comes last.
void OriginLog::keep_registered(std::span<const Download> runs) {
    struct Part {
        std::uint64_t number;
        Download piece;
    };
    std::vector<Part> parts;
    const auto add = [&](std::uint64_t number, const Download& run, std::uint64_t begin, std::uint64_t end) {
        if (begin < end) parts.push_back({number, cut(run, begin, end)});
    };
    for (const Download& run : runs) {
        const std::uint64_t end = run.address + run.bytes.size();
        std::uint64_t at = run.address;
        for (const auto& [begin, range] : host_ranges_) {
            if (begin >= end || begin + range.bytes <= at) continue;
            add(next_name_, run, at, begin);
            add(range.number, run, std::max(at, begin), std::min(end, begin + range.bytes));
            at = std::min(end, begin + range.bytes);
        }
        add(next_name_, run, at, end);
    }
    std::ranges::stable_sort(parts, {}, &Part::number);
    for (Part& part : parts)
        if (std::ranges::any_of(part.piece.writers, writer::is_launch)) keep(std::move(part.piece));
}

// Joins adjacent registered memory: it is shared by whole pages, and an array may begin in the last page of another
// one.
void OriginLog::record_wait() {
    if (!enabled()) return;
    Download piece;
    std::vector<Download> runs;  // of registered pages
    bool changed = false, registered = false;
    const auto end = [&] {
        if (changed && registered)
            runs.push_back(std::move(piece));
        else if (changed && std::ranges::any_of(piece.writers, writer::is_launch))
            keep(std::move(piece));
        piece = {}, changed = false;
    };
    analysis_->visit_host_memory([&](const HostMemoryView& view) {
        const bool is_registered = is_program_memory(view.address);
        std::uint64_t& seen = seen_[view.address];
        const bool is_new = std::exchange(seen, view.version) != view.version;
        if (!is_registered || view.address != piece.address + piece.bytes.size()) end();
        registered = is_registered;
        if (!registered && !is_new) return;
        changed |= is_new;
        if (piece.bytes.empty()) piece.address = view.address, piece.mapped = true;
        piece.bytes.insert(piece.bytes.end(), view.bytes.begin(), view.bytes.end());
        piece.mapped_bases.push_back(find_base(view.address));
        piece.writers.insert(piece.writers.end(), view.writers.begin(), view.writers.end());
    });
    end();
    keep_registered(runs);
}

void OriginLog::begin_call() {
    if (!enabled()) return;
    downloads_.clear(), uploads_.clear(), steps_.clear(), decisions_.clear(), images_.clear(), seen_.clear(),
        scattered_.clear();
    used_.clear(), overwritten_.clear();
    download_bytes_ = upload_bytes_ = small_copies_ = launches_ = decision_bytes_ = 0;
    overflowed_ = false;
    analysis_->begin_call();
}

}  // namespace warpgrade::server
