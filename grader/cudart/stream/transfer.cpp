#include "cudart/stream/transfer.hpp"

#include <algorithm>
#include <cstring>

#include "cudart/client/stack.hpp"
#include "cudart/state/host_memory.hpp"
#include "cudart/state/registry.hpp"
#include "cudart/stream/capture.hpp"

namespace warpgrade::cudart {
namespace {

wire::Region rows_of(const void* pointer, std::size_t pitch, Shape shape) {
    return {reinterpret_cast<std::uintptr_t>(pointer), pitch, shape.width, shape.height};
}

// The server itself reads and writes host memory that is entirely page-locked.
void set_host_side(wire::Transfer& transfer, Rows host, Shape shape) {
    std::uint64_t extent = 0;
    if (!rows_of(host.data, host.pitch, shape).extent(extent) || !is_pinned(host.data, extent)) return;
    transfer.host = reinterpret_cast<std::uintptr_t>(host.data);
    transfer.host_pitch = host.pitch;
}

enum class Side { host, device, either };

bool on_device(const void* pointer, Side side) {
    const Connection& connection = Connection::get();
    return connection.is_device_address(pointer) || is_managed(pointer) ||
           (side == Side::device && !is_pinned(pointer));
}

bool is_plain_host(const void* pointer) {
    return !Connection::get().is_device_address(pointer) && find_host_range(pointer) == nullptr;
}

// Reports a pointer that is the host's name of a device variable. Returns false if it is none.
bool tell_variable(const void* pointer, bool destination) {
    Variable* variable = nullptr;
    const void* shadow = is_plain_host(pointer) ? Registry::get().shadow_at(pointer) : nullptr;
    if (shadow == nullptr || Registry::get().find_variable(shadow, variable) != cudaSuccess) return false;
    Writer request;
    request.put(variable->address).put(std::uint8_t{destination}).put(std::uint8_t{variable->constant});
    Connection::get().call(Op::variable_address, request);
    return true;
}

// Reports a `kind` that does not fit the two sides. The copy itself fails only if host memory is on a device side; a
// host side may be device memory, since addresses are unique.
void check_direction(const void* destination, const void* source, cudaMemcpyKind kind) {
    if (kind == cudaMemcpyDefault) {
        tell_variable(destination, true);
        return;
    }
    Connection& connection = Connection::get();
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    const auto fits = [&](const void* pointer, bool device) {
        return device ? !is_plain_host(pointer) : !connection.is_device_address(pointer);
    };
    if (fits(destination, to_device) && fits(source, from_device)) return;
    // The host's side may be the shadow of a constant, which has its value.
    if ((to_device && tell_variable(destination, true)) || (from_device && tell_variable(source, false))) return;
    Writer request;
    request.put(static_cast<std::uint8_t>(kind));
    for (const void* pointer : {destination, source})
        request.put(static_cast<std::uint8_t>(connection.is_device_address(pointer)));
    connection.call(Op::wrong_direction, request);
}

}  // namespace

cudaError_t copy(void* destination, std::size_t destination_pitch, Rows source, Shape shape, cudaMemcpyKind kind,
                 std::uint32_t stream, bool asynchronous) {
    Connection& connection = Connection::get();
    Side to = Side::either, from = Side::either;
    switch (kind) {
        case cudaMemcpyHostToHost:
            to = Side::host, from = Side::host;
            break;
        case cudaMemcpyHostToDevice:
            to = Side::device, from = Side::host;
            break;
        case cudaMemcpyDeviceToHost:
            to = Side::host, from = Side::device;
            break;
        case cudaMemcpyDeviceToDevice:
            to = Side::device, from = Side::device;
            break;
        case cudaMemcpyDefault:
            break;
        default:
            return cudaErrorInvalidMemcpyDirection;
    }
    if (shape.width == 0 || shape.height == 0) return cudaSuccess;
    if (shape.height > 1 && (destination_pitch < shape.width || source.pitch < shape.width))
        return cudaErrorInvalidPitchValue;
    if (destination == nullptr || source.data == nullptr) return cudaErrorInvalidValue;

    if (CapturingStream* capture = find_capture(stream)) {
        if (!asynchronous) return refuse_in_capture(stream);
        return capture_work(*capture, make_row_copy(destination, destination_pitch, source.data, source.pitch,
                                                    shape.width, shape.height, kind));
    }
    if (const cudaError_t status = check_legacy_stream(stream); status != cudaSuccess) return status;
    check_direction(destination, source.data, kind);
    const bool to_device = on_device(destination, to), from_device = on_device(source.data, from);
    wire::Transfer transfer{stream, !asynchronous};
    auto* host_destination = static_cast<std::byte*>(destination);
    auto* host_source = static_cast<std::byte*>(const_cast<void*>(source.data));
    if (to_device && from_device) {
        transfer.blocking = false;  // the host does not wait for copies within the device
        Writer request;
        rows_of(destination, destination_pitch, shape).put(request);
        rows_of(source.data, source.pitch, shape).put(request);
        transfer.put(request);
        return connection.call(Op::copy, request);
    }
    if (to_device) {
        set_host_side(transfer, source, shape);
        return connection.write(rows_of(destination, destination_pitch, shape), transfer, {host_source, source.pitch});
    }
    if (from_device) {
        if (shape.height == 1 && overwrites_return(destination, shape.width))
            connection.call(Op::over_stack, Writer().put(std::uint64_t{shape.width}));
        set_host_side(transfer, {destination, destination_pitch}, shape);
        return connection.read(rows_of(source.data, source.pitch, shape), transfer,
                               {host_destination, destination_pitch});
    }
    if (const cudaError_t status = connection.ready(); status != cudaSuccess) return status;
    for (std::size_t row = 0; row < shape.height; ++row)
        std::memmove(host_destination + row * destination_pitch, host_source + row * source.pitch, shape.width);
    return cudaSuccess;
}

cudaError_t fill(void* destination, std::size_t pitch, int value, Shape shape, std::uint32_t stream) {
    if (shape.width == 0 || shape.height == 0) return cudaSuccess;
    if (shape.height > 1 && pitch < shape.width) return cudaErrorInvalidPitchValue;
    if (CapturingStream* capture = find_capture(stream)) {
        cudaMemsetParams work{};
        work.dst = destination, work.pitch = pitch, work.value = static_cast<unsigned>(value) & 0xFF;
        work.elementSize = 1, work.width = shape.width, work.height = shape.height;
        return capture_work(*capture, work);
    }
    if (const cudaError_t status = check_legacy_stream(stream); status != cudaSuccess) return status;
    if (is_pinned(destination)) {
        for (std::size_t row = 0; row < shape.height; ++row)
            std::memset(static_cast<std::byte*>(destination) + row * pitch, value, shape.width);
        return cudaSuccess;
    }
    if (tell_variable(destination, true)) return cudaErrorInvalidValue;
    Writer request;
    rows_of(destination, pitch, shape).put(request);
    request.put(static_cast<std::uint8_t>(value));
    wire::Transfer{stream, false}.put(request);
    return Connection::get().call(Op::fill, request);
}

cudaError_t fill_elements(const cudaMemsetParams& what, std::uint32_t stream) {
    const std::size_t row = what.width * what.elementSize, pitch = std::max(what.pitch, row);
    const std::uint32_t first = what.value & 0xFF, same = first * 0x01010101u;
    if (what.elementSize == 1 || std::memcmp(&same, &what.value, what.elementSize) == 0)
        return fill(what.dst, pitch, static_cast<int>(first), {row, what.height}, stream);
    if (CapturingStream* capture = find_capture(stream)) return capture_work(*capture, what);
    std::vector<std::byte> rows(row * what.height);
    for (std::size_t at = 0; at < rows.size(); at += what.elementSize)
        std::memcpy(rows.data() + at, &what.value, what.elementSize);
    return copy(what.dst, pitch, {rows.data(), row}, {row, what.height}, cudaMemcpyHostToDevice, stream, true);
}

}  // namespace warpgrade::cudart
