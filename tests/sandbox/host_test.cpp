// A sandboxed program seen from outside: its user, limits and descriptors, and how it ends.
#include <sys/stat.h>

#include <filesystem>

#include "sandbox/identity.hpp"
#include "sandbox/inside.hpp"
#include "support/contains.hpp"

using namespace warpgrade;

namespace {

const std::string mark = "host-" + std::to_string(getpid());

std::string read_all(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// A probe that sleeps, once it does.
pid_t sleeper(const std::string& name) {
    std::vector<pid_t> pids;
    REQUIRE(happens([&] { return (pids = running("/probe sleep " + name)).size() == 1; }));
    return pids[0];
}

std::string command(const std::string& name, const std::string& options) {
    return WG_SANDBOX " " + options + " --file " WG_INSIDE " /probe -- /probe sleep " + name;
}

}  // namespace

TEST_CASE("a run belongs to a user and a group of its own, and ends first where memory is short") {
    const bool plain = GENERATE(false, true);
    const auto name = mark + (plain ? "-plain" : "-own");
    const Background run(command(name, plain ? "--sandbox plain" : ""));
    const pid_t probe = sleeper(name);
    CHECK(read_all("/proc/" + std::to_string(probe) + "/oom_score_adj") == "1000\n");
    if (geteuid() != 0) return;
    const auto uid = sandbox::fresh_uid(sandbox::largest_range(read_all("/proc/self/uid_map")), run.pid());
    const auto id = std::to_string(uid), all = id + '\t' + id + '\t' + id + '\t' + id;
    for (const pid_t pid : {probe, run.pid()}) {
        CHECK(told_of(pid, "Uid") == all);
        CHECK(told_of(pid, "Gid") == all);
        CHECK(told_of(pid, "Groups").empty());
        CHECK(told_of(pid, "CapEff") == "0000000000000000");
    }
}

TEST_CASE("the process that watches over a program cannot be read by it") {
    const Background run(as_user() + command(mark + "-watched", "--sandbox plain"));
    const pid_t probe = sleeper(mark + "-watched");
    struct stat memory {};
    REQUIRE(stat(("/proc/" + std::to_string(parent_of(probe)) + "/mem").c_str(), &memory) == 0);
    CHECK(memory.st_uid == 0);  // as of all that is not dumpable
}

TEST_CASE("the program that runs in the plain sandbox is a copy that nobody can change") {
    const Folder folder;
    const auto own = folder.path + "/mine";
    run_command("cp " WG_INSIDE " " + own + " && chmod 700 " + own);  // its user may not read it: that is root
    const Background run(WG_SANDBOX " --sandbox plain --file " + own + " /probe -- /probe sleep " + mark + "-copy");
    const pid_t probe = sleeper(mark + "-copy");
    const int program = open(("/proc/" + std::to_string(probe) + "/exe").c_str(), O_RDONLY);
    REQUIRE(program >= 0);
    CHECK(fcntl(program, F_GET_SEALS) == (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE));
    struct stat copy {
    }, original{};
    REQUIRE((fstat(program, &copy) == 0 && stat(own.c_str(), &original) == 0));
    CHECK(copy.st_size == original.st_size);
    close(program);
}

TEST_CASE("inside, all are the same user, but for a compiler") {
    CHECK(inside("identity").output == "1000 1000\n");
    CHECK(inside("identity", "--profile device").output == "1000 1000\n");
    const auto own = std::to_string(geteuid()) + ' ' + std::to_string(getegid()) + '\n';
    CHECK(inside("identity", "--profile compile" + both()).output == own);
    CHECK(inside("identity", "--unconfined").output == own);
}

TEST_CASE("a worker sees its program, an empty /tmp and harmless devices") {
    CHECK(inside("lists /").output == "dev probe tmp ");
    CHECK(inside("lists /tmp").output.empty());
    CHECK(inside("lists /dev/shm").output.empty());
    CHECK(inside("devices").status == 0);
    CHECK(inside("devices", "--profile device").status == 0);
    CHECK(inside("lists /proc/self/fd", "--profile device").status == 0);
    CHECK_THAT(inside("lists /usr", "--profile device" + both()).output, Contains("bin ") && Contains("share "));
}

TEST_CASE("a compiler finds what choosing tools and finding libraries needs") {
    const auto in = [sandbox = both()](const std::string& command) {
        return run_command(WG_SANDBOX " --profile compile --setenv PATH /usr/bin:/bin" + sandbox + " -- " + command)
            .status;
    };
    CHECK(in("ls /usr/include /lib64 /etc/alternatives") == 0);
    CHECK(in("cat /etc/ld.so.cache /etc/ld.so.conf") == 0);
    CHECK(in("/etc/ld.so.cache") != 0);
    CHECK(in("sh -c 'cat /bin/sh > /dev/null'") == 0);
    CHECK(in("cat /etc/passwd") != 0);
}

TEST_CASE("a compiler reads, or reads and writes, the folders that it is given") {
    const Folder folder;
    run_command("mkdir " + folder.path + "/given " + folder.path + "/made; echo 1 > " + folder.path + "/given/x");
    const auto sandbox = both();
    const auto run = [&](const std::string& command) {
        return run_command(WG_SANDBOX " --profile compile --setenv PATH /usr/bin:/bin" + sandbox + " --ro-bind " +
                           folder.path + "/given " + folder.path + "/given --bind " + folder.path + "/made " +
                           folder.path + "/made -- " + command);
    };
    const auto given = folder.path + "/given", made = folder.path + "/made";
    CHECK(run("cat " + given + "/x").output == "1\n");
    CHECK(run("ls " + given).output == "x\n");
    CHECK(run("touch " + given + "/y").status != 0);
    CHECK(run("truncate -s 0 " + given + "/x").status != 0);
    CHECK(run("sh -c 'echo 2 > " + made + "/x && mkdir " + made + "/f && mv " + made + "/x " + made + "/f/y && cat " +
              made + "/f/y && truncate -s 0 " + made + "/f/y && ln -s a " + made + "/l && rm -r " + made + "/f'")
              .output == "2\n");
    CHECK(run("sh -c 'cp /usr/bin/true " + made + "/t && " + made + "/t'").status == 0);
    CHECK(run("sh -c '" + given + "/../made/t'").status == 0);
    // A single file as well.
    const auto file = given + "/x";
    const auto writes =
        run_command(WG_SANDBOX " --profile compile --setenv PATH /usr/bin:/bin" + sandbox + " --bind " + file + ' ' +
                    file + " -- sh -c 'truncate -s 0 " + file + " && echo 3 > " + file + " && cat " + file + "'");
    CHECK(writes.output == "3\n");
}

TEST_CASE("a compiler begins in a /tmp of its own, and leaves nothing there") {
    const auto in = [](const std::string& options, const std::string& command = "/bin/pwd") {
        return run_command(WG_SANDBOX " --profile compile --setenv TMPDIR /tmp --setenv OTHER /tmpx" + options +
                           " -- " + command)
            .output;
    };
    CHECK(in("") == "/tmp\n");
    for (const char* directory : {"", " --chdir /tmp"}) {
        const auto plain = in(" --sandbox plain" + std::string(directory));
        CHECK_THAT(plain, Contains("/tmp/warpgrade-"));
        CHECK_FALSE(std::filesystem::exists(plain.substr(0, plain.size() - 1)));
    }
    CHECK_THAT(in(" --sandbox plain", "/usr/bin/env"), Contains("TMPDIR=/tmp/warpgrade-") && Contains("OTHER=/tmpx\n"));
    for (const char* sandbox : {"", " --sandbox plain"})  // and writes there
        CHECK(in(sandbox, "/bin/sh -c 'echo word > file && /bin/cat file'") == "word\n");
    // The other profiles get no such folder.
    const auto count = [] { return run_command("ls -d /tmp/warpgrade-?????? 2>/dev/null | wc -l").output; };
    const auto before = count();
    const Background run(command(mark + "-no-tmp", "--sandbox plain"));
    sleeper(mark + "-no-tmp");
    CHECK(count() == before);
}

TEST_CASE("limits are those that are asked for, and lower ones stay") {
    const std::string options = " --cpu-seconds 7 --memory-mib 512 --processes 64 --file-size-mib 16 ";
    const auto limits = [&](const std::string& more, const std::string& prefix = "") {
        return run_command(prefix + WG_SANDBOX + more + " --file " WG_INSIDE " /probe -- /probe print-limits").output;
    };
    const std::string rest = "cpu 7\nmemory 536870912\nsize 16777216\n",
                      worker = "core 0\nfiles 256\nlocked 0\n" + rest,
                      compile = "core 0\nfiles 1024\nlocked 0\n" + rest;
    const auto own = run_command(WG_INSIDE " print-limits").output, own_processes = own.substr(own.find("processes"));
    // With their own user, 64 processes are the command's, and one is the supervisor.
    const std::string counted = geteuid() == 0 ? "processes 65\n" : own_processes;
    CHECK(limits(options) == worker + "processes 64\n");
    CHECK(limits(options + "--profile device") == worker + "processes 64\n");
    CHECK(limits(options + "--profile compile") == compile + "processes 64\n");
    CHECK(limits(options + "--sandbox plain") == worker + counted);
    CHECK(limits(options + "--sandbox plain --profile device") == worker + counted);
    CHECK(limits(options + "--sandbox plain --profile compile") == compile + own_processes);
    CHECK(limits(options + "--sandbox plain", as_user()) == worker + own_processes);
    CHECK(limits(options + "--unconfined") == worker + own_processes);
    const auto lower = limits(options, "prlimit --nofile=100 --fsize=9000000 ");
    CHECK_THAT(lower, Contains("files 100\n") && Contains("size 9000000\n") && Contains("cpu 7\n"));
    for (const char* sandbox : {"", " --sandbox plain", " --unconfined"}) {
        const auto unasked = limits(sandbox);
        CHECK(unasked == "core 0\nfiles 256\nlocked 0\n" + own.substr(own.find("cpu")));
    }
    CHECK_THAT(inside("writes", "--tmp-mib 8").output, Contains("8388608 bytes in /tmp"));
}

TEST_CASE("a command has nothing to read, and no environment but its own") {
    setenv("SECRET", "1", 1);
    for (const char* sandbox : {"", "--sandbox plain", "--unconfined"}) {
        CHECK(inside("no-input", sandbox, "echo secret | ").status == 0);
        CHECK(inside("environment", std::string("--setenv GIVEN yes ") + sandbox).status == 0);
    }
}

TEST_CASE("whoever holds the other end sees when a command has closed a descriptor") {
    for (const char* sandbox : {"", "--sandbox plain", "--unconfined"}) {
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        fcntl(ends[0], F_SETFD, FD_CLOEXEC);
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        // The first number that is nobody's at the start.
        const auto number = std::to_string(ends[1]);
        const Background run("bash -c 'exec \"$@\" 3>&" + number + ' ' + (ends[1] == 3 ? "" : number + ">&-") +
                             "' - " WG_SANDBOX " " + sandbox +
                             " --keep-fd 3 --file " WG_INSIDE " /probe -- /probe closes 3");
        close(ends[1]);
        char byte;
        CHECK(happens([&] { return read(ends[0], &byte, 1) == 0; }));
        CHECK(kill(run.pid(), 0) == 0);
        CHECK(waitpid(run.pid(), nullptr, WNOHANG) == 0);  // and it still runs
        close(ends[0]);
    }
}

TEST_CASE("what a command leaves behind ends with it, and all ends with the sandbox or its caller") {
    for (const char* options : {"", "--sandbox plain", "--unconfined"}) {
        const auto name = "4711" + std::to_string(getpid());
        const auto finished = run_command(WG_SANDBOX " --profile compile " + std::string(options) +
                                          " -- /bin/sh -c '/usr/bin/sleep " + name + " & exit 3' < /dev/null");
        CHECK(finished.status == 3);
        CHECK(happens([&] { return running("/usr/bin/sleep " + name).empty(); }));
        // Its caller is a shell that is killed.
        Background caller("sh -c '" + command(mark + "-orphan", options) + "; true'");
        const auto is = [&] {
            return run_command("pgrep -f '" WG_INSIDE " [s]leep " + mark + "-orphan|^/probe [s]leep " + mark +
                               "-orphan'")
                       .status == 0;
        };
        REQUIRE(happens(is));
        caller.end();
        CHECK(happens([&] { return !is(); }));
    }
}

TEST_CASE("without privileges, or namespaces for users, a sandbox says that it has no user but root") {
    if (geteuid() != 0 || run_command("unshare --user --map-root-user true").status != 0) return;
    const std::string alone = "unshare --user --map-root-user ";
    const auto refused = inside("exit 0", "", alone);
    CHECK(refused.status == 125);
    CHECK_THAT(refused.output, Contains("there is no user but root"));
    CHECK(inside("exit 7", "--profile compile", alone).status == 7);
    CHECK(inside("exit 7", "--sandbox plain", alone).status == 7);
}
