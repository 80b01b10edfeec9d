// A loaded module: its PTX, its variables in global memory, its decoded kernels.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "vgpu/code/decoder.hpp"
#include "vgpu/container/called_functions.hpp"
#include "vgpu/container/cubin.hpp"
#include "vgpu/memory/memory.hpp"

namespace warpgrade::vgpu {

struct LoadedKernel {
    const ptx::Function* function = nullptr;
    Code code;
    device::FunctionInfo info;
};

// The kernels of an image that are decoded for one placing of its variables.
struct DecodedKernels {
    SymbolTable symbols;
    bool steps = false;
    std::mutex mutex;
    std::vector<std::unique_ptr<LoadedKernel>> kernels;
};

// The parsed contents of an image. Modules loaded from the same bytes share it, and their kernels if their variables
// have the same addresses: a call, its replay, and the sessions of the next tests load the same image.
struct ModuleImage {
    std::vector<std::byte> bytes;
    int compute_capability = 0;
    std::vector<KernelResources> resources;  // if there is a cubin
    std::vector<CalledFunction> called;      // in it
    ptx::Module ptx;
    std::shared_ptr<DecodedKernels> decoded;  // for the last placing
};

class LoadedModule {
  public:
    // `image` is a fatbinary container or a PTX text. Throws DeviceError if it is malformed or has no PTX for this
    // device. `steps`: as decode_kernel takes it.
    LoadedModule(std::span<const std::byte> image, int compute_capability, GlobalMemory& memory,
                 const OpcodeTable& opcodes, bool steps = false);
    ~LoadedModule();
    LoadedModule(const LoadedModule&) = delete;
    LoadedModule& operator=(const LoadedModule&) = delete;

    // Decodes the kernel at its first use. Throws DeviceError if it does not exist or its PTX is unsupported (with the
    // line).
    const LoadedKernel& kernel(std::string_view name);
    [[nodiscard]] device::SymbolInfo symbol(std::string_view name) const;
    [[nodiscard]] const ptx::Module& ptx() const { return image_->ptx; }
    [[nodiscard]] std::weak_ptr<const ModuleImage> image() const { return image_; }

  private:
    void place_variables();
    [[nodiscard]] std::string located(const ptx::Function& function, const ptx::PtxError& error) const;

    GlobalMemory& memory_;
    const OpcodeTable& opcodes_;
    std::shared_ptr<const ModuleImage> image_;
    SymbolTable symbols_;
    std::vector<Allocation*> variables_;
    std::shared_ptr<DecodedKernels> decoded_;
};

}  // namespace warpgrade::vgpu
