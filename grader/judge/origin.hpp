// The origin of outputs: asked of the device after each call of the submission, since a grade is worth something when
// the device did the work (device/origin_check.hpp). A lab's tests say where the host rightly does it:
//     const bool by_host = computed_on_host<&thread_occupancy, &resident_blocks>();
#pragma once

#include <string>
#include <vector>

#include "device/origin_request.hpp"
#include "judge/arena.hpp"
#include "judge/arguments.hpp"

namespace warpgrade::judge {

class Replay;

enum class ByHost : std::uint8_t {
    nothing,   // all outputs come from the device
    returned,  // the returned value is the host's, arrays are the device's
    all,
};

namespace detail {
bool declare_by_host(const std::string& function, ByHost what);
bool declare_decided_by_host(const std::string& function, bool is_the_hosts);
}  // namespace detail
// Functions that need no device: what they return is the host's own work. At namespace scope of a test file.
template <auto... Functions>
bool computed_on_host() {
    return (detail::declare_by_host(detail::name_of<Functions>(), ByHost::all) && ...);
}
// Functions whose returned value is the host's own work, such as a chosen block size.
template <auto... Functions>
bool returned_by_host() {
    return (detail::declare_by_host(detail::name_of<Functions>(), ByHost::returned) && ...);
}
// The same for the calls that follow, or no longer: the host may have a part in one call of a function and none in
// another.
template <auto Function>
void returned_by_host(bool is_the_hosts) {
    detail::declare_by_host(detail::name_of<Function>(), is_the_hosts ? ByHost::returned : ByHost::nothing);
}

// Functions whose host code rightly looks at data: a count that comes down and sizes the next launch. Otherwise its
// decisions may not depend on the inputs' values (judge/replay.hpp). At namespace scope of a test file, or for the
// calls that follow.
template <auto... Functions>
bool decided_by_host() {
    return (detail::declare_decided_by_host(detail::name_of<Functions>(), true) && ...);
}
template <auto Function>
void decided_by_host(bool is_the_hosts) {
    detail::declare_decided_by_host(detail::name_of<Function>(), is_the_hosts);
}

// Where the outputs of this call must come from.
ByHost by_host(const std::string& function);
bool is_decided_by_host(const std::string& function);

// The question for the device, with the program's file, and the other run of the call if there is one.
device::OriginMessage ask_origin(const CallSpec& spec, const Arena& arena, const Arena::Snapshot& snapshot,
                                 std::uint64_t result, const std::string& program, const Replay* replay);
// What is wrong, in words that name the element; empty: nothing.
std::string explain_origin(const device::OriginVerdict& verdict, const CallSpec& spec, const Arena::Snapshot& snapshot,
                           std::uint64_t result);

}  // namespace warpgrade::judge
