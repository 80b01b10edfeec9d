#include "sandbox/capabilities.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace warpgrade::sandbox {

void drop_capabilities(bool bounded) {
    const auto require = [](bool done) {
        if (!done) throw std::system_error(errno, std::generic_category(), "capabilities");
    };
    for (unsigned long capability = 0; bounded && prctl(PR_CAPBSET_READ, capability) >= 0; ++capability)
        require(prctl(PR_CAPBSET_DROP, capability) == 0);
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const __user_cap_data_struct none[2] = {};  // the ambient set goes with these
    require(syscall(SYS_capset, &header, none) == 0);
}

}  // namespace warpgrade::sandbox
