// A lab's judge: runs the lab's tests against a submission and writes the verdicts.
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>

#include "device/kinds.hpp"
#include "device/records.hpp"
#include "judge/baseline_cache.hpp"
#include "judge/context.hpp"
#include "judge/device_server.hpp"
#include "judge/errors.hpp"
#include "judge/replay.hpp"
#include "judge/run_tests.hpp"

namespace {

using namespace warpgrade::judge;

constexpr int exit_no_tests = 2, exit_infrastructure = 3;

void add_options(CLI::App& app, Options& options) {
    app.add_option("--worker", options.worker, "the submission's program")->required()->check(CLI::ExistingFile);
    app.add_option("--baseline", options.baseline, "the unmodified starter's program")->check(CLI::ExistingFile);
    app.add_option("--device-server", options.device_server, "warpgrade-device; without it, tests run without a device")
        ->check(CLI::ExistingFile);
    app.add_option("--sandbox", options.sandbox, "warpgrade-sandbox")->required()->check(CLI::ExistingFile);
    app.add_option("--device", options.device, "KIND[:PROFILE]")->capture_default_str();
    app.add_option("--timing-device", options.timing_device,
                   "KIND[:PROFILE] for the times of tests with the tag [speed]: their calls are made there as well");
    app.add_option("--timing-lock", options.timing_lock, "file whose lock is held while the timing device works");
    app.add_option("--verdict", options.verdict, "file for the verdicts, JSON lines")->required();
    app.add_option("--seed", options.seed, "replay an earlier run's inputs (default: from the system's entropy)");
    app.add_option("--threads", options.threads, "host threads of the virtual GPU")->capture_default_str();
    app.add_option("--seconds", options.seconds, "wall-clock limit of one test")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--memory-mib", options.memory_mib, "memory limit of the program, and of the device")
        ->capture_default_str();
    app.add_option("--instructions", options.instructions, "warp instructions of one launch")->capture_default_str();
    app.add_option("--checks", options.checks, "all, none, or some of race,init,sync,advice")->capture_default_str();
    app.add_option("--parameters", options.parameters, "names for messages, one function each: matmul=A,B,C,m,k,n");
    app.add_flag("--no-sandbox", options.no_sandbox, "only for your own code, on a machine without user namespaces");
    app.add_flag("--plain-sandbox", options.plain_sandbox, "the sandbox for machines without user namespaces");
    app.add_option("--trace-accesses", options.trace_accesses,
                   "file to which some warps' accesses of memory are added, for pictures");
    app.add_option("--record-calls", options.record_calls,
                   "file to which the submission's calls are added, for a program that makes them again");
    app.add_flag("--no-replay", options.no_replay, "only to measure what it costs: host code may decide by its inputs");
    app.add_flag("--no-orders", options.no_orders,
                 "only to measure what they cost: results may depend on the order of blocks");
    app.add_option("--data", options.data, "folder of the lab's data files");
    app.add_option("--baseline-cache", options.baseline_cache,
                   "file in which what the starter does is kept; its name must change with programs and device");
    app.add_option("--only", options.only, "which tests")->check(CLI::IsMember({"public", "all"}));
    app.add_option("--test", options.tests, "a test to run, by its name; may be given several times")->take_all();
    app.add_option("--parent", options.parent, "pid of the grader that starts it; the judge ends when it does");
    app.add_flag("--progress", options.progress, "a line on stderr for each test");
}

// Ends the judge when the grader is killed. The judge's children end with it in the same way.
void end_with_parent(pid_t parent) {
    if (parent == 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(exit_infrastructure);  // the parent has ended already
}

// Returns the device's properties as its server wrote them; nothing if there is none.
std::string prepare(const Options& options) {
    auto& current = context();
    current.options = options;
    current.timing = options;
    current.timing.device = options.timing_device;
    current.timing.trace_accesses.clear();
    current.parameters = parse_parameters(options.parameters);
    current.checks = warpgrade::device::parse_checks(options.checks);
    current.seed = options.seed ? *options.seed : random_seed();
    current.submission = std::make_unique<Program>(Program::Role::submission);
    current.baseline = std::make_unique<Program>(Program::Role::baseline);
    if (!options.baseline_cache.empty() && options.timing_device.empty() &&
        warpgrade::device::find_kind(options.device).repeatable)
        current.baseline_cache = std::make_unique<BaselineCache>(options.baseline_cache);
    if (options.device_server.empty()) return {};
    auto device = start_submission_device(options);
    std::string properties = device->properties_json();
    current.device = warpgrade::device::parse_properties(properties);
    current.idle_devices.keep("submission", std::move(device));
    return properties;
}

int run(const Options& options) {
    VerdictFile verdicts(options.verdict);
    const std::string device = prepare(options);
    verdicts.begin(context().seed, device);
    const auto cases = run_tests(options, verdicts);
    if (cases == 0) {
        std::fputs("no test matches\n", stderr);
        return exit_no_tests;
    }
    verdicts.end(cases);
    if (context().baseline_cache) context().baseline_cache->save();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    // Keeps freed memory in the process: each call needs arrays of megabytes again, and fresh pages are slow.
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_MXFAST, 0);  // each free of a large array would merge all fast chunks
    CLI::App app{"Judges one submission of this lab."};
    Options options;
    add_options(app, options);
    CLI11_PARSE(app, argc, argv);
    std::signal(SIGPIPE, SIG_IGN);  // no signal has a handler that returns, so none interrupts a call
    end_with_parent(options.parent);
    try {
        return run(options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "judge: %s\n", error.what());
        return exit_infrastructure;
    }
}
