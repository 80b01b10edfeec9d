#include "sandbox/limits.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace warpgrade::sandbox {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

void limit(pid_t pid, int resource, std::uint64_t amount) {
    rlimit current{};
    if (prlimit(pid, static_cast<__rlimit_resource>(resource), nullptr, &current) != 0) fail("reading a limit");
    const rlim_t value = std::min<rlim_t>(amount, current.rlim_max);
    const rlimit lowered{value, value};
    if (prlimit(pid, static_cast<__rlimit_resource>(resource), &lowered, nullptr) != 0) fail("setting a limit");
}

}  // namespace

void set_limits(const Options& options, pid_t pid, unsigned others) {
    constexpr std::uint64_t mib = 1u << 20;
    limit(pid, RLIMIT_CORE, 0);
    limit(pid, RLIMIT_NOFILE, options.profile == Profile::compile ? 1024 : 256);
    limit(pid, RLIMIT_MEMLOCK, 0);
    if (options.cpu_seconds) limit(pid, RLIMIT_CPU, *options.cpu_seconds);
    if (options.memory_mib) limit(pid, RLIMIT_AS, *options.memory_mib * mib);
    if (options.file_size_mib) limit(pid, RLIMIT_FSIZE, *options.file_size_mib * mib);
    // Without its own namespace, the count would include all processes of the caller.
    if (options.processes && !options.unconfined) limit(pid, RLIMIT_NPROC, *options.processes + others);
}

}  // namespace warpgrade::sandbox
