#include "vgpu/ops/image_access.hpp"

namespace warpgrade::vgpu {

using ptx::Operand;
using Kind = ptx::Operand::Kind;

void decode_image_operand(InsnBuilder& b, const Operand& operand, ptx::Type type, std::vector<Ref>& places) {
    struct Named {
        std::string_view name;
        std::uint16_t form;
    };
    constexpr Named geometries[] = {
        {"1d", 1}, {"2d", 2}, {"3d", 3}, {"a1d", 1 | geometry::layered}, {"a2d", 2 | geometry::layered}};
    std::uint16_t form = 0;
    for (const Named& g : geometries)
        if (b.has(g.name)) form = g.form;
    if (form == 0) b.refuse("needs one of .1d, .2d, .3d, .a1d and .a2d");
    b.out.form |= form;

    if (operand.kind != Kind::Address) b.refuse("needs [handle, {coordinates}]");
    if (operand.reg == Operand::no_register)
        b.refuse("texture and surface references, which CUDA 12 removed: use texture objects");
    if (operand.elements.size() != 1) b.refuse("separate samplers, which CUDA C++ does not have");
    if (operand.offset != 0) b.refuse("a handle with an offset");
    b.address(operand, ptx::Space::Global, 0);

    const Operand& list = operand.elements[0];
    const std::span<const Operand> coordinates =
        list.kind == Kind::Vector ? std::span(list.elements) : std::span(&list, 1);
    const bool layered = form & geometry::layered;
    const std::size_t needed = (form & geometry::dimensions) + (layered ? 1u : 0u);
    // Further elements only fill the vector up to two or four.
    if (coordinates.size() < needed) b.refuse(fmt::format("has {} coordinates, needs {}", coordinates.size(), needed));
    for (std::size_t i = 0; i < needed; ++i)
        places.push_back(b.source(coordinates[i], layered && i == 0 ? ptx::Type::U32 : type));
}

const Image& image_of(const Warp& w, const Insn& in, device::ImageId id, device::ImageUse use, unsigned lane) {
    namespace error = device::error;
    const bool texture = use == device::ImageUse::texture;
    const ImageTable& images = *w.executor->launch->limits.images;
    const Image* image = images.find(id);
    if (!image || image->use != use)
        raise_at(
            w, &in, error::illegal_address, lane,
            fmt::format("uses a value that is not a {} object: {}; pass what cudaCreate{}Object returned",
                        texture ? "texture" : "surface", image ? "this is one of the other kind" : images.describe(id),
                        texture ? "Texture" : "Surface"));
    const unsigned dimensions = in.form & geometry::dimensions;
    const bool layered = in.form & geometry::layered;
    const bool fits = layered == image->layered && (dimensions > 1 || image->rows() == 1) &&
                      (dimensions > 2 || layered || image->slices() == 1) &&
                      (image->shape != device::ImageShape::linear || dimensions == 1);
    if (!fits)
        raise_at(
            w, &in, error::launch_failure, lane,
            fmt::format("uses {}D {}coordinates for {}: does this function fit the way in which the object was made?",
                        dimensions, layered ? "layered " : "",
                        image->shape == device::ImageShape::linear
                            ? fmt::format("linear memory of {} texels", image->width)
                            : fmt::format("{} of {}×{}×{} texels{}",
                                          image->shape == device::ImageShape::array ? "an array" : "pitched memory",
                                          image->width, image->rows(), image->slices(),
                                          image->layered ? ", the last of which are layers" : "")));
    return *image;
}

}  // namespace warpgrade::vgpu
