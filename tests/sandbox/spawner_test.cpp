// A prepared sandbox and its reports about each command, with the kernel's error for a command that cannot begin.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "sandbox/asked.hpp"
#include "support/contains.hpp"

namespace {

// The step at which a command of the plain sandbox fails if one system call fails.
std::string fails_at(long call, int error, const std::string& options = "") {
    const auto prefix = WG_INSIDE " without " + std::to_string(call) + ' ' + std::to_string(error) + ' ';
    Spawner spawner("--sandbox plain " + options, "exit 0", call ? prefix : "");
    spawner.ask(9);
    const auto report = spawner.end_of(9);
    CHECK(report.kind == spawn::Kind::failed);
    CHECK(report.value == error);
    CHECK(report.step[sizeof report.step - 1] == 0);
    return report.step;
}

}  // namespace

TEST_CASE("the sandbox carries the spawner that was built last") {
    const auto read = [](const char* path) {
        std::ifstream file(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const std::string spawner = read(WG_SPAWNER), sandbox = read(WG_SANDBOX);
    REQUIRE(spawner.size() > 10'000);
    CHECK(sandbox.find(spawner) != std::string::npos);
}

TEST_CASE("a spawner reports how each command ended, and the time that it took") {
    const auto sandbox = both();
    for (const int code : {0, 7}) {
        Spawner spawner(sandbox, "exit " + std::to_string(code));
        for (const std::uint32_t id : {3u, 4u}) {
            spawner.ask(id);
            const auto ended = spawner.end_of(id);
            CHECK(ended.kind == spawn::Kind::ended);
            CHECK((WIFEXITED(ended.value) && WEXITSTATUS(ended.value) == code));
            CHECK(ended.cpu_ms < 500);
        }
    }
    Spawner spinning("--cpu-seconds 1" + sandbox, "spin");
    spinning.ask(5);
    const auto ended = spinning.end_of(5);
    CHECK((WIFSIGNALED(ended.value) && WTERMSIG(ended.value) == SIGKILL));
    INFO(ended.cpu_ms);
    CHECK((ended.cpu_ms >= 200 && ended.cpu_ms < 5000));  // the kernel counts the limit by its ticks
    rusage used{};
    used.ru_utime = {2, 700'000}, used.ru_stime = {3, 650'999};
    CHECK(spawn::cpu_ms(used) == 6350);
}

TEST_CASE("a spawner's commands have the limits, rights and folders of a single one") {
    const bool plain = GENERATE(false, true);
    const std::string sandbox = plain ? "--sandbox plain " : "",
                      limits = "--cpu-seconds 7 --memory-mib 512 --processes 64 --file-size-mib 16 ";
    const auto single =
        run_command(WG_SANDBOX " " + sandbox + limits + "--file " WG_INSIDE " /probe -- /probe print-limits");
    auto expected = single.output;
    // The spawner counts too.
    if (!plain) expected.replace(expected.find("processes 64"), 12, "processes 65");
    CHECK(Spawner(sandbox + limits, "print-limits").output_of(1) == expected);

    const auto name = "rights-" + std::to_string(getpid());
    Spawner spawner(sandbox, "sleep " + name);
    CHECK(happens([&] { return told_of(spawner.pid(), "State").starts_with("S"); }));  // it waits for requests
    spawner.ask(1), spawner.ask(2);
    std::vector<pid_t> pids;
    REQUIRE(happens([&] { return (pids = running("/probe sleep " + name)).size() == 2; }));
    const auto link = [](pid_t pid, const std::string& kind) {
        std::error_code refused;
        return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/ns/" + kind, refused).string();
    };
    for (const pid_t pid : pids) {
        CHECK(told_of(pid, "Seccomp") == "2");
        CHECK(told_of(pid, "NoNewPrivs") == "1");
        CHECK(told_of(pid, "CapEff") == "0000000000000000");
        if (!plain) CHECK(told_of(pid, "CapBnd") == "0000000000000000");
        CHECK(std::atoi(told_of(pid, "NSsid").c_str()) == pid);  // a session of its own
    }
    if (geteuid() == 0)
        for (const char* kind : {"pid", "mnt", "ipc"}) CHECK((link(pids[0], kind) == link(pids[1], kind)) == plain);
    if (plain) return;
    const auto mounts = Spawner("--profile device --tmp-mib 8", "/bin/cat /proc/self/mountinfo").output_of(1);
    CHECK_THAT(mounts, Contains(" / /tmp rw,nosuid,nodev,relatime - tmpfs tmpfs rw,size=8192k,"));
    CHECK_THAT(mounts, Contains(" / /proc rw,nosuid,nodev,noexec,relatime - proc proc "));
}

TEST_CASE("a spawner keeps no descriptor of a request") {
    Spawner spawner(both(), "exit 0");
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    spawner.ask(1, {3}, {ends[1]});
    close(ends[1]);
    CHECK(spawner.end_of(1).value == 0);
    char byte;
    CHECK(happens([&] { return read(ends[0], &byte, 1) == 0; }));
    close(ends[0]);
    CHECK(waitpid(spawner.pid(), nullptr, WNOHANG) == 0);
}

TEST_CASE("what a spawner's command leaves behind ends with it, or with the spawner") {
    const auto name = "4713" + std::to_string(getpid()), sleep = "/usr/bin/sleep " + name;
    const auto gone = [&] { return happens([&] { return running(sleep).empty(); }); };
    const std::string compile = "--sandbox plain --profile compile";
    Spawner leaves(compile, "/bin/sh -c '" + sleep + " & exit 0'");
    leaves.ask(1);
    leaves.end_of(1);
    CHECK(gone());
    for (const bool killed : {false, true}) {
        Spawner stays(compile, killed ? sleep : "/bin/sh -c '" + sleep + " & " + sleep + "; true'");
        stays.ask(1);
        REQUIRE(happens([&] { return !running(sleep).empty(); }));
        if (killed) kill(stays.pid(), SIGKILL);
        stays.hang_up();
        CHECK(gone());
    }
}

TEST_CASE("a signal does not end waiting for a message") {
    static int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    struct sigaction send_message {
    }, before{};
    send_message.sa_handler = [](int) {  // what comes ends the waiting, if the signal itself has not
        static const spawn::Report report;
        (void)::send(ends[1], &report, sizeof report, 0);
    };
    REQUIRE(sigaction(SIGALRM, &send_message, &before) == 0);
    alarm(1);
    spawn::Report report;
    spawn::Attached attached;
    CHECK(spawn::receive(ends[0], report, attached));
    sigaction(SIGALRM, &before, nullptr);
    close(ends[1]);
    errno = EINTR;  // of a call before
    CHECK_FALSE(spawn::receive(ends[0], report, attached));
    close(ends[0]);
}

TEST_CASE("a spawner's command has the descriptors of its request, wherever they were") {
    const auto sandbox = both();
    for (const auto& numbers : {std::vector{3}, std::vector{4, 3}, std::vector{3, 4, 5, 6, 7, 8, 9, 10}}) {
        std::string expected;
        for (int number = 3; number <= 10; ++number)
            if (std::ranges::find(numbers, number) != numbers.end()) expected += std::to_string(number) + ',';
        Spawner spawner(sandbox, "descriptors " + expected);
        const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        spawner.ask(1, numbers, std::vector<int>(numbers.size(), null));
        close(null);
        CHECK(spawner.end_of(1).value == 0);
    }
    // Where the spawner's socket is, or where there are no descriptors.
    Spawner spawner(sandbox, "exit 0");
    for (const int number : {spawner.theirs(), 100'000}) {
        const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        spawner.ask(1, {number}, {null});
        close(null);
        bool ready = false;
        std::optional<spawn::Report> report;
        while ((report = spawner.hear()) && report->kind != spawn::Kind::ended) {
            if (report->kind == spawn::Kind::ready) ready = true;
            if (report->kind == spawn::Kind::failed) CHECK(std::string(report->step) == "descriptors");
        }
        REQUIRE(report);
        CHECK(ready == (number != 100'000));
        CHECK(WEXITSTATUS(report->value) == (ready ? 0 : 125));
    }
}

TEST_CASE("without close_range a spawner closes descriptors one by one") {
    const std::string prefix = "bash -c 'exec \"$@\" 3</dev/null 9</dev/null 255</dev/null' - " WG_INSIDE " without " +
                               std::to_string(SYS_close_range) + " 38 ";
    for (const int number : {3, 7}) {
        Spawner spawner("--sandbox plain", "descriptors " + std::to_string(number) + ',', prefix);
        const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        spawner.ask(1, {number}, {null});
        close(null);
        CHECK(spawner.end_of(1).value == 0);
    }
}

TEST_CASE("commands of a spawner run side by side, and end with its judge's end of the socket") {
    const auto sandbox = both();
    const auto name = "side-by-side-" + std::to_string(getpid());
    Spawner spawner(sandbox, "sleep " + name);
    for (const std::uint32_t id : {1u, 2u, 3u}) spawner.ask(id);
    std::vector<std::uint32_t> ready;
    for (int reports = 0; reports < 6; ++reports) {  // a process may be ready before its spawner says that it forked
        const auto report = spawner.hear();
        REQUIRE(report);
        if (report->kind == spawn::Kind::ready) ready.push_back(report->id);
    }
    std::ranges::sort(ready);
    CHECK(ready == std::vector<std::uint32_t>{1, 2, 3});
    REQUIRE(happens([&] { return running("/probe sleep " + name).size() == 3; }));
    for (int left = 3; left > 1; --left) {
        kill(running("/probe sleep " + name)[1], SIGKILL);
        const auto ended = spawner.hear();
        REQUIRE(ended);
        CHECK((ended->kind == spawn::Kind::ended && WIFSIGNALED(ended->value)));
    }
    spawner.hang_up();
    int status = -1;
    REQUIRE(waitpid(spawner.pid(), &status, 0) == spawner.pid());
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    CHECK(happens([&] { return running("/probe sleep " + name).empty(); }));
}

TEST_CASE("a spawner cannot be read by its commands, which have no signal blocked") {
    const auto name = "unblocked-" + std::to_string(getpid());
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    Spawner spawner("--sandbox plain", "sleep " + name, as_user());
    sigprocmask(SIG_SETMASK, &before, nullptr);
    spawner.ask(1);
    std::vector<pid_t> pids;
    REQUIRE(happens([&] { return (pids = running("/probe sleep " + name)).size() == 1; }));
    CHECK(told_of(pids[0], "SigBlk") == "0000000000000000");
    struct stat memory {};
    REQUIRE(stat(("/proc/" + std::to_string(spawner.pid()) + "/mem").c_str(), &memory) == 0);
    CHECK(memory.st_uid == 0);  // as of all that is not dumpable
}

TEST_CASE("a spawner says at which step a command cannot begin, and goes on") {
    const auto sandbox = both();
    Spawner spawner(sandbox + " --profile device --chdir /no/such", "exit 0");
    for (const std::uint32_t id : {1u, 2u}) {
        spawner.ask(id);
        const auto failed = spawner.end_of(id);
        CHECK((failed.kind == spawn::Kind::failed && failed.value == ENOENT));
        CHECK(std::string(failed.step) == "working folder");
        const auto ended = spawner.end_of(id);
        CHECK((ended.kind == spawn::Kind::ended && WEXITSTATUS(ended.value) == 125));
    }
    Spawner crowded(sandbox, "exit 0", sandbox.empty() ? "prlimit --nofile=64 " : "prlimit --nofile=65 ");
    crowded.ask(1);
    const auto full = crowded.end_of(1);
    CHECK((full.kind == spawn::Kind::failed && std::string(full.step) == "descriptors"));
    CHECK(fails_at(SYS_setsid, EPERM) == "session");
    CHECK(fails_at(SYS_prlimit64, EPERM) == "reading a limit");
    CHECK(fails_at(SYS_execveat, EACCES) == "cannot run /pro");  // as much as there is room for
    CHECK(fails_at(SYS_clone, EAGAIN) == "process");
    CHECK(fails_at(SYS_capset, EPERM) == "capabilities");
    CHECK(fails_at(446, EPERM) == "Landlock");
}

TEST_CASE("a spawner that cannot go on ends, with a word") {
    const auto ended = [](const std::string& prefix, const std::string& options) {
        return run_command("exec 3<>/dev/null; " + prefix + WG_SANDBOX " " + options +
                           " --spawner-fd 3 --file " WG_INSIDE " /probe -- /probe exit 0");
    };
    const auto without = [](long call, int error) {
        return WG_INSIDE " without " + std::to_string(call) + ' ' + std::to_string(error) + ' ';
    };
    const auto poll = ended(without(SYS_poll, ENOMEM), "--sandbox plain");
    CHECK(poll.status == 125);
    CHECK_THAT(poll.output, Contains("poll: Cannot allocate memory"));
    CHECK(ended("", "--sandbox plain").status == 0);  // what is no socket says nothing
    const auto seek = ended(without(SYS_lseek, EIO), "");
    CHECK(seek.status == 125);
    CHECK_THAT(seek.output, Contains("the spawner's file: Input/output error"));
    for (const std::string sandbox : {"", "--sandbox plain "})  // the empty input is no socket either
        CHECK(run_command(WG_SANDBOX " " + sandbox + "--spawner-fd 0 --file " WG_INSIDE " /probe -- /probe exit 7")
                  .status == 0);

    Spawner no_wait("--sandbox plain", "exit 0", without(SYS_wait4, ECHILD));
    no_wait.ask(1);
    CHECK(no_wait.end() == 125);

    // A judge that has stopped listening when a command ends.
    const auto name = "unheard-" + std::to_string(getpid());
    Spawner unheard("--sandbox plain", "sleep " + name);
    unheard.ask(1);
    REQUIRE((unheard.hear() && unheard.hear()));
    unheard.stop_listening();
    kill(running("/probe sleep " + name).at(0), SIGKILL);
    CHECK(unheard.end() == 125);

    // A judge that asks and is gone.
    for (const std::string sandbox : {"", "--sandbox plain", "clone"}) {
        int ends[2], words[2];
        REQUIRE((socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0 && pipe(words) == 0));
        spawn::Request request;
        REQUIRE(spawn::send(ends[0], request));
        close(ends[0]);
        fcntl(words[0], F_SETFD, FD_CLOEXEC);
        const auto run_sandbox =
            sandbox == "clone" ? without(SYS_clone, EAGAIN) + WG_SANDBOX " --sandbox plain" : WG_SANDBOX " " + sandbox;
        const Background run(run_sandbox + " --spawner-fd " + std::to_string(ends[1]) +
                             " --file " WG_INSIDE " /probe -- /probe exit 0 2>&" + std::to_string(words[1]));
        close(ends[1]), close(words[1]);
        std::string said;
        char buffer[256];
        for (ssize_t got; (got = read(words[0], buffer, sizeof buffer)) > 0;)
            said.append(buffer, static_cast<std::size_t>(got));
        close(words[0]);
        int status = 0;
        REQUIRE(waitpid(run.pid(), &status, 0) == run.pid());
        CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 125));
        CHECK_THAT(said, Contains("report: Broken pipe"));
    }
}

TEST_CASE("a device server in the plain sandbox needs a descriptor for its last filter") {
    const auto run = [](const std::string& files) {
        return run_command("prlimit --nofile=" + files +
                           " " WG_SANDBOX " --sandbox plain --profile device --file " WG_INSIDE
                           " /probe -- /probe exit 7");
    };
    CHECK(run("201").status == 7);
    const auto refused = run("200");
    CHECK(refused.status == 125);
    CHECK_THAT(refused.output, Contains("descriptors: Bad file descriptor"));
}

TEST_CASE("the plain sandbox needs one descriptor from 64 on, and no sandbox needs the first") {
    const auto run = [](const std::string& before, const std::string& after = "") {
        return run_command(before + WG_SANDBOX " --sandbox plain --file " WG_INSIDE " /probe -- /probe exit 7" + after);
    };
    CHECK(run("prlimit --nofile=65 ").status == 7);
    const auto refused = run("prlimit --nofile=64 ");
    CHECK(refused.status == 125);
    CHECK_THAT(refused.output, Contains("descriptors: Invalid argument"));
    CHECK(run("", " 0<&-").status == 7);
    CHECK(run_command(WG_SANDBOX " --file " WG_INSIDE " /probe -- /probe exit 7 0<&-").status == 7);
    for (const char* profile : {"device", "compile"})
        CHECK(run_command(WG_SANDBOX " --sandbox plain --profile " + std::string(profile) + " -- /bin/true 0<&-")
                  .status == 0);
}

TEST_CASE("a status may be told at any descriptor, the first as well") {
    for (const std::string sandbox : {"", "--sandbox plain", "--unconfined"}) {
        const Folder folder;
        const auto told =
            run_command(WG_SANDBOX " " + sandbox + " --status-fd 0 --file " WG_INSIDE " /probe -- /probe exit 3 0>" +
                        folder.path + "/told; cat " + folder.path + "/told");
        CHECK_THAT(told.output, Contains("\"child-pid\": ") && Contains("\"exit-code\": 3"));
    }
}
