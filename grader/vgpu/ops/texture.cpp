// Texture fetches: the position of texels, coordinates outside the texture, linear filtering. Follows the CUDA C++
// programming guide's appendix "Texture Fetching"; positions are exact, and weights have 8 fractional bits.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "vgpu/ops/image_access.hpp"
#include "vgpu/ops/opcodes.hpp"
#include "vgpu/ops/texel.hpp"

namespace warpgrade::vgpu {
namespace {

using device::AddressMode;

// Bit of form above the geometry: coordinates are integers.
namespace form {
constexpr std::uint16_t integers = 1u << geometry::bits;
}
constexpr unsigned max_taps = 8, weight_bits = 8;
constexpr std::uint32_t whole_weight = 1u << weight_bits;

constexpr std::int64_t modulo(std::int64_t i, std::int64_t n) { return (i % n + n) % n; }

// The texels that a fetch reads along one axis: one, or two with weights. `weight` is the second one's share of 256.
struct Taps {
    std::int64_t index[2] = {};
    bool inside[2] = {};  // not the border
    std::uint32_t weight = 0;

    void apply_mode(unsigned which, std::int64_t i, std::int64_t size, AddressMode mode) {
        inside[which] = mode != AddressMode::border || (i >= 0 && i < size);
        switch (mode) {
            case AddressMode::wrap:
                index[which] = modulo(i, size);
                break;
            case AddressMode::mirror:
                index[which] = std::min(modulo(i, 2 * size), 2 * size - 1 - modulo(i, 2 * size));
                break;
            default:
                index[which] = std::clamp<std::int64_t>(i, 0, size - 1);
        }
    }
};

// The fraction that replaces a normalized coordinate; below 1.
double wrap_coordinate(double x, bool mirrored) {
    const double whole = std::floor(x);
    const double fraction = std::min(x - whole, 1 - 0x1p-53);
    if (!mirrored || std::fmod(whole, 2) == 0) return fraction;
    return 1 - fraction;  // 1 is clamped to the last texel
}

Taps taps_at(double x, std::int64_t size, AddressMode mode, const Image& image) {
    if (!std::isfinite(x)) x = std::isinf(x) && mode != AddressMode::wrap && mode != AddressMode::mirror ? x : 0;
    // On a mirrored axis, two texels are chosen first and then mirrored separately.
    const bool unfolded = image.normalized_coordinates && image.linear_filter && mode == AddressMode::mirror;
    if (unfolded) {
        x = std::fmod(x, 2) * static_cast<double>(size);
    } else if (image.normalized_coordinates) {
        if (mode == AddressMode::wrap || mode == AddressMode::mirror)
            x = wrap_coordinate(x, mode == AddressMode::mirror);
        x *= static_cast<double>(size);
    }
    if (!unfolded) x = std::clamp(x, -2.0, static_cast<double>(size) + 2);  // further out makes no difference
    Taps taps;
    if (!image.linear_filter) {
        taps.apply_mode(0, static_cast<std::int64_t>(std::floor(x)), size, mode);
        return taps;
    }
    // Texels have their values at their centres. Rounds the position to 1/256 of the distance between two of them.
    const auto position = static_cast<std::int64_t>(std::floor((x - 0.5) * whole_weight + 0.5));
    const std::int64_t first = position >> weight_bits;
    taps.weight = static_cast<std::uint32_t>(position) & (whole_weight - 1);
    taps.apply_mode(0, first, size, mode);
    taps.apply_mode(1, first + 1, size, mode);
    return taps;
}

Taps taps_at(std::int32_t index, std::int64_t size, AddressMode mode) {
    Taps taps;
    taps.apply_mode(0, index, size, mode == AddressMode::border ? mode : AddressMode::clamp);
    return taps;
}

// Weights of the corners, 256 in total, as an H100's texture unit rounds them: shares along x are split by z, then by
// y. For a lower x, the lower share is rounded to nearest and the upper one is the rest; for an upper x, the reverse.
using Weights = std::array<std::uint32_t, max_taps>;

void split(Weights& weights, unsigned axis, std::uint32_t upper) {
    constexpr std::uint32_t half = whole_weight / 2;
    const unsigned step = 1u << axis;
    for (unsigned corner = 0; corner < max_taps; ++corner) {
        if (corner & step) continue;
        const std::uint32_t whole = weights[corner], share = corner & 1 ? upper : whole_weight - upper;
        const std::uint32_t rounded = (whole * share + half) >> weight_bits;
        weights[corner] = corner & 1 ? whole - rounded : rounded;
        weights[corner | step] = corner & 1 ? rounded : whole - rounded;
    }
}

// Rounds to float; ties go away from zero.
float rounded_away(double v) {
    const auto near = static_cast<float>(v);
    const float beyond = std::nextafter(near, std::copysign(std::numeric_limits<float>::infinity(), near));
    const double left = std::fabs(v) - std::fabs(double{near});
    return left > 0 && left == std::fabs(double{beyond}) - std::fabs(v) ? beyond : near;
}

// One warp-level fetch from one texture.
class Fetch {
  public:
    Fetch(Warp& warp, const Insn& insn, const Image& of, std::uint32_t lanes)
        : w_(warp),
          in_(insn),
          image_(of),
          mask_(lanes),
          dimensions_(insn.form & geometry::dimensions),
          filters_(of.linear_filter && !(insn.form & form::integers)),
          unit_(of.kind == device::ChannelKind::floating         ? 0
                : of.kind == device::ChannelKind::signed_integer ? 32767
                                                                 : 65535) {}

    // Appends the touched sectors.
    void run(Texel* result, std::vector<std::uint64_t>& sectors) {
        locate();
        const unsigned corners = filters_ ? 1u << dimensions_ : 1u;
        for (unsigned corner = 0; corner < corners; ++corner) read_corner(corner, result, sectors);
        if (!filters_) return;
        for_active(mask_, [&](unsigned l) {
            for (unsigned c = 0; c < 4; ++c) {
                const double sum = sum_[l][c] / whole_weight;
                const float value = unit_ == 0 ? rounded_away(sum) : static_cast<float>(std::floor(sum + 0.5) / unit_);
                result[l][c] = std::bit_cast<std::uint32_t>(value);
            }
        });
    }

  private:
    // Values of signed 8-bit channels are not whole multiples of the 16-bit unit.
    [[nodiscard]] double steps(double value) const {
        const bool whole = image_.channel_bits == 16 || image_.kind == device::ChannelKind::unsigned_integer;
        return whole ? std::nearbyint(value * unit_) : value * unit_;
    }

    void locate() {
        const Ref* places = operand<Ref>(w_, in_.b) + 4;
        const bool layered = in_.form & geometry::layered;
        for_active(mask_, [&](unsigned l) {
            slice_[l] = layered ? std::min(operand<std::uint32_t>(w_, places[0])[l], image_.slices() - 1) : 0;
        });
        const std::uint32_t sizes[] = {image_.width, image_.rows(), image_.slices()};
        for (unsigned d = 0; d < dimensions_; ++d) {
            const Ref place = places[d + (layered ? 1 : 0)];
            const AddressMode mode = image_.address_mode[d];
            for_active(mask_, [&](unsigned l) {
                taps_[d][l] = in_.form & form::integers
                                  ? taps_at(operand<std::int32_t>(w_, place)[l], sizes[d], mode)
                                  : taps_at(double{operand<float>(w_, place)[l]}, sizes[d], mode, image_);
            });
        }
        if (!filters_) return;
        for_active(mask_, [&](unsigned l) {
            weights_[l] = {whole_weight - taps_[0][l].weight, taps_[0][l].weight};
            for (unsigned d = dimensions_ - 1; d > 0; --d) split(weights_[l], d, taps_[d][l].weight);
        });
    }

    // Bit d of `corner` selects one of the two texels along axis d.
    void read_corner(unsigned corner, Texel* result, std::vector<std::uint64_t>& sectors) {
        std::uint64_t address[warp_size] = {};
        std::uint32_t weight[warp_size] = {};
        std::uint32_t wanted = 0, in_memory = 0;
        for_active(mask_, [&](unsigned l) {
            std::uint64_t at[3] = {0, 0, slice_[l]};
            const std::uint32_t share = filters_ ? weights_[l][corner] : 1;
            bool inside = true;
            for (unsigned d = 0; d < dimensions_; ++d) {
                const Taps& taps = taps_[d][l];
                const unsigned which = corner >> d & 1;
                at[d] = static_cast<std::uint64_t>(taps.index[which]);
                inside &= taps.inside[which];
            }
            address[l] =
                image_.address + at[2] * image_.slice_bytes + at[1] * image_.pitch + at[0] * image_.texel_bytes();
            weight[l] = share;
            wanted |= std::uint32_t{share != 0} << l;
            in_memory |= std::uint32_t{share != 0 && inside} << l;
        });
        if (in_memory) gather(address, in_memory, sectors);
        for_active(wanted, [&](unsigned l) {
            if (!lane_on(in_memory, l)) texel_[l] = border();
            if (!filters_) {
                result[l] = texel_[l];
                return;
            }
            for (unsigned c = 0; c < 4; ++c) {
                const double value = std::bit_cast<float>(texel_[l][c]);
                sum_[l][c] += (unit_ == 0 ? value : steps(value)) * weights_[l][corner];
            }
        });
    }

    void gather(const std::uint64_t* address, std::uint32_t lanes, std::vector<std::uint64_t>& sectors) {
        const unsigned bytes = image_.texel_bytes();
        Allocation& memory = image_memory<Op::Load>(w_, in_, image_, static_cast<unsigned>(std::countr_zero(lanes)));
        Access x;
        x.collect(address, 0, lanes, bytes);
        note_global<Op::Load>(w_, in_, memory, x, bytes, {.read_only = true});
        w_.block->l1.access(w_.index, x, bytes, in_.memory_slot, LineRequest::Kind::Read);
        const TexelReader read = texel_reader(image_);
        for_active(lanes, [&](unsigned l) {
            texel_[l] = read(memory.at(address[l]), image_.channels);
            sectors.push_back(address[l] / sector_bytes);
        });
    }

    [[nodiscard]] Texel border() const {
        Texel colour;
        std::memcpy(colour.data(), image_.border.data(), sizeof colour);
        return colour;
    }

    Warp& w_;
    const Insn& in_;
    const Image& image_;
    std::uint32_t mask_;
    unsigned dimensions_;
    bool filters_;  // linearly
    double unit_;   // normalized integers are filtered as 16-bit ones, with this as 1; 0 for floats
    std::uint32_t slice_[warp_size] = {};
    Taps taps_[3][warp_size];
    Texel texel_[warp_size];
    Weights weights_[warp_size] = {};
    double sum_[warp_size][4] = {};
};

// b: a table of four places for the result, then those of the coordinates.
void run_texture(Warp& w, const Insn& in, std::uint32_t mask) {
    Texel result[warp_size];
    std::vector<std::uint64_t> sectors;
    sectors.reserve(std::size_t{warp_size} * max_taps);
    for_each_handle(operand<std::uint64_t>(w, in.a), mask, [&](std::uint64_t handle, std::uint32_t lanes) {
        const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
        Fetch(w, in, image_of(w, in, handle, device::ImageUse::texture, lane), lanes).run(result, sectors);
    });
    std::sort(sectors.begin(), sectors.end());
    count(w, in.memory_slot, static_cast<std::uint64_t>(std::unique(sectors.begin(), sectors.end()) - sectors.begin()));
    const Ref* places = operand<Ref>(w, in.b);
    for (unsigned c = 0; c < 4; ++c) {
        auto* d = operand<std::uint32_t>(w, places[c]);
        for_active(mask, [&](unsigned l) { d[l] = result[l][c]; });
    }
}

// tex.geometry.v4.type.type d, [texture, {coordinates}]; with .level, a level of detail follows. The texture determines
// the result's type; the instruction's type only names the register.
void decode_texture(InsnBuilder& b) {
    const bool level = b.has("level");
    b.expect_operands(level ? 3 : 2, level ? 3 : 2);
    if (b.type_count() != 2) b.refuse("needs the types of the result and of the coordinates");
    const ptx::Type coordinates = b.type(1);
    if (coordinates != ptx::Type::F32 && coordinates != ptx::Type::S32) b.refuse("coordinates are .f32 or .s32");
    if (coordinates == ptx::Type::S32) b.out.form |= form::integers;
    const ptx::Operand& result = b.operand(0);
    if (result.kind != ptx::Operand::Kind::Vector || result.elements.size() != 4) b.refuse("needs a result of four");
    // Without mipmaps there is only one level, so the requested one does not matter.
    if (level) b.source(2, coordinates == ptx::Type::F32 ? ptx::Type::F32 : ptx::Type::S32);
    std::vector<Ref> sources, places;
    decode_image_operand(b, b.operand(1), coordinates, sources);
    for (const ptx::Operand& element : result.elements) places.push_back(b.destination(element, 4));
    places.insert(places.end(), sources.begin(), sources.end());
    b.out.b = b.table(places);
    b.out.memory_slot = b.function.statistics(StatKind::TextureLoad);
    b.handlers({run_texture, run_texture});
}

constexpr std::string_view types = "f32 s32 u32", geometries = "1d 2d 3d a1d a2d";
// Texels may be smaller than a word, but writes of partial words are tracked by others, and a fetch only reads.
constexpr OpcodeFacts fetch{.granule = 4};
constexpr OpcodeRow rows[] = {
    {"tex", "v4", types, geometries, "fetches from a texture object", decode_texture, fetch},
    {"tex", "level v4", types, geometries, "the same; textures have one level", decode_texture, fetch},
};

}  // namespace

std::span<const OpcodeRow> texture_opcodes() { return rows; }

}  // namespace warpgrade::vgpu
