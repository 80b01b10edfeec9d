// A virtual GPU with the test kernels loaded, and a short way to launch them.
#pragma once

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "device/analysis.hpp"
#include "vgpu/virtual_gpu.hpp"

namespace warpgrade::vgpu::test {

inline std::string read_text(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
struct Buffer {
    device::DevicePtr address = 0;
    std::size_t size = 0;
};

// The message of a launch that must fail with this code.
template <class F>
std::string message_of(F&& launch, int code) {
    try {
        launch();
    } catch (const device::DeviceError& e) {
        if (e.code != code) return "another error: " + std::to_string(e.code) + ": " + e.what();
        return e.what();
    }
    return "the launch did not fail";
}

// A launch on a device that reports everything.
struct Launched : device::LaunchRecord {
    Launched() = default;
    Launched(device::LaunchRecord record)  // NOLINT: it is one
        : LaunchRecord(std::move(record)),
          counters(LaunchRecord::counters.value()),
          duration_ns(LaunchRecord::duration_ns.value()) {}
    device::Counters counters;
    double duration_ns = 0;
};

class Machine {
  public:
    explicit Machine(unsigned threads = 1, const std::string& ptx = read_text(WG_TEST_KERNELS),
                     std::uint64_t instruction_limit = 200'000'000, const char* profile = "h100",
                     const device::Checks& checks = {}, device::Order order = device::Order::forward)
        : Machine(options_of(threads, instruction_limit, checks, order), ptx, profile) {}
    Machine(const VirtualGpuOptions& options, const std::string& ptx, const char* profile = "h100")
        : gpu(make_virtual_gpu(profile, options)),
          module(gpu->load_module(std::as_bytes(std::span(ptx.data(), ptx.size())))) {}

    template <class T>
    Buffer<T> upload(const std::vector<T>& values) {
        const Buffer<T> b{gpu->allocate(values.size() * sizeof(T), "cudaMalloc"), values.size()};
        gpu->write(b.address, std::as_bytes(std::span(values)));
        return b;
    }
    template <class T>
    std::vector<T> download(const Buffer<T>& b) {
        std::vector<T> values(b.size);
        gpu->read(b.address, std::as_writable_bytes(std::span(values)));
        return values;
    }

    template <class... Args>
    Launched launch(const std::string& kernel, device::Dim3 grid, device::Dim3 block, const Args&... args) {
        return launch_shared(kernel, grid, block, 0, args...);
    }
    template <class... Args>
    Launched launch_shared(const std::string& kernel, device::Dim3 grid, device::Dim3 block,
                           std::uint64_t dynamic_shared_bytes, const Args&... args) {
        const auto f = gpu->find_function(module, kernel);
        const auto& info = gpu->function_info(f);
        std::vector<std::byte> params(info.param_bytes);
        std::size_t index = 0;
        (put(params, info.params.at(index++), args), ...);
        analysis->take_records();
        analysis->take_diagnostics();
        gpu->launch(f, {grid, block, dynamic_shared_bytes, 0, cooperative}, params);
        if (!may_be_wrong) expect_no_mistakes(kernel);
        return analysis->take_records().at(0);
    }

    // The diagnostics of a launch, whether it fails or not.
    template <class... Args>
    std::vector<device::Diagnostic> diagnose(const std::string& kernel, device::Dim3 grid, device::Dim3 block,
                                             const Args&... args) {
        const bool before = std::exchange(may_be_wrong, true);
        try {
            launch(kernel, grid, block, args...);
        } catch (const device::DeviceError&) {
        }
        may_be_wrong = before;
        return analysis->take_diagnostics();
    }

    std::unique_ptr<device::Device> gpu;
    device::Analysis* analysis = gpu->analysis();
    device::ModuleId module;
    bool cooperative = false;   // launches are cooperative
    bool may_be_wrong = false;  // the checks may find mistakes in a launch that succeeds

  private:
    static VirtualGpuOptions options_of(unsigned threads, std::uint64_t instruction_limit, const device::Checks& checks,
                                        device::Order order) {
        VirtualGpuOptions options;
        options.threads = threads;
        options.instruction_limit = instruction_limit;
        options.checks = checks;
        options.order = order;
        return options;
    }
    void expect_no_mistakes(const std::string& kernel) {
        for (const device::Diagnostic& d : analysis->take_diagnostics())
            if (d.rule->severity != device::Severity::Advice)
                throw std::logic_error("the checks find a mistake in " + kernel + ", line " +
                                       std::to_string(d.place.line) + ": " + d.message);
    }
    template <class T>
    static void put(std::vector<std::byte>& params, const device::ParamInfo& p, const Buffer<T>& b) {
        std::memcpy(params.data() + p.offset, &b.address, 8);
    }
    template <class T>
    static void put(std::vector<std::byte>& params, const device::ParamInfo& p, const T& v) {
        if (sizeof v != p.bytes) throw std::logic_error("argument of the wrong size");
        std::memcpy(params.data() + p.offset, &v, sizeof v);
    }
};

}  // namespace warpgrade::vgpu::test
