#include "server/call_trace.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace warpgrade::device {
namespace {

using wire::Reader;
using wire::Writer;

void write_all(int file, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t put = ::write(file, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) throw std::system_error(errno, std::generic_category(), "cannot write what a call did");
        bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
}

template <class T>
void check_count(const Reader& in, T count) {
    if (count > in.remaining()) throw wire::ProtocolError("a trace that ends too early");
}

}  // namespace

CallTrace trace_of(const OriginLog& log) {
    CallTrace trace;
    trace.decisions = log.decisions();
    for (const auto& up : log.up()) trace.up.push_back({up.region, up.bytes, up.mapped, up.number, up.launch});
    // Only what came down before something went up can have gone up again.
    const std::uint64_t last = trace.up.empty() ? 0 : trace.up.back().number;
    for (const auto& down : log.down())
        if (!down.mapped && down.number < last) trace.down.push_back({down.bytes, down.number});
    trace.overflown = log.overflown();
    return trace;
}

// The heads of everything first, then the bytes of copies in the same order.
void write_trace(const CallTrace& trace, int file) {
    Writer heads;
    heads.put(static_cast<std::uint8_t>(trace.overflown));
    heads.put(std::uint64_t{trace.decisions.size()}).put(std::uint64_t{trace.up.size()});
    heads.put(std::uint64_t{trace.down.size()});
    for (const auto& each : trace.decisions) {
        heads.put(static_cast<std::uint16_t>(each.op)).put(std::uint64_t{each.payload.size()});
        heads.put_bytes(each.payload);
    }
    for (const auto& each : trace.up) {
        each.region.put(heads);
        heads.put(static_cast<std::uint8_t>(each.mapped)).put(each.number).put(std::uint64_t{each.launch});
        heads.put(std::uint64_t{each.bytes.size()});
    }
    for (const auto& each : trace.down) heads.put(each.number).put(std::uint64_t{each.bytes.size()});
    if (::ftruncate(file, 0) != 0 || ::lseek(file, 0, SEEK_SET) != 0)
        throw std::system_error(errno, std::generic_category(), "cannot write what a call did");
    write_all(file, heads.bytes());
    for (const auto& each : trace.up) write_all(file, each.bytes);
    for (const auto& each : trace.down) write_all(file, each.bytes);
}

CallTrace read_trace(std::span<const std::byte> file) {
    Reader in(file);
    CallTrace trace;
    trace.overflown = in.get_bool();
    const auto decisions = in.get<std::uint64_t>(), ups = in.get<std::uint64_t>(), downs = in.get<std::uint64_t>();
    check_count(in, decisions), check_count(in, ups), check_count(in, downs);
    for (std::uint64_t i = 0; i < decisions; ++i) {
        const auto op = in.get<std::uint16_t>();
        if (op >= wire::ops.size()) throw wire::ProtocolError("unknown operation");
        const auto payload = in.get_bytes(in.get<std::uint64_t>());
        trace.decisions.push_back({static_cast<wire::Op>(op), {payload.begin(), payload.end()}});
    }
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t i = 0; i < ups; ++i) {
        CallTrace::Up up;
        up.region = wire::Region::get(in);
        up.mapped = in.get_bool();
        up.number = in.get<std::uint64_t>();
        up.launch = in.get<std::uint64_t>();
        sizes.push_back(in.get<std::uint64_t>());
        if (up.region.bytes() != sizes.back() && !trace.overflown) throw wire::ProtocolError("a copy of another size");
        trace.up.push_back(up);
    }
    for (std::uint64_t i = 0; i < downs; ++i) {
        trace.down.push_back({{}, in.get<std::uint64_t>()});
        sizes.push_back(in.get<std::uint64_t>());
    }
    auto size = sizes.begin();
    for (auto& up : trace.up) up.bytes = in.get_bytes(*size++);
    for (auto& down : trace.down) down.bytes = in.get_bytes(*size++);
    in.done();
    return trace;
}

}  // namespace warpgrade::device
