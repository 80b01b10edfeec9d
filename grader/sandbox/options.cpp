#include "sandbox/options.hpp"

#include <cstdlib>
#include <string_view>

namespace warpgrade::sandbox {

const char* const usage_text =
    R"(warpgrade-sandbox: runs one command without network, files, processes or descriptors of the host

usage: warpgrade-sandbox [options] -- COMMAND [ARGUMENT…]
       warpgrade-sandbox --probe          says which sandbox works on this machine, and if none, why

  --profile worker|device|compile
                             worker (default): a student's program; device: the device server, which reads a
                             student's kernels; compile: a compiler that reads a student's source
  --sandbox namespaces|plain namespaces (default): bubblewrap; plain: where the machine or a container has none, Landlock
                             and a shorter list of system calls instead. Paths are then the host's
  --unconfined               no bubblewrap and no seccomp: limits, environment and descriptors only
  --ro-bind SRC DST          show a file or folder of the host read-only
  --bind SRC DST             show it writable
  --file SRC DST             copy an executable into the sandbox (its user needs no access to SRC)
  --keep-fd N                pass this descriptor on; all others but 0, 1 and 2 are closed
  --setenv KEY VALUE         the environment is empty otherwise
  --chdir DIR
  --cpu-seconds N  --memory-mib N  --file-size-mib N  --processes N (threads count)  --tmp-mib N
  --seconds S                kill everything after S seconds of wall-clock time
  --status-fd N              receives bubblewrap's JSON status
  --spawner-fd N             set up once, then run the command for each request at this socket (sandbox/spawn_wire.hpp)

exit status: the command's; 128 + N when signal N ended it; 124 out of time; 125 the sandbox could not start; 2 usage
)";

namespace {

struct Arguments {
    int count;
    const char* const* values;
    int next = 1;

    std::string_view option;

    std::string value() {
        if (next >= count) throw UsageError("option " + std::string(option) + " needs a value");
        return values[next++];
    }
    PathPair pair() {
        auto first = value();
        return {std::move(first), value()};
    }
    std::uint64_t number() {
        const auto text = value();
        char* end = nullptr;
        const auto result = std::strtoull(text.c_str(), &end, 10);
        if (text.empty() || *end != '\0' || text[0] == '-')
            throw UsageError("option " + std::string(option) + " needs a whole number, not \"" + text + '"');
        return result;
    }
};

Profile profile_of(const std::string& name) {
    if (name == "worker") return Profile::worker;
    if (name == "device") return Profile::device;
    if (name == "compile") return Profile::compile;
    throw UsageError("unknown profile \"" + name + '"');
}

bool is_plain(const std::string& name) {
    if (name != "plain" && name != "namespaces") throw UsageError("unknown sandbox \"" + name + '"');
    return name == "plain";
}

}  // namespace

const char* name_of(Profile profile) {
    return profile == Profile::worker ? "worker" : profile == Profile::device ? "device" : "compile";
}

Options parse(int argc, const char* const* argv) {
    Options options;
    Arguments arguments{argc, argv, 1, {}};
    while (arguments.next < argc) {
        const std::string_view option = arguments.option = argv[arguments.next++];
        if (option == "--") {
            options.command.assign(argv + arguments.next, argv + argc);
            break;
        }
        if (option == "--profile")
            options.profile = profile_of(arguments.value());
        else if (option == "--sandbox")
            options.plain = is_plain(arguments.value());
        else if (option == "--unconfined")
            options.unconfined = true;
        else if (option == "--ro-bind")
            options.read_only.push_back(arguments.pair());
        else if (option == "--bind")
            options.writable.push_back(arguments.pair());
        else if (option == "--file")
            options.files.push_back(arguments.pair());
        else if (option == "--setenv")
            options.environment.push_back(arguments.pair());
        else if (option == "--keep-fd")
            options.keep_fds.push_back(static_cast<int>(arguments.number()));
        else if (option == "--chdir")
            options.directory = arguments.value();
        else if (option == "--cpu-seconds")
            options.cpu_seconds = arguments.number();
        else if (option == "--memory-mib")
            options.memory_mib = arguments.number();
        else if (option == "--file-size-mib")
            options.file_size_mib = arguments.number();
        else if (option == "--processes")
            options.processes = arguments.number();
        else if (option == "--tmp-mib")
            options.tmp_mib = arguments.number();
        else if (option == "--seconds")
            options.seconds = std::strtod(arguments.value().c_str(), nullptr);
        else if (option == "--status-fd")
            options.status_fd = static_cast<int>(arguments.number());
        else if (option == "--spawner-fd")
            options.spawner_fd = static_cast<int>(arguments.number());
        else if (option == "--seccomp-fd")
            options.seccomp_fd = static_cast<int>(arguments.number());
        else if (option == "--probe")
            options.probe = true;
        else if (option == "--help" || option == "-h")
            options.help = true;
        else
            throw UsageError("unknown option \"" + std::string(option) + "\" (the command goes after --)");
    }
    if (options.command.empty() && !options.probe && !options.help) throw UsageError("no command to run");
    if (options.spawner_fd >= 0 && (options.seconds > 0 || options.status_fd >= 0 || !options.keep_fds.empty()))
        throw UsageError("--spawner-fd goes without --seconds, --status-fd and --keep-fd");
    return options;
}

}  // namespace warpgrade::sandbox
