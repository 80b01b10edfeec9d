// The kernels in OpenCL C on the CPU, compiled by PoCL: opencl KERNELS.cl
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <iterator>
#include <memory>

#include "peer.hpp"

namespace {

void check(cl_int status) {
    if (status != CL_SUCCESS) throw std::runtime_error("OpenCL's error " + std::to_string(status));
}

cl_device_id find_pocl() {
    cl_platform_id platforms[16];
    cl_uint count = 0;
    if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) count = 0;
    for (cl_uint i = 0; i < count && i < 16; ++i) {
        char name[256] = {};
        cl_device_id device = nullptr;
        check(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, nullptr));
        if (std::string(name).find("Portable") == std::string::npos) continue;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, nullptr) == CL_SUCCESS) return device;
    }
    throw std::runtime_error("OpenCL finds no platform of PoCL: install pocl-opencl-icd");
}

// What is opened once and lives as long as the program.
struct Device {
    cl_device_id id = find_pocl();
    cl_context context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, nullptr);
    cl_command_queue queue = clCreateCommandQueue(context, id, 0, nullptr);
    cl_program program = nullptr;

    explicit Device(const char* file) {
        std::ifstream in(file);
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        const char* source = text.c_str();
        program = clCreateProgramWithSource(context, 1, &source, nullptr, nullptr);
        check(clBuildProgram(program, 1, &id, "", nullptr, nullptr));
    }
};

using Buffer = std::shared_ptr<_cl_mem>;
using Kernel = std::shared_ptr<_cl_kernel>;

Buffer make_buffer(const Device& device, std::size_t count, const float* from = nullptr) {
    cl_int status = CL_SUCCESS;
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0);
    Buffer made(clCreateBuffer(device.context, flags, count * sizeof(float), const_cast<float*>(from), &status),
                clReleaseMemObject);
    check(status);
    return made;
}

void set_argument(const Kernel& kernel, cl_uint which, const Buffer& buffer) {
    cl_mem handle = buffer.get();
    check(clSetKernelArg(kernel.get(), which, sizeof(cl_mem), static_cast<const void*>(&handle)));
}
void set_argument(const Kernel& kernel, cl_uint which, int value) {
    check(clSetKernelArg(kernel.get(), which, sizeof value, &value));
}

void enqueue(const Device& device, const Kernel& kernel, cl_uint dimensions, std::size_t size, std::size_t group) {
    const std::size_t sizes[2] = {size, size}, groups[2] = {group, group};
    check(clEnqueueNDRangeKernel(device.queue, kernel.get(), dimensions, nullptr, sizes, groups, 0, nullptr, nullptr));
}

peer::Floats download(const Device& device, const Buffer& from, std::size_t count) {
    peer::Floats to(count);
    check(clEnqueueReadBuffer(device.queue, from.get(), CL_TRUE, 0, count * sizeof(float), to.data(), 0, nullptr,
                              nullptr));
    return to;
}

peer::Work prepare(const Device& device, const peer::Inputs& inputs) {
    cl_int status = CL_SUCCESS;
    const Kernel kernel(clCreateKernel(device.program, inputs.algorithm.c_str(), &status), clReleaseKernel);
    check(status);
    const int n = inputs.n;
    const auto a = make_buffer(device, inputs.a.size(), inputs.a.data());
    if (inputs.algorithm != "reduce_tree") {
        const auto b = make_buffer(device, inputs.b.size(), inputs.b.data());
        const auto c = make_buffer(device, inputs.a.size());
        const auto run = [=, &device] {
            cl_uint which = 0;
            for (const auto& each : {a, b, c}) set_argument(kernel, which++, each);
            set_argument(kernel, which, n);
            enqueue(device, kernel, 2, static_cast<std::size_t>(n), 16);
            check(clFinish(device.queue));
        };
        return {run, [=, &device] { return download(device, c, static_cast<std::size_t>(n) * n); }};
    }
    const std::size_t partial_sums = static_cast<std::size_t>(n) / 256 + 1;
    const auto one = make_buffer(device, partial_sums), other = make_buffer(device, partial_sums);
    const auto last = std::make_shared<Buffer>(a);
    const auto run = [=, &device] {
        *last = a;
        for (int left = n; left > 1; left = (left + 255) / 256) {
            const auto to = *last == one ? other : one;
            set_argument(kernel, 0, *last);
            set_argument(kernel, 1, to);
            set_argument(kernel, 2, left);
            enqueue(device, kernel, 1, (static_cast<std::size_t>(left) + 255) / 256 * 256, 256);
            *last = to;
        }
        check(clFinish(device.queue));
    };
    return {run, [=, &device] { return download(device, *last, 1); }};
}

}  // namespace

int main(int argc, char** argv) try {
    const Device device(argc > 1 ? argv[1] : "kernels.cl");
    return peer::serve([&](const peer::Inputs& inputs) { return prepare(device, inputs); });
} catch (const std::exception& failure) {
    std::cerr << failure.what() << std::endl;
    return 1;
}
