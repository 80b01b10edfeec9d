// Surfaces: loads and stores of an array's texels by byte offset and row, without conversion.
#include <algorithm>

#include "vgpu/ops/image_access.hpp"
#include "vgpu/ops/opcodes.hpp"

namespace warpgrade::vgpu {
namespace {

// Bits of form above the geometry: the number of elements, and what an access outside does (a fault if neither bit is
// set).
namespace form {
constexpr unsigned elements_shift = geometry::bits;
constexpr std::uint16_t elements = 7u << elements_shift, clamp = 64, zero = 128;
}  // namespace form

unsigned elements_of(const Insn& in) { return (in.form & form::elements) >> form::elements_shift; }

// The addresses of one warp-level access to one surface.
struct SurfacePlaces {
    std::uint64_t address[warp_size] = {};
    std::uint32_t inside = 0;  // lanes that access the array
};

class SurfaceAccess {
  public:
    SurfaceAccess(Warp& warp, const Insn& insn, const Image& of, unsigned access_bytes)
        : w_(warp), in_(insn), image_(of), bytes_(access_bytes) {}

    SurfacePlaces places(std::uint32_t mask) const {
        const Ref* coordinates = operand<Ref>(w_, in_.b) + elements_of(in_);
        const unsigned dimensions = in_.form & geometry::dimensions;
        const bool layered = in_.form & geometry::layered;
        SurfacePlaces found;
        for_active(mask, [&](unsigned l) {
            const auto coordinate = [&](unsigned i) {
                return std::int64_t{operand<std::int32_t>(w_, coordinates[i])[l]};
            };
            const unsigned first = layered ? 1 : 0;
            std::int64_t x = coordinate(first), y = dimensions > 1 ? coordinate(first + 1) : 0;
            std::int64_t z = layered ? coordinate(0) : dimensions > 2 ? coordinate(first + 2) : 0;
            if (x % bytes_ != 0)
                raise(
                    device::error::misaligned_address, l,
                    fmt::format("x is {} bytes, which is not a multiple of the {} bytes that are accessed", x, bytes_));
            const std::int64_t row = std::int64_t{image_.width} * image_.texel_bytes();
            if (row < bytes_) raise(device::error::illegal_address, l, "a whole row has fewer bytes than are accessed");
            const std::int64_t last[] = {row - bytes_, std::int64_t{image_.rows()} - 1,
                                         std::int64_t{image_.slices()} - 1};
            const auto within = [](std::int64_t i, std::int64_t most) { return i >= 0 && i <= most; };
            if (!within(x, last[0]) || !within(y, last[1]) || !within(z, last[2])) {
                if (in_.form & form::zero) return;
                if (!(in_.form & form::clamp))
                    raise(device::error::illegal_address, l,
                          fmt::format("byte {} of row {} of slice or layer {} lies outside its {}×{}×{}; "
                                      "x counts bytes, not texels",
                                      x, y, z, row, image_.rows(), image_.slices()));
                x = std::clamp<std::int64_t>(x, 0, last[0] / bytes_ * bytes_);
                y = std::clamp<std::int64_t>(y, 0, last[1]), z = std::clamp<std::int64_t>(z, 0, last[2]);
            }
            found.address[l] = image_.address + static_cast<std::uint64_t>(z) * image_.slice_bytes +
                               static_cast<std::uint64_t>(y) * image_.pitch + static_cast<std::uint64_t>(x);
            if (found.address[l] % bytes_ != 0)  // an array whose rows are less aligned than the runtime's
                raise(device::error::misaligned_address, l, "the array's rows are not aligned for this access");
            found.inside |= 1u << l;
        });
        return found;
    }

    // Calls move(memory, access) for the lanes inside and returns the number of sectors that they touch.
    template <Op O, class F>
    std::uint64_t perform(const SurfacePlaces& at, F&& move) const {
        if (at.inside == 0) return 0;
        Allocation& memory = image_memory<O>(w_, in_, image_, static_cast<unsigned>(std::countr_zero(at.inside)));
        Access x;
        x.collect(at.address, 0, at.inside, bytes_);
        note_global<O>(w_, in_, memory, x, bytes_);
        w_.block->l1.access(w_.index, x, bytes_, in_.memory_slot,
                            O == Op::Load ? LineRequest::Kind::Read : write_kind(x.fills_sectors(bytes_)));
        move(memory);
        return x.sectors(bytes_);
    }

  private:
    [[noreturn]] void raise(int code, unsigned lane, const std::string& message) const {
        raise_at(w_, &in_, code, lane, "accesses a surface, but " + message);
    }

    Warp& w_;
    const Insn& in_;
    const Image& image_;
    unsigned bytes_;
};

// b: a table of places for the elements and the coordinates.
template <class Mem, class Reg>
void run_load(Warp& w, const Insn& in, std::uint32_t mask) {
    const unsigned n = elements_of(in);
    Reg loaded[4][warp_size] = {};  // zero outside the array
    std::uint64_t sectors = 0;
    for_each_handle(operand<std::uint64_t>(w, in.a), mask, [&](std::uint64_t handle, std::uint32_t lanes) {
        const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
        const SurfaceAccess access(w, in, image_of(w, in, handle, device::ImageUse::surface, lane), n * sizeof(Mem));
        const SurfacePlaces at = access.places(lanes);
        sectors += access.template perform<Op::Load>(at, [&](const Allocation& memory) {
            for_active(at.inside, [&](unsigned l) {
                Mem v[4];
                std::memcpy(v, memory.at(at.address[l]), n * sizeof(Mem));
                for (unsigned i = 0; i < n; ++i) loaded[i][l] = v[i];
            });
        });
    });
    count(w, in.memory_slot, sectors);
    for (unsigned i = 0; i < n; ++i) {
        Reg* d = operand<Reg>(w, operand<Ref>(w, in.b)[i]);
        for_active(mask, [&](unsigned l) { d[l] = loaded[i][l]; });
    }
}

template <class Mem, class Reg>
void run_store(Warp& w, const Insn& in, std::uint32_t mask) {
    const unsigned n = elements_of(in);
    std::uint64_t sectors = 0;
    for_each_handle(operand<std::uint64_t>(w, in.a), mask, [&](std::uint64_t handle, std::uint32_t lanes) {
        const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
        const SurfaceAccess access(w, in, image_of(w, in, handle, device::ImageUse::surface, lane), n * sizeof(Mem));
        const SurfacePlaces at = access.places(lanes);
        sectors += access.template perform<Op::Store>(at, [&](const Allocation& memory) {
            for_active(at.inside, [&](unsigned l) {
                Mem v[4];
                for (unsigned i = 0; i < n; ++i) v[i] = static_cast<Mem>(operand<Reg>(w, operand<Ref>(w, in.b)[i])[l]);
                std::memcpy(memory.at(at.address[l]), v, n * sizeof(Mem));
            });
        });
    });
    count(w, in.memory_slot, sectors);
}

// suld.b.geometry{.v2, .v4}.type.outside d, [surface, {coordinates}]; sust has the data last.
template <Op O>
void decode_surface(InsnBuilder& b) {
    constexpr bool load = O == Op::Load;
    b.expect_operands(2, 2);
    const ptx::Operand& data = b.operand(load ? 0 : 1);
    const unsigned n = b.has("v4") ? 4 : b.has("v2") ? 2 : 1;
    const ptx::Type type = b.type();
    const unsigned bytes = ptx::size_of(type), width = std::max(bytes, 2u);
    if (n * bytes > 16) b.refuse("moves more than 16 bytes");
    const std::span<const ptx::Operand> elements =
        data.kind == ptx::Operand::Kind::Vector ? std::span(data.elements) : std::span(&data, 1);
    if (elements.size() != n) b.refuse("number of elements does not fit");
    std::vector<Ref> coordinates, places;
    decode_image_operand(b, b.operand(load ? 1 : 0), ptx::Type::S32, coordinates);
    const ptx::Type container = width == 2 ? ptx::Type::B16 : width == 4 ? ptx::Type::B32 : ptx::Type::B64;
    for (const ptx::Operand& element : elements)
        places.push_back(load ? b.destination(element, width) : b.source(element, container));
    places.insert(places.end(), coordinates.begin(), coordinates.end());
    b.out.b = b.table(places);
    b.out.form |= static_cast<std::uint16_t>(n << form::elements_shift);
    if (b.has("clamp")) b.out.form |= form::clamp;
    if (b.has("zero")) b.out.form |= form::zero;
    b.out.memory_slot = b.function.statistics(load ? StatKind::SurfaceLoad : StatKind::SurfaceStore);
    const auto choose = [&]<class Mem, class Reg>() {
        constexpr Handler run = load ? Handler{run_load<Mem, Reg>} : Handler{run_store<Mem, Reg>};
        b.handlers({run, run});
    };
    switch (bytes) {
        case 1:
            return choose.template operator()<std::uint8_t, std::uint16_t>();
        case 2:
            return choose.template operator()<std::uint16_t, std::uint16_t>();
        case 4:
            return choose.template operator()<std::uint32_t, std::uint32_t>();
        default:
            return choose.template operator()<std::uint64_t, std::uint64_t>();
    }
}

constexpr std::string_view types = "b8 b16 b32 b64", how = "1d 2d 3d a1d a2d v2 v4 trap clamp zero";
constexpr OpcodeFacts texels{.granule = granule::of_type};
constexpr OpcodeRow rows[] = {
    {"suld", "b", types, how, "loads from a surface object", decode_surface<Op::Load>, texels},
    {"sust", "b", types, how, "stores to a surface object", decode_surface<Op::Store>, texels},
};

}  // namespace

std::span<const OpcodeRow> surface_opcodes() { return rows; }

}  // namespace warpgrade::vgpu
