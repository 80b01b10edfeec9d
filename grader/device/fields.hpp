// The fields of the device's data structures; the wire protocol and the JSON records both use these lists.
#pragma once

#include "device/device.hpp"
#include "device/protocol.hpp"

namespace warpgrade::device {

// Calls visit(name, field) for each field of the properties.
template <class Properties, class Visit>
void for_each_field(Properties& p,
                    Visit&& visit) requires std::is_same_v<std::remove_const_t<Properties>, DeviceProperties> {
#define WG_FIELD(name) visit(#name, p.name);
    WG_FIELD(name)
    WG_FIELD(profile)
    WG_FIELD(major)
    WG_FIELD(minor)
    WG_FIELD(warp_size)
    WG_FIELD(multi_processor_count)
    WG_FIELD(max_threads_per_block)
    WG_FIELD(max_threads_per_multi_processor)
    WG_FIELD(max_blocks_per_multi_processor)
    WG_FIELD(regs_per_block)
    WG_FIELD(regs_per_multiprocessor)
    WG_FIELD(shared_mem_per_block)
    WG_FIELD(shared_mem_per_block_optin)
    WG_FIELD(shared_mem_per_multiprocessor)
    WG_FIELD(reserved_shared_mem_per_block)
    WG_FIELD(total_global_mem)
    WG_FIELD(total_const_mem)
    WG_FIELD(l2_cache_bytes)
    WG_FIELD(l1_cache_bytes)
    WG_FIELD(max_threads_dim)
    WG_FIELD(max_grid_size)
    WG_FIELD(clock_ghz)
    WG_FIELD(memory_clock_ghz)
    WG_FIELD(memory_bus_bits)
    WG_FIELD(dram_bytes_per_ns)
    WG_FIELD(l2_bytes_per_ns)
#undef WG_FIELD
}

namespace wire {

inline void put_field(Writer& writer, const std::string& text) { writer.put_string(text); }
inline void put_field(Writer& writer, const Dim3& dim) { writer.put(dim.x).put(dim.y).put(dim.z); }
template <class T>
void put_field(Writer& writer, T value) requires std::is_arithmetic_v<T> {
    writer.put(value);
}

inline void get_field(Reader& reader, std::string& text) { text = reader.get_string(); }
template <class T>
void get_field(Reader& reader, T& value) requires std::is_arithmetic_v<T> {
    value = reader.get<T>();
}
inline void get_field(Reader& reader, Dim3& dim) {
    get_field(reader, dim.x), get_field(reader, dim.y), get_field(reader, dim.z);
}

inline void put(Writer& writer, const DeviceProperties& properties) {
    for_each_field(properties, [&](const char*, const auto& field) { put_field(writer, field); });
}
inline DeviceProperties get_properties(Reader& reader) {
    DeviceProperties properties;
    for_each_field(properties, [&](const char*, auto& field) { get_field(reader, field); });
    return properties;
}

// A kernel without its name, which the client knows.
inline void put(Writer& writer, const FunctionInfo& info) {
    writer.put(info.param_bytes).put(info.registers_per_thread).put(info.static_shared_bytes);
    writer.put(info.local_bytes_per_thread).put(info.constant_bytes).put(info.max_threads_per_block);
    writer.put(info.ptx_version).put(info.binary_version);
    writer.put(static_cast<std::uint32_t>(info.params.size()));
    for (const ParamInfo& param : info.params) writer.put(param.offset).put(param.bytes);
}
inline FunctionInfo get_function_info(Reader& reader) {
    FunctionInfo info;
    info.param_bytes = reader.get<std::uint32_t>();
    info.registers_per_thread = reader.get<std::uint32_t>();
    info.static_shared_bytes = reader.get<std::uint32_t>();
    info.local_bytes_per_thread = reader.get<std::uint32_t>();
    info.constant_bytes = reader.get<std::uint32_t>();
    info.max_threads_per_block = reader.get<std::uint32_t>();
    info.ptx_version = reader.get<int>();
    info.binary_version = reader.get<int>();
    const auto count = reader.get<std::uint32_t>();
    if (count > max_parameters || info.param_bytes > max_parameter_bytes) throw ProtocolError("too many parameters");
    for (std::uint32_t i = 0; i < count; ++i) {
        ParamInfo param{reader.get<std::uint32_t>(), reader.get<std::uint32_t>()};
        if (param.offset > info.param_bytes || param.bytes > info.param_bytes - param.offset)
            throw ProtocolError("parameter outside the parameter block");
        info.params.push_back(param);
    }
    return info;
}

template <class Image, class Visit>
void for_each_image_field(Image& image, Visit&& visit) {
    visit(image.use), visit(image.shape), visit(image.address), visit(image.pitch), visit(image.slice_bytes);
    visit(image.width), visit(image.height), visit(image.depth), visit(image.layered);
    visit(image.channels), visit(image.channel_bits), visit(image.kind);
    for (auto& mode : image.address_mode) visit(mode);
    visit(image.linear_filter), visit(image.normalized_coordinates), visit(image.normalized_values);
    for (auto& value : image.border) visit(value);
}
inline void put(Writer& writer, const ImageDescriptor& image) {
    for_each_image_field(image, [&]<class T>(const T& field) {
        if constexpr (std::is_same_v<T, bool>)
            writer.put(static_cast<std::uint8_t>(field));
        else
            writer.put(field);
    });
}
inline ImageDescriptor get_image(Reader& reader) {
    ImageDescriptor image;
    for_each_image_field(image, [&]<class T>(T& field) {
        if constexpr (std::is_same_v<T, bool>) {
            field = reader.get_bool();
        } else if constexpr (std::is_enum_v<T>) {
            const auto value = reader.get<std::uint8_t>();
            if (value >= static_cast<std::uint8_t>(T::count)) throw ProtocolError("unknown kind of image");
            field = static_cast<T>(value);
        } else {
            field = reader.get<T>();
        }
    });
    return image;
}

}  // namespace wire
}  // namespace warpgrade::device
