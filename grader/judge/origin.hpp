// The origin of outputs. After each call of the submission, the judge asks the device server whether the device did the
// work (server/origin_check.hpp). A lab's tests declare which functions may work on the host:
//     const bool by_host = computed_on_host<&thread_occupancy, &resident_blocks>();
#pragma once

#include <string>
#include <vector>

#include "device/origin_request.hpp"
#include "judge/arena.hpp"
#include "judge/arguments.hpp"

namespace warpgrade::judge {

class Replay;

enum class HostWork : std::uint8_t {
    none,
    returned,  // the returned value, but no arrays
    all,
};

namespace detail {
bool declare_host_work(const std::string& function, HostWork what);
bool declare_host_decisions(const std::string& function, bool is_the_hosts);
}  // namespace detail
// Declares functions whose results the host may compute. For the namespace scope of a test file.
template <auto... Functions>
bool computed_on_host() {
    return (detail::declare_host_work(detail::name_of<Functions>(), HostWork::all) && ...);
}
// Declares functions whose returned value the host may compute, such as a block size.
template <auto... Functions>
bool returned_by_host() {
    return (detail::declare_host_work(detail::name_of<Functions>(), HostWork::returned) && ...);
}
// The same for the following calls only, or no longer.
template <auto Function>
void returned_by_host(bool is_the_hosts) {
    detail::declare_host_work(detail::name_of<Function>(), is_the_hosts ? HostWork::returned : HostWork::none);
}

// Declares functions whose host code may decide by data, for example size a launch by a count that it copies back. In
// all others, decisions must not depend on the inputs' values (judge/replay.hpp). For the namespace scope of a test
// file, or for the following calls.
template <auto... Functions>
bool decided_by_host() {
    return (detail::declare_host_decisions(detail::name_of<Functions>(), true) && ...);
}
template <auto Function>
void decided_by_host(bool is_the_hosts) {
    detail::declare_host_decisions(detail::name_of<Function>(), is_the_hosts);
}

HostWork host_work(const std::string& function);
bool may_host_decide(const std::string& function);

// The query for the device server. `replay` may be null.
device::OriginMessage ask_origin(const CallSpec& spec, const Arena& arena, const Arena::Snapshot& snapshot,
                                 std::uint64_t result, const std::string& program, const Replay* replay);
// What a person should look at; empty if host code only did what the rules leave to kernels, and computed nothing.
std::string review_origin(const device::OriginVerdict& verdict);
// A message that names the element; empty if there is no problem.
std::string explain_origin(const device::OriginVerdict& verdict, const CallSpec& spec, const Arena::Snapshot& snapshot,
                           std::uint64_t result);

}  // namespace warpgrade::judge
