// The device code, kernels and variables that nvcc's generated code registers before main(). Nothing is loaded before
// its first use (CUDA's lazy loading), so that programs start without a device too.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "cudart/client/connection.hpp"

namespace warpgrade::cudart {

// The device code of one translation unit.
struct Module {
    std::vector<std::byte> own_image;  // of a module that the program loads as it runs
    // One fatbinary; or nvlink's output followed by each linked file's own fatbinary, for their PTX.
    std::vector<std::span<const std::byte>> images;
    bool loaded = false;
    cudaError_t load_status = cudaSuccess;
    std::uint32_t id = 0;
};

struct Kernel {
    Module* module = nullptr;
    std::string name;  // mangled
    bool resolved = false;
    cudaError_t status = cudaSuccess;
    std::uint32_t id = 0;
    device::FunctionInfo info;
    std::uint64_t dynamic_shared_bytes = 0;  // limit set by cudaFuncSetAttribute; 0: the default
};

struct Variable {
    Module* module = nullptr;
    std::string name;
    std::uint64_t address = 0, bytes = 0;  // once resolved
    std::size_t shadow_bytes = 0;          // of what stands for it in host code; 0 for a __managed__ variable
    bool constant = false;
};

// A __managed__ variable. The program accesses it through a pointer, which is set when its module is loaded.
struct ManagedVariable {
    Module* module = nullptr;
    std::string name;
    void** pointer = nullptr;
    std::size_t bytes = 0;
};

class Registry {
  public:
    static Registry& get();

    Module* add_module(const void* wrapper);
    // A module that the program loads as it runs: a fatbinary or the text of PTX.
    Module* add_module(std::vector<std::byte> image);
    Kernel* add_kernel(Module* module, const void* stub, const char* name);
    void add_variable(Module* module, const void* shadow, const char* name, std::size_t bytes, bool constant);
    void add_managed_variable(Module* module, void** pointer, const char* name);
    void remove_module(Module* module);

    // Loads the kernel of a host stub or a cudaKernel_t. cudaErrorInvalidResourceHandle for anything else.
    cudaError_t find_kernel(const void* handle, Kernel*& kernel);
    // The kernel of this name. cudaErrorInvalidDeviceFunction if the module has none.
    cudaError_t find_kernel(Module& module, const char* name, Kernel*& kernel);
    // The same without loading, for a stub before its first launch; null if there is none.
    Kernel* find_registered_kernel(const void* handle);
    // The variable of a host shadow, with its address. cudaErrorInvalidSymbol for anything else.
    cudaError_t find_variable(const void* shadow, Variable*& variable);
    // The address and size of the module's variable of this name. cudaErrorInvalidSymbol if it has none.
    cudaError_t find_variable(Module& module, const std::string& name, std::uint64_t& address, std::uint64_t& bytes);
    // The shadow that holds this address of host memory; null if none does. Slow.
    [[nodiscard]] const void* shadow_at(const void* pointer) const;

    cudaError_t load(Module& module);
    [[nodiscard]] bool is_module(Module* module) const { return modules_.count(module) != 0; }

    // After a reset of the context: everything is loaded again.
    void forget();

  private:
    cudaError_t map_managed_variables(const Module& module);

    std::unordered_map<Module*, std::unique_ptr<Module>> modules_;
    std::unordered_map<const void*, std::unique_ptr<Kernel>> kernels_;  // by stub; its own address where there is none
    std::unordered_map<const void*, Kernel*> handles_;                  // by cudaKernel_t
    std::unordered_map<const void*, Variable> variables_;
    std::vector<ManagedVariable> managed_;
};

}  // namespace warpgrade::cudart
