// Fatbinary containers, with the cubins and the PTX in them.

#include "vgpu/container/fatbin.hpp"
#include "run_all.hpp"
#include "vgpu/ptx/parser.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace warpgrade;
    const auto image = std::as_bytes(std::span(data, size));
    std::vector<std::string> kernels;
    try {
        const auto entries = vgpu::read_fatbin(image);
        if (const auto* ptx = vgpu::choose_ptx(entries, 90))
            for (const auto& function : vgpu::ptx::parse(std::string(ptx->text())).functions)
                kernels.push_back(function.name);
    } catch (const vgpu::FatbinError&) {
        return 0;
    } catch (const vgpu::ptx::PtxError&) {
    }
    fuzz::run_all(image, kernels);
    return 0;
}
