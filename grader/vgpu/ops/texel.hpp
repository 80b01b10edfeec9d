// Texels as registers hold them: four channels of 32 bits, whatever their size in memory.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "vgpu/memory/images.hpp"
#include "vgpu/ops/half.hpp"

namespace warpgrade::vgpu {

using Texel = std::array<std::uint32_t, 4>;  // integers, or the bits of floats

namespace texel {

// Channels that the texture lacks: 0 for the second and third, 1 for the fourth, as in graphics.
template <class T>
constexpr void fill_missing(Texel& texel, unsigned channels, T one) {
    for (unsigned c = channels; c < 4; ++c) texel[c] = c == 3 ? std::bit_cast<std::uint32_t>(one) : 0;
}

template <class Memory, bool Normalized>
std::uint32_t channel(Memory v) {
    if constexpr (Normalized) {
        constexpr auto most = static_cast<float>(std::numeric_limits<Memory>::max());
        // The most negative number stands for -1 too.
        return std::bit_cast<std::uint32_t>(std::max(static_cast<float>(v) / most, -1.0f));
    } else {
        return static_cast<std::uint32_t>(v);  // with its sign
    }
}

template <class Memory, bool Normalized>
Texel read(const std::byte* at, unsigned channels) {
    Texel result;
    for (unsigned c = 0; c < channels; ++c) {
        Memory v;
        std::memcpy(&v, at + c * sizeof v, sizeof v);
        result[c] = channel<Memory, Normalized>(v);
    }
    if constexpr (Normalized)
        fill_missing(result, channels, 1.0f);
    else
        fill_missing(result, channels, 1u);
    return result;
}

inline Texel read_float(const std::byte* at, unsigned channels) {
    Texel result;
    std::memcpy(result.data(), at, channels * sizeof(float));
    fill_missing(result, channels, 1.0f);
    return result;
}

inline Texel read_half(const std::byte* at, unsigned channels) {
    Texel result;
    for (unsigned c = 0; c < channels; ++c) {
        std::uint16_t v;
        std::memcpy(&v, at + c * sizeof v, sizeof v);
        result[c] = std::bit_cast<std::uint32_t>(F16::to_float(v));
    }
    fill_missing(result, channels, 1.0f);
    return result;
}

}  // namespace texel

using TexelReader = Texel (*)(const std::byte* at, unsigned channels);

// The function that reads a texture's texels.
inline TexelReader texel_reader(const Image& image) {
    using device::ChannelKind;
    if (image.kind == ChannelKind::floating) return image.channel_bits == 16 ? texel::read_half : texel::read_float;
    const bool sign = image.kind == ChannelKind::signed_integer;
    if (image.normalized_values) {
        if (image.channel_bits == 8) return sign ? texel::read<std::int8_t, true> : texel::read<std::uint8_t, true>;
        return sign ? texel::read<std::int16_t, true> : texel::read<std::uint16_t, true>;
    }
    switch (image.channel_bits) {
        case 8:
            return sign ? texel::read<std::int8_t, false> : texel::read<std::uint8_t, false>;
        case 16:
            return sign ? texel::read<std::int16_t, false> : texel::read<std::uint16_t, false>;
        default:
            return texel::read<std::uint32_t, false>;
    }
}

}  // namespace warpgrade::vgpu
