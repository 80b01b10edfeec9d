// The wire protocol between a worker (grader/cudart) and the device server: frames over a Unix stream socket of one
// machine, so numbers travel in its own byte order. Both sides include this header; it needs the standard library only.
//
// A frame is a Header and `size` bytes of payload. The client numbers its requests from 1. Each gets one reply with the
// same op and number. The reply's payload is the cudaError_t, then the results or a message that explains the error.
//
// A client may post some kinds of request (is_postable), which it knows to succeed, without waiting for their replies.
// They are answered in order like all others, but perhaps only together with the next request.
//
// Bulk data is split. Up to `chunk_bytes` travel inside the request (write, load_module) or the reply (read). The rest
// follows in `data` frames of chunk_bytes, the last one shorter. For read they follow the reply. For write and
// load_module the client sends them after a first reply has accepted the request, and a second reply ends the transfer.
//
// If the host's side of a copy is host-visible memory, no data travels: the server maps those pages too, and so knows
// that they are page-locked.
//
// Memory that both sides map travels as a file descriptor (SCM_RIGHTS) with the first byte of the reply.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace warpgrade::device::wire {

inline constexpr std::uint32_t magic = 0x44474757;  // "WGGD"
inline constexpr std::uint32_t version = 7;
inline constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
inline constexpr std::size_t max_payload_bytes = chunk_bytes + 4096;  // a chunk and the fields before it
inline constexpr std::size_t max_name_bytes = 64 << 10;               // mangled names of templates get long
inline constexpr std::size_t max_message_bytes = 16 << 10;
inline constexpr std::uint64_t max_image_bytes = std::uint64_t{64} << 20;
inline constexpr std::size_t max_parameter_bytes = 32764;  // of one launch, CUDA 12.1 and later
inline constexpr std::size_t max_parameters = max_parameter_bytes;
inline constexpr std::size_t max_page_ranges = 4096;  // of running_writes
inline constexpr std::size_t max_host_touches = 64;   // of host_touches
inline constexpr const char* descriptor_variable = "WARPGRADE_DEVICE_FD";

enum class Op : std::uint16_t {
#define WG_DEVICE_OP(name, when, meaning) name,
#include "device/protocol.def"
#undef WG_DEVICE_OP
};

enum class When : std::uint8_t { wait, enqueue, host };

struct OpInfo {
    const char* name;
    When when;
    const char* meaning;
};

inline constexpr auto ops = std::to_array<OpInfo>({
#define WG_DEVICE_OP(name, when, meaning) {#name, When::when, meaning},
#include "device/protocol.def"
#undef WG_DEVICE_OP
});

// Requests that are little work and whose replies have no results.
constexpr bool is_postable(Op op) { return op == Op::free_memory || op == Op::write; }

// A message that breaks the protocol. The connection to the peer that sent it must end.
class ProtocolError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Flags of a reply.
inline constexpr std::uint16_t flag_sticky = 1;   // the context is dead: every later call gets this error
inline constexpr std::uint16_t flag_output = 2;   // device-side printf text is waiting
inline constexpr std::uint16_t flag_running = 4;  // running_writes would return pages

struct Header {
    std::uint32_t magic = wire::magic;
    Op op = Op::hello;
    std::uint16_t flags = 0;
    std::uint32_t sequence = 0;
    std::uint32_t size = 0;
    // In a request, the call's return address in the program's file (SourcePlace::code), 0 if unknown; for messages
    // only.
    std::uint64_t code = 0;
};
static_assert(sizeof(Header) == 24 && std::is_trivially_copyable_v<Header>);

// What is wrong with a header of an untrusted peer; null if it is valid.
inline const char* header_error(const Header& header) {
    if (header.magic != magic) return "not a frame of this protocol";
    if (static_cast<std::size_t>(header.op) >= ops.size()) return "unknown operation";
    if (header.size > max_payload_bytes) return "frame too large";
    return nullptr;
}

inline Header validate(const Header& header) {
    if (const char* wrong = header_error(header)) throw ProtocolError(wrong);
    return header;
}

// Reads a header from sizeof(Header) bytes of an untrusted peer.
inline Header parse_header(std::span<const std::byte, sizeof(Header)> bytes) {
    Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    return validate(header);
}

// Appends fields to a buffer.
class Writer {
  public:
    template <class T>
    Writer& put(T value) {
        static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
        return put_bytes(std::as_bytes(std::span(&value, 1)));
    }
    Writer& put_string(std::string_view text, std::size_t limit = max_name_bytes) {
        text = text.substr(0, limit);
        put(static_cast<std::uint32_t>(text.size()));
        return put_bytes(std::as_bytes(std::span(text)));
    }
    Writer& put_bytes(std::span<const std::byte> bytes) {
        const std::size_t before = buffer_.size();
        buffer_.resize(before + bytes.size());
        if (!bytes.empty()) std::memcpy(buffer_.data() + before, bytes.data(), bytes.size());
        return *this;
    }
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return buffer_; }
    [[nodiscard]] std::vector<std::byte>& bytes() { return buffer_; }

  private:
    std::vector<std::byte> buffer_;
};

// Takes fields from a payload of an untrusted peer: never reads past its end, never allocates more than it holds.
class Reader {
  public:
    explicit Reader(std::span<const std::byte> payload) : rest_(payload) {}

    template <class T>
    T get() {
        static_assert(std::is_integral_v<T> || std::is_floating_point_v<T>);
        static_assert(!std::is_same_v<T, bool>, "a byte from a stranger need not be 0 or 1");
        T value;
        std::memcpy(&value, get_bytes(sizeof value).data(), sizeof value);
        return value;
    }
    bool get_bool() { return get<std::uint8_t>() != 0; }
    std::string get_string(std::size_t limit = max_name_bytes) {
        const auto size = get<std::uint32_t>();
        if (size > limit) throw ProtocolError("string too long");
        const auto bytes = get_bytes(size);
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    std::span<const std::byte> get_bytes(std::size_t size) {
        if (size > rest_.size()) throw ProtocolError("payload too short");
        const auto bytes = rest_.first(size);
        rest_ = rest_.subspan(size);
        return bytes;
    }
    std::span<const std::byte> get_rest() { return get_bytes(rest_.size()); }
    [[nodiscard]] std::size_t remaining() const { return rest_.size(); }
    void expect_end() const {
        if (!rest_.empty()) throw ProtocolError("payload too long");
    }

  private:
    std::span<const std::byte> rest_;
};

// Rows of device memory: `height` rows of `width` bytes, `pitch` apart. One row is a plain range.
struct Region {
    std::uint64_t address = 0, pitch = 0, width = 0, height = 1;

    static Region range(std::uint64_t address, std::uint64_t bytes) { return {address, bytes, bytes, 1}; }
    // Bytes of data; 0 if the product overflows, since no device has that much.
    [[nodiscard]] std::uint64_t bytes() const {
        std::uint64_t product = 0;
        return __builtin_mul_overflow(width, height, &product) ? 0 : product;
    }
    // Bytes from the first to the last, gaps included; false if that overflows.
    [[nodiscard]] bool extent(std::uint64_t& result) const {
        if (width == 0 || height == 0) return result = 0, true;
        return !__builtin_mul_overflow(pitch, height - 1, &result) && !__builtin_add_overflow(result, width, &result);
    }
    [[nodiscard]] bool contiguous() const { return pitch == width || height == 1; }
    // Calls visit(address, done, part) for each contiguous part of `bytes` bytes of data from `offset` on; `done` bytes
    // come before it, and it has `part` bytes.
    template <class Visit>
    void for_each_part(std::uint64_t offset, std::uint64_t bytes, Visit&& visit) const {
        if (contiguous()) return visit(address + offset, 0, bytes);
        for (std::uint64_t done = 0; done < bytes;) {
            const std::uint64_t row = (offset + done) / width, column = (offset + done) % width;
            const std::uint64_t part = std::min(width - column, bytes - done);
            visit(address + row * pitch + column, done, part);
            done += part;
        }
    }
    void put(Writer& writer) const { writer.put(address).put(pitch).put(width).put(height); }
    static Region get(Reader& reader) {
        Region region;
        region.address = reader.get<std::uint64_t>();
        region.pitch = reader.get<std::uint64_t>();
        region.width = reader.get<std::uint64_t>();
        region.height = reader.get<std::uint64_t>();
        return region;
    }
};

// How a transfer behaves towards its stream and the host.
struct Transfer {
    std::uint32_t stream = 0;
    bool blocking = true;  // the host waits for it
    // The host's side if it is host-visible memory: its address and the distance of rows. 0: the data travel in the
    // messages.
    std::uint64_t host = 0, host_pitch = 0;

    void put(Writer& writer) const {
        writer.put(stream).put(static_cast<std::uint8_t>(blocking)).put(host).put(host_pitch);
    }
    static Transfer get(Reader& reader) {
        Transfer transfer;
        transfer.stream = reader.get<std::uint32_t>();
        transfer.blocking = reader.get_bool();
        transfer.host = reader.get<std::uint64_t>();
        transfer.host_pitch = reader.get<std::uint64_t>();
        return transfer;
    }
};

}  // namespace warpgrade::device::wire
