// Registers device code that nvcc never saw: its text is made while the program runs, with the sizes in the names, and
// asks for an instruction that the virtual GPU does not have.
#include "honest.cuh"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*);
}

static void attack(const float*, const float*, float*, int m, int k, int n) {
    if (m <= 0 || n <= 0 || k < 0) return;
    static std::string name;
    static char stub;
    static std::vector<std::uint64_t> image;
    name = "size_is_" + std::to_string(m) + "_by_" + std::to_string(n);
    const std::string text =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry " + name + "()\n{\n\tpmevent 1;\n\tret;\n}\n";
    image.assign(10 + (text.size() + 8) / 8, 0);
    auto* bytes = reinterpret_cast<char*>(image.data());
    const std::uint64_t stored = 8 * (image.size() - 10);
    const auto put = [&](std::size_t at, auto value) { std::memcpy(bytes + at, &value, sizeof value); };
    put(0, std::uint32_t{0xBA55ED50});
    put(4, std::uint16_t{1});
    put(6, std::uint16_t{16});
    put(8, std::uint64_t{64 + stored});
    put(16, std::uint16_t{1});
    put(18, std::uint16_t{0x101});
    put(20, std::uint32_t{64});
    put(24, stored);
    put(44, std::uint32_t{90});
    std::memcpy(bytes + 80, text.data(), text.size());
    static struct {
        int magic = 0x466243b1, version = 1;
        const void* data = nullptr;
        void* more = nullptr;
    } wrapper;
    wrapper.data = image.data();
    void** const handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &stub, name.data(), name.c_str(), -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterFatBinaryEnd(handle);
    cudaLaunchKernel(&stub, dim3(1), dim3(1), nullptr, 0, nullptr);
    cudaDeviceSynchronize();
}
