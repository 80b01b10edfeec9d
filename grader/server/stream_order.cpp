#include "server/stream_order.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace warpgrade::server {
namespace {

bool is_conflict(MemoryUse a, MemoryUse b) { return a == MemoryUse::write || b == MemoryUse::write || a != b; }

}  // namespace

StreamOrder::StreamOrder() { reset(); }

void StreamOrder::reset() {
    lanes_.assign(1, Lane{});
    by_stream_ = {{0, 0}};
    events_.clear();
    host_.clear(), asked_.clear(), heard_.clear();
    pieces_.clear();
}

void StreamOrder::join(Clock& clock, const Clock& other) {
    if (clock.size() < other.size()) clock.resize(other.size());
    for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

bool StreamOrder::add_stream(StreamId stream, bool blocking) {
    // A destroyed stream's lane is reused when the host knows that its work is over: this orders nothing that had no
    // order before.
    std::uint32_t index = 1;
    const auto in_use = [&](const Lane& lane) {
        return lane.alive || (index < host_.size() ? host_[index] : 0) < lane.number;
    };
    while (index < lanes_.size() && in_use(lanes_[index])) ++index;
    if (index == max_lanes) return false;
    if (index == lanes_.size()) lanes_.emplace_back();
    Lane& lane = lanes_[index];
    lane.blocking = blocking, lane.alive = true;
    lane.clock = host_, lane.host_seen = host_version_;
    by_stream_[stream] = index;
    return true;
}

// The stream's work still finishes, and the default stream still waits for it.
void StreamOrder::remove_stream(StreamId stream) {
    const auto found = by_stream_.find(stream);
    if (found == by_stream_.end() || stream == 0) return;
    lanes_[found->second].alive = false;
    by_stream_.erase(found);
}

// The legacy default stream and the blocking streams wait for each other.
StreamOrder::Lane& StreamOrder::settle(StreamId stream) {
    const std::uint32_t index = lane_of(stream);
    Lane& lane = lanes_[index];
    if (lane.host_seen != host_version_) {
        join(lane.clock, host_);
        lane.host_seen = host_version_;
    }
    const auto wait_for = [&](std::uint32_t other) {
        if (other < lane.clock.size() && lane.clock[other] >= lanes_[other].number) return;
        join(lane.clock, lanes_[other].clock);
    };
    if (stream == 0) {
        for (std::uint32_t i = 1; i < lanes_.size(); ++i)
            if (lanes_[i].blocking) wait_for(i);
    } else if (lane.blocking) {
        wait_for(0);
    }
    return lane;
}

void StreamOrder::step(std::uint32_t index) {
    Lane& lane = lanes_[index];
    if (lane.clock.size() <= index) lane.clock.resize(index + 1);
    lane.clock[index] = ++lane.number;
}

StreamOrder::OperationPtr StreamOrder::begin(Operation::Kind kind, StreamId stream, std::uint64_t code,
                                             std::string kernel, bool talks_to_host) {
    const Lane& lane = settle(stream);
    const std::uint32_t index = lane_of(stream);
    step(index);
    return std::make_shared<const Operation>(
        Operation{kind, std::move(kernel), code, stream, index, lane.number, talks_to_host});
}

void StreamOrder::record(EventId event, StreamId stream) {
    settle(stream);
    const std::uint32_t index = lane_of(stream);
    step(index);  // the event excludes later operations of the stream
    events_[event] = lanes_[index].clock;
}

// An event that was never recorded is over.
void StreamOrder::wait(StreamId stream, EventId event) {
    const auto found = events_.find(event);
    if (found == events_.end()) return;
    const std::uint32_t index = lane_of(stream);
    join(settle(stream).clock, found->second);
    step(index);  // for those who wait for the stream before its next operation
}

void StreamOrder::host_joins(const Clock& clock) {
    join(host_, clock);
    join(asked_, clock);
    ++host_version_;
}

void StreamOrder::host_waits_for_stream(StreamId stream) { host_joins(settle(stream).clock); }

void StreamOrder::host_waits_for_event(EventId event) {
    if (const auto found = events_.find(event); found != events_.end()) host_joins(found->second);
}

// Everything that follows comes after all earlier accesses, so these are forgotten.
void StreamOrder::host_waits_for_device() {
    device_is_idle();
    asked_ = host_;
    pieces_.clear();
}

void StreamOrder::device_is_idle() {
    host_.resize(lanes_.size());
    for (std::size_t i = 0; i < lanes_.size(); ++i) host_[i] = lanes_[i].number;
    ++host_version_;
}

StreamOrder::Pieces::iterator StreamOrder::split(Pieces::iterator piece, DevicePtr at) {
    Piece upper = piece->second;
    piece->second.end = at;
    return pieces_.emplace_hint(std::next(piece), at, std::move(upper));
}

std::optional<StreamOrder::Conflict> StreamOrder::add(Piece& piece, DevicePtr begin, const OperationPtr& operation,
                                                      MemoryUse how) {
    const Clock& clock = lanes_[operation->lane].clock;
    std::optional<Conflict> conflict;
    std::erase_if(piece.uses, [&](const Use& use) {
        const bool ordered = holds(clock, *use.by);
        if (!ordered && is_conflict(use.how, how) && !conflict) conflict = Conflict{use.by, use.how, how, begin};
        // An operation that races with the earlier use also races with this write, unless these two race themselves,
        // which is reported here.
        return how == MemoryUse::write || (ordered && use.how == how);
    });
    piece.uses.push_back({operation, how});
    return conflict;
}

std::optional<StreamOrder::Conflict> StreamOrder::touch(const OperationPtr& operation, const MemoryAccess& access) {
    if (access.bytes == 0) return std::nullopt;
    if (pieces_.size() >= tidy_at_) tidy();
    const DevicePtr end = access.address + access.bytes;
    std::optional<Conflict> conflict;
    const auto note = [&](Pieces::iterator piece) {
        auto found = add(piece->second, piece->first, operation, access.use);
        if (!conflict) conflict = std::move(found);
    };
    auto piece = pieces_.upper_bound(access.address);
    if (piece != pieces_.begin() && std::prev(piece)->second.end > access.address) {
        --piece;
        if (piece->first < access.address) piece = split(piece, access.address);
    }
    for (DevicePtr at = access.address; at < end;) {
        if (piece == pieces_.end() || piece->first > at) {
            const DevicePtr stop = piece == pieces_.end() ? end : std::min(end, piece->first);
            piece = pieces_.emplace_hint(piece, at, Piece{stop, {}});
        }
        if (piece->second.end > end) split(piece, end);
        note(piece);
        at = piece->second.end;
        ++piece;
    }
    return conflict;
}

// Forgets uses that all later operations come after, and merges adjacent pieces with the same uses.
void StreamOrder::tidy() {
    const auto same = [](const Use& a, const Use& b) { return a.by == b.by && a.how == b.how; };
    const auto sweep = [&](std::uint64_t gap, bool always) {
        for (auto piece = pieces_.begin(); piece != pieces_.end();) {
            std::erase_if(piece->second.uses,
                          [&](const Use& use) { return holds(host_, *use.by) && holds(asked_, *use.by); });
            if (piece->second.uses.empty()) {
                piece = pieces_.erase(piece);
                continue;
            }
            if (piece != pieces_.begin()) {
                Piece& before = std::prev(piece)->second;
                const bool near = piece->first - before.end <= gap;
                if (near && (always || std::ranges::equal(before.uses, piece->second.uses, same))) {
                    before.end = piece->second.end;
                    for (Use& use : piece->second.uses)
                        if (std::ranges::none_of(before.uses, [&](const Use& known) { return same(known, use); }))
                            before.uses.push_back(std::move(use));
                    piece = pieces_.erase(piece);
                    continue;
                }
            }
            ++piece;
        }
    };
    sweep(0, false);
    for (std::uint64_t gap = 16; pieces_.size() >= max_pieces; gap *= 16) sweep(gap, true);
    tidy_at_ = std::clamp<std::size_t>(2 * pieces_.size(), 4096, max_pieces);
}

// The first piece that ends after the address.
StreamOrder::Pieces::const_iterator StreamOrder::first_piece(DevicePtr address) const {
    const auto piece = pieces_.upper_bound(address);
    return piece != pieces_.begin() && std::prev(piece)->second.end > address ? std::prev(piece) : piece;
}

const StreamOrder::Use* StreamOrder::running_write(const Piece& piece) const {
    const auto found = std::ranges::find_if(piece.uses, [&](const Use& use) {
        return use.how != MemoryUse::read && use.by->kind == Operation::Kind::kernel && !use.by->talks_to_host &&
               !holds(host_, *use.by) && !holds(heard_, *use.by);
    });
    return found == piece.uses.end() ? nullptr : &*found;
}

StreamOrder::OperationPtr StreamOrder::running_write(DevicePtr address, std::uint64_t bytes) const {
    for (auto piece = first_piece(address); piece != pieces_.end() && piece->first < address + bytes; ++piece)
        if (const Use* use = running_write(piece->second)) return use->by;
    return nullptr;
}

void StreamOrder::for_each_running_write(DevicePtr address, std::uint64_t bytes,
                                         const std::function<void(DevicePtr, DevicePtr)>& visit) const {
    const DevicePtr end = address + bytes;
    for (auto piece = first_piece(address); piece != pieces_.end() && piece->first < end; ++piece)
        if (running_write(piece->second)) visit(std::max(address, piece->first), std::min(end, piece->second.end));
}

StreamOrder::OperationPtr StreamOrder::unseen_write(DevicePtr address, std::uint64_t bytes) const {
    for (auto piece = first_piece(address); piece != pieces_.end() && piece->first < address + bytes; ++piece)
        for (const Use& use : piece->second.uses)
            if (use.how != MemoryUse::read && !holds(asked_, *use.by) && !holds(heard_, *use.by)) return use.by;
    return nullptr;
}

void StreamOrder::forget_memory(DevicePtr address, std::uint64_t bytes) {
    auto piece = pieces_.lower_bound(address);
    if (piece != pieces_.begin() && std::prev(piece)->second.end > address) piece = split(std::prev(piece), address);
    while (piece != pieces_.end() && piece->first < address + bytes) {
        if (piece->second.end > address + bytes) split(piece, address + bytes);
        piece = pieces_.erase(piece);
    }
}

}  // namespace warpgrade::server
