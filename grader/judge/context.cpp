#include "judge/context.hpp"

#include <stdexcept>

#include "judge/device_server.hpp"
#include "judge/inputs.hpp"

namespace warpgrade::judge {

Context& context() {
    static Context instance;
    return instance;
}

void Context::begin_test(const std::string& name) {
    stream.emplace(seed, name);
    measurements.clear();
    launches.clear();
    diagnostics.clear();
    last_call.clear();
    notes.clear();
    review.clear();
    mismatch.clear();
    failure.clear();
}

void Context::end_test() {
    submission->reset();
    baseline->reset();
}

RandomStream& stream() {
    auto& current = context().stream;
    if (!current) throw std::logic_error("random inputs exist inside a test only");
    return *current;
}

std::uint64_t seed() { return context().seed; }

Program& submission() { return *context().submission; }
Program& baseline() { return *context().baseline; }

}  // namespace warpgrade::judge
