#include "sandbox/bwrap.hpp"

namespace warpgrade::sandbox {
namespace {

using Arguments = std::vector<std::string>;

void append(Arguments& arguments, std::initializer_list<std::string> more) { arguments.insert(arguments.end(), more); }

// The machine's tools and libraries in /usr, the root's links into it, and the parts of /etc for alternatives and the
// dynamic loader.
void add_system_folders(Arguments& arguments, Profile profile) {
    if (profile == Profile::compile)
        // A source file can read whatever a compiler sees (#include, .incbin), so only tools and their libraries are
        // visible. The caller binds a toolkit in /usr/local.
        for (const char* folder : {"bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec", "include"}) {
            const auto path = std::string("/usr/") + folder;
            append(arguments, {"--ro-bind-try", path, path});
        }
    else
        append(arguments, {"--ro-bind", "/usr", "/usr"});
    for (const char* folder : {"bin", "sbin", "lib", "lib32", "lib64", "libx32"}) {
        const auto path = std::string("/") + folder;
        append(arguments, {"--ro-bind-try", path, path});
    }
    for (const char* path : {"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"})
        append(arguments, {"--ro-bind-try", path, path});
}

// nvcc, g++, as and ld do not need /proc, which shows the host's mounts and the command line, nor any device but
// /dev/null: reading /dev/zero never ends, and random numbers would make builds differ.
void add_kernel_folders(Arguments& arguments, Profile profile) {
    if (profile == Profile::device) append(arguments, {"--proc", "/proc"});  // sanitizers find their memory through it
    if (profile == Profile::compile)
        append(arguments, {"--tmpfs", "/dev", "--dev-bind", "/dev/null", "/dev/null", "--remount-ro", "/dev"});
    else  // Read-only, since its /dev/shm is writable for all and has no size limit.
        append(arguments, {"--dev", "/dev", "--remount-ro", "/dev"});
}

}  // namespace

std::vector<std::string> bwrap_arguments(const Options& options, const BwrapDescriptors& descriptors) {
    Arguments arguments{"bwrap",
                        "--unshare-user",
                        "--unshare-ipc",
                        "--unshare-pid",
                        "--unshare-net",
                        "--unshare-uts",
                        "--unshare-cgroup-try",
                        "--disable-userns",
                        "--hostname",
                        "sandbox",
                        "--die-with-parent",
                        "--new-session",
                        "--as-pid-1",
                        "--cap-drop",
                        "ALL",
                        "--clearenv"};
    const bool spawns = options.spawner_fd >= 0;
    // A spawner makes inner namespaces. It drops the capabilities and filters system calls before it runs a command.
    if (spawns)
        append(arguments, {"--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"});
    else
        append(arguments, {"--seccomp", std::to_string(descriptors.seccomp)});
    if (descriptors.block >= 0) append(arguments, {"--block-fd", std::to_string(descriptors.block)});
    if (descriptors.status >= 0) append(arguments, {"--json-status-fd", std::to_string(descriptors.status)});

    if (options.profile != Profile::compile)
        append(arguments, {"--uid", "1000", "--gid", "1000"});  // the same for all users outside
    if (options.profile != Profile::worker) add_system_folders(arguments, options.profile);
    add_kernel_folders(arguments, options.profile);
    if (spawns)
        append(arguments, {"--dir", "/tmp"});  // each command mounts its own
    else
        append(arguments, {"--size", std::to_string(options.tmp_mib << 20), "--perms", "1777", "--tmpfs", "/tmp"});

    for (const auto& [source, target] : options.read_only) append(arguments, {"--ro-bind", source, target});
    for (const auto& [source, target] : options.writable) append(arguments, {"--bind", source, target});
    for (std::size_t i = 0; i < options.files.size(); ++i)
        append(arguments,
               {"--perms", "0555", "--ro-bind-data", std::to_string(descriptors.files.at(i)), options.files[i].second});
    append(arguments, {"--remount-ro", "/"});

    for (const auto& [key, value] : options.environment) append(arguments, {"--setenv", key, value});
    append(arguments, {"--chdir", spawns ? "/" : options.directory.empty() ? "/tmp" : options.directory, "--"});
    arguments.insert(arguments.end(), options.command.begin(), options.command.end());
    return arguments;
}

}  // namespace warpgrade::sandbox
