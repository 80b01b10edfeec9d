// Runs all forms on this machine's NVIDIA GPU, through the driver, and writes the results: the records that the tests
// compare with. It needs no CUDA toolkit, neither to build nor to run.
//
//     vgpu-exact-record --ptx                 prints the PTX (to check it with ptxas)
//     vgpu-exact-record FOLDER [RAW]          writes FOLDER/<family>.txt; all bits of all cases to the file RAW
#include <dlfcn.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>

#include "forms.hpp"

namespace {

using u64 = std::uint64_t;

class Gpu {
  public:
    explicit Gpu(const std::string& ptx) {
        call<int (*)(unsigned)>("cuInit", 0u);
        int device = 0;
        call<int (*)(int*, int)>("cuDeviceGet", &device, 0);
        void* context = nullptr;
        call<int (*)(void**, int)>("cuDevicePrimaryCtxRetain", &context, device);
        call<int (*)(void*)>("cuCtxSetCurrent", context);
        call<int (*)(void**, const void*)>("cuModuleLoadData", &module_, static_cast<const void*>(ptx.c_str()));
        for (u64& b : buffers_) call<int (*)(u64*, std::size_t)>("cuMemAlloc_v2", &b, exact::cases * 8 + 16);
    }
    std::vector<u64> run(std::size_t index, const std::vector<std::vector<u64>>& sources) {
        for (std::size_t i = 0; i < sources.size(); ++i)
            call<int (*)(u64, const void*, std::size_t)>("cuMemcpyHtoD_v2", buffers_[i],
                                                         static_cast<const void*>(sources[i].data()), exact::cases * 8);
        void* function = nullptr;
        const std::string name = exact::kernel_name(index);
        call<int (*)(void**, void*, const char*)>("cuModuleGetFunction", &function, module_, name.c_str());
        void* args[] = {&buffers_[0], &buffers_[1], &buffers_[2], &buffers_[3]};
        call<int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                     void**)>("cuLaunchKernel", function, static_cast<unsigned>(exact::cases / 128), 1u, 1u, 128u, 1u,
                              1u, 0u, nullptr, args, nullptr);
        std::vector<u64> result(exact::cases);
        call<int (*)(void*, u64, std::size_t)>("cuMemcpyDtoH_v2", static_cast<void*>(result.data()), buffers_[3],
                                               exact::cases * 8);
        return result;
    }

  private:
    template <class F, class... Args>
    void call(const char* name, Args... args) {
        const auto f = reinterpret_cast<F>(dlsym(library_, name));
        if (!f) throw std::runtime_error(std::string(name) + " is missing: is there a driver?");
        if (const int error = f(args...); error != 0)
            throw std::runtime_error(std::string(name) + " returned error " + std::to_string(error));
    }
    void* library_ = dlopen("libcuda.so.1", RTLD_NOW);
    void* module_ = nullptr;
    u64 buffers_[4] = {};
};

// Writes one line: the name, the hashes of all batches, the bits of the first `kept` cases (more for approximate
// forms).
void write(std::ostream& out, const exact::Form& form, const std::vector<u64>& bits) {
    char word[24];
    out << form.name << '\t';
    for (std::size_t at = 0; at < exact::cases; at += exact::batch) {
        std::snprintf(word, sizeof word, "%08x", exact::hash(bits.data() + at, exact::batch));
        out << word;
    }
    out << '\t';
    const std::size_t kept = form.error < 0 ? exact::kept : exact::kept_approximate;
    for (std::size_t i = 0; i < kept; ++i) {
        std::snprintf(word, sizeof word, "%llx", static_cast<unsigned long long>(bits[i]));
        out << (i ? "," : "") << word;
    }
    out << '\n';
}

int record(const std::string& folder, const char* raw) {
    const auto forms = exact::forms();
    Gpu gpu(exact::ptx(forms));
    std::map<std::string, std::ofstream> files;
    std::ofstream all;
    if (raw) all.open(raw, std::ios::binary);
    for (std::size_t i = 0; i < forms.size(); ++i) {
        const auto [file, fresh] = files.try_emplace(forms[i].family);
        if (fresh) file->second.open(folder + "/" + forms[i].family + ".txt");
        const auto bits = gpu.run(i, exact::operands(forms[i]));
        write(file->second, forms[i], bits);
        if (raw) all.write(reinterpret_cast<const char*>(bits.data()), static_cast<std::streamsize>(bits.size() * 8));
    }
    std::cout << forms.size() << " forms, " << forms.size() * exact::cases << " cases\n";
    return 0;
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc == 2 && std::string(argv[1]) == "--ptx") {
        std::cout << exact::ptx(exact::forms());
        return 0;
    }
    if (argc < 2) {
        std::cerr << "usage: vgpu-exact-record --ptx | FOLDER [RAW]\n";
        return 2;
    }
    return record(argv[1], argc > 2 ? argv[2] : nullptr);
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
