// Prepared sandboxes: each process finds the same as in a new sandbox, and nothing of the process before.
#include "judge/prepared.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "judge/command.hpp"
#include "judge/errors.hpp"
#include "judge/judged.hpp"
#include "support/contains.hpp"

using namespace warpgrade::judge;
using namespace std::chrono_literals;

namespace {

// The sandbox of a test case's probes; a case with both() runs in both.
bool plain = false;
void both() { plain = GENERATE(false, true); }

// A probe in a prepared sandbox, and what it prints.
class Probe {
  public:
    explicit Probe(std::vector<std::string> arguments, const std::string& name = "test",
                   const std::string& profile = "worker", std::vector<std::pair<int, int>> more = {}) {
        auto [output, theirs] = make_pipe();
        std::vector<std::string> sandbox{WG_SANDBOX, "--profile",   profile,   "--memory-mib",
                                         "512",      "--processes", "64",      "--file-size-mib",
                                         "16",       "--file",      WG_INSIDE, "/probe"};
        if (plain) {
            sandbox.insert(sandbox.begin() + 1, {"--sandbox", "plain"});
            arguments.emplace_back("plain");
        }
        arguments.insert(arguments.begin(), "/probe");
        more.emplace_back(1, theirs.get());
        more.emplace_back(2, theirs.get());
        process = SandboxedProcess(name, sandbox, arguments, more);
        output_ = std::move(output);
    }
    int status() {
        const auto ended = process.wait(Clock::now() + 120s);
        REQUIRE(ended);
        return WIFSIGNALED(*ended) ? 128 + WTERMSIG(*ended) : WEXITSTATUS(*ended);
    }
    std::string words() {
        char text[4096];
        const auto got = read(output_.get(), text, sizeof text);
        return std::string(text, got > 0 ? static_cast<std::size_t>(got) : 0);
    }
    SandboxedProcess process;

  private:
    Descriptor output_;
};

// Distinguishes the probes of this run from those of a concurrent one.
const std::string mark = "of-" + std::to_string(getpid());

// The numbers of the host's processes whose command line is this one.
std::vector<pid_t> running(const std::string& command) {
    std::istringstream found(run_command("pgrep -x -f '" + command + "'").output);
    std::vector<pid_t> pids;
    for (pid_t pid; found >> pid;) pids.push_back(pid);
    return pids;
}

// A line of /proc about a process.
std::string told_of(pid_t pid, const std::string& key) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(file, line);)
        if (line.rfind(key + ":", 0) == 0) return line.substr(line.find_first_not_of(" \t", key.size() + 1));
    return "";
}

pid_t only_one(const std::string& command) {
    REQUIRE(happens([&] { return running(command).size() == 1; }));  // on a busy machine it starts later
    return running(command)[0];
}

pid_t parent_of(pid_t pid) { return std::stoi(told_of(pid, "PPid")); }

}  // namespace

TEST_CASE("every restriction of a sandbox holds in a prepared one, each time", "[prepared]") {
    both();
    for (const char* profile : {"worker", "device"})
        for (const char* what : {"network", "system-calls", "no-fork", "only-own-processes", "limits"})
            for (int time = 0; time < 2; ++time) {
                Probe probe({what}, "all", profile);
                const int status = probe.status();
                INFO(profile << " " << what << ": " << probe.words());
                CHECK(status == 0);
            }
    for (const char* what : {"writes", "host-files", "reaches-nobody"}) {
        if (!plain && what == std::string("reaches-nobody")) continue;
        Probe probe({what}, "all");
        const int status = probe.status();
        INFO(what << ": " << probe.words());
        CHECK(status == 0);
    }
}

TEST_CASE("a process finds no file of the one before", "[prepared]") {
    plain = false;
    for (int time = 0; time < 3; ++time) {
        Probe probe({"leaves-file"});
        const int status = probe.status();
        INFO(probe.words());
        CHECK(status == 0);
    }
}

TEST_CASE("what is mounted for a process lends no privilege and no device", "[prepared]") {
    plain = false;
    for (const char* profile : {"worker", "device"}) {
        const Probe probe({"sleep", mark + "-mounts"}, "mounts", profile);
        std::istringstream mounts(
            run_command("cat /proc/" + std::to_string(only_one("/probe sleep " + mark + "-mounts")) + "/mountinfo")
                .output);
        std::string tmp, proc;
        for (std::string line; std::getline(mounts, line);) {
            if (line.find(" /tmp ") != std::string::npos) tmp = line;
            if (line.find(" /proc ") != std::string::npos) proc = line;
        }
        CHECK_THAT(tmp, Contains("nosuid,nodev") && Contains("size=65536k"));
        CHECK(proc.empty() == (profile == std::string("worker")));
        if (!proc.empty()) CHECK_THAT(proc, Contains("nosuid,nodev,noexec"));
    }
}

TEST_CASE("a process finds no other, nor leaves one, and reaches none by signals", "[prepared]") {
    plain = false;
    Probe first({"sleep", mark + "-a"}, "shared", "worker"), second({"sleep", mark + "-b"}, "shared", "worker");
    for (int time = 0; time < 2; ++time) {
        Probe probe({"kills-all"});
        const int status = probe.status();
        INFO(probe.words());
        CHECK(status == 0);
    }
    CHECK(running("/probe sleep " + mark + "-a").size() == 1);
    {
        Probe left({"leaves-thread", mark});
        std::this_thread::sleep_for(50ms);
        CHECK(running("/probe leaves-thread " + mark).size() <=
              1);  // a thread group without its leader may have no name
        CHECK_FALSE(left.process.wait(Clock::now()));
    }
    CHECK(happens([] { return running("/probe leaves-thread " + mark).empty(); }));
    CHECK_FALSE(Probe({"leaves-thread", mark}).process.wait(Clock::now() + 50ms));
}

TEST_CASE("processes one after the other have one spawner, which none of them can reach", "[prepared]") {
    both();
    pid_t spawner = 0;
    for (int time = 0; time < 2; ++time) {
        const Probe probe({"sleep", mark});
        const pid_t pid = only_one("/probe sleep " + mark + (plain ? " plain" : ""));
        if (spawner) CHECK(parent_of(pid) == spawner);
        spawner = parent_of(pid);
        CHECK(told_of(pid, "CapEff") == "0000000000000000");
        CHECK(told_of(pid, "CapPrm") == "0000000000000000");
        if (!plain) CHECK(told_of(pid, "CapBnd") == "0000000000000000");  // which is of no use without new privileges
        CHECK(told_of(pid, "CapAmb") == "0000000000000000");
        CHECK(told_of(pid, "NoNewPrivs") == "1");
        CHECK(told_of(pid, "Seccomp") == "2");
        // Its own session and process group, and its own namespace, in which it is the first.
        const auto numbers = told_of(pid, "NSpid");
        if (!plain) CHECK(numbers.substr(numbers.rfind('\t')) == "\t1");
        CHECK(getpgid(pid) == pid);
        CHECK(getsid(pid) == pid);
        // In /proc, a process that is not dumpable belongs to root, and no one else may trace or read it.
        struct stat memory {};
        REQUIRE(stat(("/proc/" + std::to_string(spawner) + "/mem").c_str(), &memory) == 0);
        CHECK(memory.st_uid == 0);
        if (geteuid() == 0) CHECK(told_of(spawner, "Uid").rfind("0\t", 0) != 0);
    }
    if (!plain)
        for (int time = 0; time < 2; ++time) CHECK(Probe({"kills-all"}).status() == 0);
}

TEST_CASE("a process has no descriptors but its own", "[prepared]") {
    both();
    auto [ours, theirs] = socket_pair(SOCK_SEQPACKET);
    const Probe other({"sleep"}, "descriptors", "worker", {{9, theirs.get()}});
    for (int time = 0; time < 3; ++time) {
        Probe probe({"descriptors", "3,7,"}, "descriptors", "worker", {{3, theirs.get()}, {7, theirs.get()}});
        const int status = probe.status();
        INFO(probe.words());
        CHECK(status == 0);
    }
    // Nor where the spawner's own socket would be.
    CHECK(Probe({"descriptors", "9,"}, "descriptors", "worker", {{9, theirs.get()}}).status() == 0);
}

TEST_CASE("what a process says in the spawner's name reaches nobody", "[prepared]") {
    both();
    auto [ours, theirs] = socket_pair(SOCK_SEQPACKET);
    Probe probe({"forges-report"}, "forges", "worker", {{3, theirs.get()}});
    CHECK(probe.status() == 77);
}

TEST_CASE("a spawner that is killed is an error, and the next process gets a new one", "[prepared]") {
    both();
    const std::string command = "/probe sleep " + mark + (plain ? " plain" : "");
    Probe probe({"sleep", mark});
    const pid_t pid = only_one(command), spawner = parent_of(pid);
    REQUIRE(kill(spawner, SIGKILL) == 0);
    CHECK_THROWS_AS(probe.process.wait(Clock::now() + 120s), InfrastructureError);
    CHECK(happens([&] { return running(command).empty(); }));
    const Probe next({"sleep", mark});
    CHECK(parent_of(only_one(command)) != spawner);
}

TEST_CASE("a judge whose spawner is killed tries the test again") {
    // First the spawner, then the program that another spawner has started.
    bool spawner_killed = false, program_killed = false;
    std::thread killer([&] {
        const std::string own = "pgrep -f '^" WG_SANDBOX " .*/program-[h]angs'";
        pid_t first = 0, worker = 0;
        const auto other_worker_runs = [&] {
            const auto found =
                run_command("exec 2>/dev/null; pgrep -f -x '/worker' -P $(pgrep -P $(pgrep -P $(" + own + ")))");
            worker = found.status == 0 ? std::stoi(found.output) : 0;
            return worker != 0 && worker != first;
        };
        if (happens(other_worker_runs)) spawner_killed = kill(parent_of(first = worker), SIGKILL) == 0;
        if (happens(other_worker_runs)) program_killed = kill(worker, SIGKILL) == 0;
    });
    const auto judged = judge("hangs", "--test 'scales, with commas and [brackets]'");
    killer.join();
    CHECK((spawner_killed && program_killed));
    CHECK(judged.scales()["status"] == "fail");
    CHECK_THAT(judged.message(), Contains("killed"));
}

TEST_CASE("what ended processes used is added up", "[prepared]") {
    both();
    const double before = used_processor_seconds();
    const auto begin = Clock::now();
    CHECK(happens([&] {
        Probe busy({"spin"});
        std::this_thread::sleep_for(100ms);
        busy.process.kill();
        busy.status();
        return used_processor_seconds() - before >= 0.05;
    }));
    // One process at a time, this one, and the few that it starts besides.
    const std::chrono::duration<double> passed = Clock::now() - begin;
    CHECK(used_processor_seconds() - before <= 16 * passed.count());
}

TEST_CASE("limits hold for each process anew", "[prepared]") {
    both();
    for (int time = 0; time < 2; ++time) CHECK(Probe({"signal"}).status() == 128 + SIGSEGV);
    auto [output, theirs] = make_pipe();
    for (int time = 0; time < 2; ++time) {
        SandboxedProcess spins("cpu", {WG_SANDBOX, "--cpu-seconds", "1", "--file", WG_INSIDE, "/probe"},
                               {"/probe", "spin"}, {{1, theirs.get()}});
        const auto status = spins.wait(Clock::now() + 120s);
        REQUIRE(status);
        CHECK(WTERMSIG(*status) == SIGKILL);
    }
}

TEST_CASE("a sandbox that does not start says why", "[prepared]") {
    const auto started = [](const std::vector<std::string>& sandbox) -> std::string {
        try {
            const SandboxedProcess process("broken", sandbox, {"/probe"}, {});
        } catch (const InfrastructureError& error) {
            return error.what();
        }
        return "";
    };
    CHECK_THAT(started({WG_SANDBOX, "--file", "/no/such/file", "/probe"}), Contains("cannot read /no/such/file"));
    CHECK_THAT(started({WG_SANDBOX, "--profile", "nothing"}), Contains("unknown profile"));
    CHECK_THAT(started({"/bin/true"}), Contains("the sandbox ") && !Contains(":"));  // which says nothing
}
