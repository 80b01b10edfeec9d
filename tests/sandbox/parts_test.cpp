// The parts of the sandbox: its command line, bubblewrap's, the run's user, Landlock.
#include <linux/landlock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iterator>
#include <sstream>
#include <system_error>

#include "judge/catch.hpp"
#include "sandbox/bwrap.hpp"
#include "sandbox/identity.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox/limits.hpp"
#include "support/contains.hpp"

using namespace warpgrade::sandbox;

namespace {

Options parsed(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "warpgrade-sandbox");
    return parse(static_cast<int>(arguments.size()), arguments.data());
}

Options parsed_line(const std::string& line) {
    std::istringstream stream(line);
    const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
    std::vector<const char*> arguments;
    for (const auto& word : words) arguments.push_back(word.c_str());
    return parsed(arguments);
}

std::string refused(const std::vector<const char*>& arguments) {
    try {
        parsed(arguments);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "";
}

std::string joined(const Options& options, const BwrapDescriptors& descriptors = {}) {
    std::string text;
    for (const auto& argument : bwrap_arguments(options, descriptors)) text += argument + ' ';
    return text;
}

}  // namespace

TEST_CASE("each option is told apart, and all are off at first") {
    const auto none = parsed({"--", "a", "--help"});
    CHECK(none.command == std::vector<std::string>{"a", "--help"});
    CHECK((none.profile == Profile::worker && !none.plain && !none.unconfined && !none.probe && !none.help));
    CHECK((none.read_only.empty() && none.writable.empty() && none.files.empty() && none.environment.empty()));
    CHECK((none.keep_fds.empty() && none.directory.empty()));
    CHECK_FALSE((none.cpu_seconds || none.memory_mib || none.file_size_mib || none.processes));
    CHECK((none.tmp_mib == 64 && none.seconds == 0));
    CHECK((none.spawner_fd < 0 && none.seccomp_fd < 0 && none.status_fd < 0));
    CHECK(none.has_namespaces());

    const auto all = parsed_line(
        "--profile device --sandbox plain --unconfined --ro-bind r1 r2 --bind w1 w2 --file f1 f2 --setenv K V"
        " --keep-fd 5 --keep-fd 6 --chdir d --cpu-seconds 1 --memory-mib 2"
        " --file-size-mib 3 --processes 4 --tmp-mib 8 --seconds 0.5 --status-fd 9 --seccomp-fd 10 -- x");
    CHECK((all.profile == Profile::device && all.plain && all.unconfined && !all.has_namespaces()));
    CHECK(all.read_only == std::vector<PathPair>{{"r1", "r2"}});
    CHECK(all.writable == std::vector<PathPair>{{"w1", "w2"}});
    CHECK(all.files == std::vector<PathPair>{{"f1", "f2"}});
    CHECK(all.environment == std::vector<PathPair>{{"K", "V"}});
    CHECK(all.keep_fds == std::vector<int>{5, 6});
    CHECK(all.directory == "d");
    CHECK((all.cpu_seconds == 1u && all.memory_mib == 2u && all.file_size_mib == 3u && all.processes == 4u));
    CHECK((all.tmp_mib == 8 && all.seconds == 0.5 && all.status_fd == 9 && all.seccomp_fd == 10));
    CHECK(parsed({"--spawner-fd", "0", "--", "x"}).spawner_fd == 0);
    CHECK_FALSE(parsed({"--sandbox", "namespaces", "--", "x"}).plain);
    CHECK_FALSE(parsed({"--sandbox", "plain", "--", "x"}).has_namespaces());
    CHECK_FALSE(parsed({"--unconfined", "--", "x"}).has_namespaces());
    for (const auto profile : {Profile::worker, Profile::device, Profile::compile})
        CHECK(parsed({"--profile", name_of(profile), "--", "x"}).profile == profile);
    CHECK(parsed({"--probe"}).probe);
    CHECK(parsed({"--help"}).help);
    CHECK(parsed({"-h"}).help);
}

TEST_CASE("a command line that says nothing sensible is refused in words") {
    CHECK(refused({}) == "no command to run");
    CHECK(refused({"--"}) == "no command to run");
    CHECK(refused({"x"}) == "unknown option \"x\" (the command goes after --)");
    CHECK(refused({"--chdir"}) == "option --chdir needs a value");
    CHECK(refused({"--bind", "a"}) == "option --bind needs a value");
    CHECK(refused({"--profile", "root", "--", "x"}) == "unknown profile \"root\"");
    CHECK(refused({"--sandbox", "none", "--", "x"}) == "unknown sandbox \"none\"");
    for (const char* number : {"", "x", "1x", "-1", "0.5"})
        CHECK(refused({"--processes", number, "--", "x"}) ==
              "option --processes needs a whole number, not \"" + std::string(number) + '"');
    // Options for a single command do not fit a spawner, which runs many.
    for (const std::vector<const char*>& other :
         {std::vector{"--seconds", "1"}, std::vector{"--status-fd", "0"}, std::vector{"--keep-fd", "7"}}) {
        auto arguments = other;
        arguments.insert(arguments.end(), {"--", "x"});
        CHECK(refused(arguments).empty());
        arguments.insert(arguments.begin(), {"--spawner-fd", "0"});
        CHECK(refused(arguments) == "--spawner-fd goes without --seconds, --status-fd and --keep-fd");
    }
}

TEST_CASE("every run of root's has a uid of its own") {
    const auto full = largest_range("         0          0 4294967295\n");
    CHECK((full.first == 0 && full.count == 4294967295u));
    CHECK(fresh_uid(full, 100) == (1u << 30) + 100);
    CHECK(fresh_uid(full, 4194303) == (1u << 30) + 4194303);
    const auto container = largest_range("0 1000 1\n1 100000 65536\n70000 0 65536\n");
    CHECK((container.first == 1 && container.count == 65536));
    CHECK(fresh_uid(container, 100) == 1 + 32768 + 100);
    CHECK(fresh_uid(container, 32768 + 100) == 1 + 32768 + 100);
    CHECK(fresh_uid(container, 4194303) <= 65536);
    // All uids that a pid can lead to are in the range, or the lower half's users are left alone.
    constexpr uid_t base = 1u << 30, pids = 1u << 22;
    CHECK(fresh_uid({5, base + pids + 1}, 7) == 5 + base + 7);
    CHECK(fresh_uid({5, base + pids}, 7) == 5 + (base + pids) / 2 + 7);
    CHECK(fresh_uid({5, base}, 7) == 5 + base / 2 + 7);
    CHECK(fresh_uid({5, 2}, 7) == 6);
    CHECK(fresh_uid(largest_range("0 1000 1\n"), 7) == 65534);
    CHECK(largest_range("3 1000 5\n20 2000 5\n").first == 3);
    CHECK((largest_range("").first == 0 && largest_range("").count == 0));
    CHECK(fresh_uid(largest_range(""), 5) == 65534);
}

TEST_CASE("who is not root stays who it is") {
    const pid_t child = fork();
    if (child == 0) {
        constexpr uid_t nobody = 65534;
        if (geteuid() == 0 && setresuid(nobody, nobody, nobody) != 0) _exit(2);  // there is no other user here
        const uid_t before = geteuid();
        try {
            _exit(leave_root() && geteuid() == before ? 0 : 1);
        } catch (const std::system_error&) {
            _exit(3);
        }
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK((WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2)));
}

TEST_CASE("the worker's command line shares nothing") {
    Options options;
    options.command = {"/worker"};
    BwrapDescriptors descriptors;
    descriptors.seccomp = 11, descriptors.block = 12, descriptors.status = 13;
    const auto text = joined(options, descriptors);
    for (const char* what : {"--unshare-user ",
                             "--unshare-ipc ",
                             "--unshare-pid ",
                             "--unshare-net ",
                             "--unshare-uts ",
                             "--unshare-cgroup-try ",
                             "--disable-userns ",
                             "--new-session ",
                             "--die-with-parent ",
                             "--as-pid-1 ",
                             "--cap-drop ALL ",
                             "--clearenv ",
                             "--seccomp 11 ",
                             "--block-fd 12 ",
                             "--json-status-fd 13 ",
                             "--uid 1000 --gid 1000 ",
                             "--dev /dev --remount-ro /dev ",
                             "--size 67108864 --perms 1777 --tmpfs /tmp ",
                             "--remount-ro / ",
                             "--chdir /tmp -- /worker"})
        CHECK_THAT(text, Contains(what));
    for (const char* what : {"--bind", "--ro-bind", "--proc", "--cap-add", "/usr", "/etc", "--setenv", "--dir "})
        CHECK_THAT(text, !Contains(what));
    const auto bare = joined(options);
    for (const char* what : {"--block-fd", "--json-status-fd"}) CHECK_THAT(bare, !Contains(what));
}

TEST_CASE("what the other profiles see besides") {
    Options options;
    options.command = {"x"};
    options.profile = Profile::device;
    const auto device = joined(options);
    for (const char* what : {"--uid 1000", "--ro-bind /usr /usr ", "--ro-bind-try /lib64 /lib64 ", "--proc /proc ",
                             "--ro-bind-try /etc/ld.so.cache /etc/ld.so.cache ", "--dev /dev --remount-ro /dev "})
        CHECK_THAT(device, Contains(what));
    options.profile = Profile::compile;
    const auto compile = joined(options);
    for (const char* what : {"--ro-bind-try /usr/include /usr/include ", "--ro-bind-try /lib64 /lib64 ",
                             "--ro-bind-try /etc/alternatives /etc/alternatives ",
                             "--tmpfs /dev --dev-bind /dev/null /dev/null --remount-ro /dev "})
        CHECK_THAT(compile, Contains(what));
    for (const char* what : {"--uid", "--ro-bind /usr /usr ", "--proc", "--dev /dev "})
        CHECK_THAT(compile, !Contains(what));
    options.spawner_fd = 0;
    const auto spawner = joined(options);
    for (const char* what : {"--cap-add CAP_SYS_ADMIN --cap-add CAP_SETPCAP ", "--dir /tmp ", "--chdir / "})
        CHECK_THAT(spawner, Contains(what));
    for (const char* what : {"--seccomp", "--tmpfs /tmp"}) CHECK_THAT(spawner, !Contains(what));
}

TEST_CASE("a process gives up all that its kernel's version of Landlock knows, and nothing else") {
    // From the kernel's documentation: the rights that each version added.
    constexpr std::uint64_t first = 0x1fff, refer = 0x2000, truncate = 0x4000, ioctl_dev = 0x8000;
    const std::uint64_t files[] = {first,
                                   first | refer,
                                   first | refer | truncate,
                                   first | refer | truncate,
                                   first | refer | truncate | ioctl_dev,
                                   first | refer | truncate | ioctl_dev,
                                   first | refer | truncate | ioctl_dev};
    for (int version = 1; version <= 7; ++version) {
        const auto rights = landlock_rights(version);
        CHECK(rights.files == files[version - 1]);
        CHECK(rights.net == (version >= 4 ? 3u : 0u));
        CHECK(rights.scoped == (version >= 6 ? 3u : 0u));
    }
    CHECK(landlock_rights(1).files == 2 * LANDLOCK_ACCESS_FS_MAKE_SYM - 1);
}

TEST_CASE("a limit of a process that has ended is an error") {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    try {
        set_limits({}, child);
        FAIL("no error");
    } catch (const std::system_error& error) {
        CHECK(error.code().value() == ESRCH);
        CHECK_THAT(error.what(), Contains("reading a limit"));
    }
}
