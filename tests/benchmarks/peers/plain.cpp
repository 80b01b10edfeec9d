// Plain C++ on one core: the loops of tests/vgpu/bench/plain.cpp.
#include "vgpu/bench/plain.hpp"

#include <memory>

#include "peer.hpp"

namespace plain = warpgrade::vgpu::bench::plain;

int main() {
    return peer::serve([](peer::Inputs inputs) -> peer::Work {
        const auto in = std::make_shared<peer::Inputs>(std::move(inputs));
        const auto out =
            std::make_shared<peer::Floats>(in->algorithm == "reduce_tree" ? in->n / 256 + 1 : in->a.size());
        const auto result = [in, out] { return in->algorithm == "reduce_tree" ? peer::Floats{out->front()} : *out; };
        const auto run = [in, out] {
            if (in->algorithm == "matmul_naive")
                plain::matmul_naive(in->a.data(), in->b.data(), out->data(), in->n);
            else if (in->algorithm == "matmul_tiled")
                plain::matmul_tiled(in->a.data(), in->b.data(), out->data(), in->n);
            else
                plain::reduce_tree(in->a.data(), out->data(), in->n);
        };
        return {run, result};
    });
}
