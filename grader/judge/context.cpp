#include "judge/context.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>

#include "judge/baseline_cache.hpp"
#include "judge/device_server.hpp"
#include "judge/errors.hpp"
#include "judge/inputs.hpp"

namespace warpgrade::judge {

Context::Context() = default;
Context::~Context() = default;

void IdleDevices::keep(const std::string& name, std::unique_ptr<DeviceServer> device) {
    if (device) devices_[name] = std::move(device);
}

std::unique_ptr<DeviceServer> IdleDevices::take(const std::string& name) {
    auto device = std::move(devices_[name]);
    try {
        if (device && device->client_socket() < 0) device->renew();
    } catch (const InfrastructureError&) {
        device.reset();  // it has ended, or is older than this judge
    }
    return device;
}

double IdleDevices::processor_seconds() const {
    double seconds = 0;
    for (const auto& [name, device] : devices_) seconds += device ? device->total_processor_seconds() : 0;
    return seconds;
}

Context& context() {
    static Context instance;
    return instance;
}

void Context::begin_test(const std::string& name, bool compare_orders, bool timed) {
    test = name;
    is_timed = timed;
    in_orders = compare_orders;
    stream.emplace(seed, name);
    measurements.clear();
    checked.clear();
    launches.clear();
    diagnostics.clear();
    expected_findings.clear();
    called.clear();
    faulty.clear();
    last_call.clear();
    notes.clear();
    review.clear();
    mismatch.clear();
    failure.clear();
    part = 1;
    part_reason.clear();
    pending.clear();
    outputs.clear();
    launched.clear();
    returned.clear();
    signs.clear();
    signs_final = false;
    stopped_at.clear();
}

void Context::add_sign(std::string_view name) {
    if (signs_final) return;
    if (std::ranges::find(signs, name) == signs.end()) signs.emplace_back(name);
}

const LastOutput* Context::find_output(std::span<const std::byte> bytes) const {
    const LastOutput* found = nullptr;
    for (const LastOutput& output : outputs) {
        if (!std::ranges::equal(output.after, bytes)) continue;
        if (found) return nullptr;
        found = &output;
    }
    return found;
}

void Context::end_test() {
    submission->reset();
    baseline->reset();
}

std::string explain_unwritten(const LastOutput& output) {
    const bool went_in = output.kind == wire::Kind::inout;
    std::string text = output.name + (went_in ? " came back as it went in"
                                              : " was never written: it came back as it was before the call");
    switch (context().kernels) {
        case KernelWork::not_launched:
            return text + ". No kernel was launched";
        case KernelWork::nothing_written:
            return text + ". No kernel of this call has written to global memory";
        case KernelWork::unknown:
        case KernelWork::written:
            break;
    }
    return text + (went_in ? ". Is the result copied back, and to the right array?"
                           : ". Is the result copied back (cudaMemcpyDeviceToHost), and to the right array?");
}

RandomStream& stream() {
    auto& current = context().stream;
    if (!current) throw std::logic_error("random inputs exist inside a test only");
    return *current;
}

std::vector<std::byte> data_file(const std::string& name) {
    const auto& folder = context().options.data;
    if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos)
        throw std::invalid_argument("data_file: \"" + name + "\" is not a plain name");
    std::ifstream file(folder + "/" + name, std::ios::binary);
    if (folder.empty() || !file) throw InfrastructureError("the lab's data file data/" + name + " cannot be read");
    const std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const auto bytes = std::as_bytes(std::span(content));
    return {bytes.begin(), bytes.end()};
}

std::uint64_t seed() { return context().seed; }

Program& submission() { return *context().submission; }
Program& baseline() { return *context().baseline; }
const device::DeviceProperties& device_properties() { return context().device; }

}  // namespace warpgrade::judge
