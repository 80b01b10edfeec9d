// The judge's processes: their limits, descriptors and signals, and the end of the judge.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "judge/command.hpp"
#include "judge/errors.hpp"
#include "judge/judged.hpp"
#include "judge/process.hpp"
#include "judge/worker_process.hpp"
#include "support/contains.hpp"

using namespace warpgrade::judge;
using namespace std::chrono_literals;

namespace {

const std::string correct = WG_PROGRAMS "/program-correct";

// A judge whose sandbox is this script; what it prints besides.
Finished with_sandbox(const std::string& script, const std::string& options) {
    const auto folder = std::filesystem::temp_directory_path() / ("running-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    const auto file = (folder / "sandbox").string();
    std::ofstream(file) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    const auto finished = run_command(WG_JUDGE " --sandbox " + file + " --worker " + correct + " --verdict " +
                                      (folder / "verdict").string() + " --test sums " + options + "; cat " +
                                      (folder / "verdict").string());
    std::filesystem::remove_all(folder);
    return finished;
}

std::string output_of(const std::vector<std::string>& command, int& status) {
    auto [ours, theirs] = make_pipe();
    Process process(command, {{1, theirs.get()}, {2, theirs.get()}});
    theirs.reset();
    std::string text;
    char buffer[4096];
    for (ssize_t got; (got = read(ours.get(), buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(got));
    const auto ended = process.wait(Clock::now() + 120s);
    REQUIRE(ended);
    status = *ended;
    return text;
}

}  // namespace

TEST_CASE("of what a program prints the end is kept, and how much is missing is said") {
    constexpr auto most = OutputTail::max_bytes;
    const auto kept = [](std::vector<std::size_t> sizes) {
        OutputTail tail;
        std::string all;
        for (const std::size_t size : sizes) {
            std::string piece;
            while (piece.size() < size) piece += static_cast<char>('a' + (all.size() + piece.size()) % 23);
            tail.append(piece.data(), piece.size());
            all += piece;
        }
        const auto expected = all.size() <= most ? all
                                                 : "[0 lines, " + std::to_string(all.size() - most) +
                                                       " bytes left out]\n" + all.substr(all.size() - most);
        return tail.text() == expected;
    };
    CHECK(kept({}));
    CHECK(kept({5}));
    CHECK(kept({most}));
    CHECK(kept({most, 1}));
    CHECK(kept({most + 1}));
    CHECK(kept({most - 1, 1}));
    CHECK(kept({most - 1, 2}));
    CHECK(kept({100, most}));
    CHECK(kept({most, most}));
    CHECK(kept({most, most - 1, 2, 3000, 1}));
    CHECK(kept({3000, 3000, 3000, 3000}));
    OutputTail lines;
    for (int i = 1000; i < 2000; ++i) {
        const std::string line = std::to_string(i) + " of these\n";
        lines.append(line.data(), line.size());
    }
    CHECK_THAT(lines.text(), Catch::Matchers::StartsWith("[708 lines, 9912 bytes left out]\n1708 of these\n") &&
                                 Catch::Matchers::EndsWith("\n1999 of these\n"));
}

TEST_CASE("a program's limits are those of the test") {
    const auto told = [](const std::string& options) { return with_sandbox("echo \"($*)\" >&2\n", options).output; };
    const auto plain = told("--seconds 2.1 --memory-mib 300");
    // Four times the wall clock, rounded up, and two: this one is for programs with many threads.
    CHECK_THAT(plain, Contains("(--profile worker --file " + correct +
                               " /worker --setenv WARPGRADE_CALL_FD 3 "
                               "--cpu-seconds 11 --memory-mib 300 --file-size-mib 64 --processes 64 --spawner-fd 3 -- "
                               "/worker)"));
    CHECK_THAT(told("--seconds 2"), Contains("--cpu-seconds 10 ") && Contains("--memory-mib 2048 "));
    CHECK_THAT(told("--no-sandbox"), Contains("/worker --unconfined --setenv"));
    CHECK_THAT(told("--plain-sandbox"), Contains("/worker --sandbox plain --setenv"));
}

TEST_CASE("a sandbox that does not work is an error, in its own words") {
    const auto finished = with_sandbox("echo no room here >&2; exit 1\n", "");
    CHECK(finished.status == 0);
    CHECK_THAT(finished.output, Contains("\"status\":\"error\"") && Contains("no room here"));
    CHECK_THAT(with_sandbox("exit 0\n", "").output, Contains("\"status\":\"error\""));
}

TEST_CASE("the judge's exit status says whether there are verdicts") {
    const std::string judge_it = WG_JUDGE " --sandbox " WG_SANDBOX " --worker " + correct;
    const auto none = run_command(judge_it + " --verdict /dev/null --test nothing");
    CHECK(none.status == 2);
    CHECK(none.output == "no test matches\n");
    const auto no_file = run_command(judge_it + " --verdict /no/such/folder/file");
    CHECK(no_file.status == 3);
    CHECK_THAT(no_file.output, Contains("judge: cannot write /no/such/folder/file: No such file"));
    CHECK(run_command(judge_it + " --verdict /dev/null --checks nothing").status == 3);
    CHECK(run_command(judge_it + " --verdict /dev/null --seconds 0").status > 3);
    CHECK(run_command(judge_it + " --verdict /dev/null --only some").status > 3);
    // The grader has ended already.
    const auto orphan = run_command(judge_it + " --verdict /dev/stdout --parent 1000000000");
    CHECK(orphan.status == 3);
    CHECK(orphan.output.empty());
    const auto own =
        run_command("exec " + judge_it + " --verdict /dev/null --test sums --parent " + std::to_string(getpid()));
    CHECK(own.status == 0);
}

TEST_CASE("progress is a line for each test") {
    const auto judged = judge("wrong", "--progress --test sums --test 'scales, with commas and [brackets]'");
    CHECK_THAT(judged.output, Contains("pass  sums\n") && Contains("fail  scales, with commas and [brackets]\n"));
    CHECK(judge("correct", "--test sums").output.empty());
    const auto first = judge("correct", "--test sums").start["seed"],
               second = judge("correct", "--test sums").start["seed"];
    CHECK(first != second);  // of the system's entropy
    CHECK(first.get<std::uint64_t>() < std::uint64_t{1} << 53);
}

TEST_CASE("a child has the descriptors that it is given, nothing to read, and no signal blocked") {
    int status = 0;
    const Descriptor extra(fcntl(0, F_DUPFD_CLOEXEC, 30));
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    const auto handler = signal(SIGPIPE, SIG_IGN);
    const auto text = output_of(
        {"/bin/sh", "-c", "grep -E 'SigBlk|SigIgn' /proc/self/status; cat; ls /proc/self/fd | tr '\\n' ' '; exit 3"},
        status);
    signal(SIGPIPE, handler);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    CHECK(WEXITSTATUS(status) == 3);
    CHECK_THAT(text, Contains("SigBlk:\t0000000000000000"));
    const auto ignored = std::stoull(text.substr(text.find("SigIgn:\t") + 8, 16), nullptr, 16);
    CHECK((ignored >> (SIGPIPE - 1) & 1) == 0);
    for (const int fd : {0, 1, 2}) CHECK_THAT(text, Contains(std::to_string(fd) + ' '));
    CHECK_THAT(text, !Contains(' ' + std::to_string(extra.get()) + ' ') && !Contains(" 64 ") && !Contains(" 65 "));
}

TEST_CASE("a child that is waited for has ended, or not yet; it ends with its owner") {
    Process child({"/bin/sleep", "1000"}, {});
    CHECK_FALSE(child.wait(Clock::now()));
    CHECK_FALSE(child.wait(Clock::now() - 1h));
    child.kill();
    const auto status = child.wait(Clock::now() + 120s);
    REQUIRE(status);
    CHECK(WTERMSIG(*status) == SIGKILL);
    auto [ours, theirs] = make_pipe();
    {
        const Process other({"/bin/sleep", "1000"}, {{1, theirs.get()}});
        theirs.reset();
    }
    char byte;
    CHECK(read(ours.get(), &byte, 1) == 0);
    CHECK_THROWS_WITH(Process({"/no/such/program"}, {}), "cannot start /no/such/program: No such file or directory");
    CHECK_THROWS_AS(Process({"/no/such/program"}, {}), InfrastructureError);
}

TEST_CASE("descriptors of the judge are its own, and stand where no child's do") {
    auto [a, b] = socket_pair(SOCK_SEQPACKET);
    auto [r, w] = make_pipe();
    for (const Descriptor* one : {&a, &b, &r, &w}) {
        CHECK(one->get() >= 64);
        CHECK(fcntl(one->get(), F_GETFD) == FD_CLOEXEC);
    }
    const int number = a.get();
    a.reset();
    CHECK_FALSE(a);
    CHECK(a.get() == -1);
    CHECK(fcntl(number, F_GETFD) < 0);
    a.reset();
    CHECK_FALSE(Descriptor());
    CHECK(Descriptor(dup(0)));
}

TEST_CASE("what is left until a deadline is rounded up, and bounded") {
    CHECK(milliseconds_until(Clock::now() - 1h) == 0);
    CHECK(milliseconds_until(Clock::now() + 1000h) == 3'600'000);
    const int left = milliseconds_until(Clock::now() + 1800s);
    CHECK((left > 0 && left <= 1'800'000));
    CHECK(milliseconds_until(Clock::now() + 1h - 1ns) <= 3'600'000);
}
