// PTX text: parsed, decoded and run, within the virtual GPU's own memory.

#include "run_all.hpp"
#include "vgpu/ptx/parser.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    std::vector<std::string> kernels;
    try {
        for (const auto& function : warpgrade::vgpu::ptx::parse(text).functions) kernels.push_back(function.name);
    } catch (const warpgrade::vgpu::ptx::PtxError&) {
        return 0;
    }
    warpgrade::fuzz::run_all(std::as_bytes(std::span(text)), kernels);
    return 0;
}
