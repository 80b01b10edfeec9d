// warpgrade-device: the device server. The judge starts one for each session, with both sockets open.
#include <fmt/core.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>

#include "device/kinds.hpp"
#include "device/records.hpp"
#include "sandbox/apply_filter.hpp"
#include "server/open.hpp"
#include "server/server.hpp"

using namespace warpgrade::server;

namespace {

// In a sandbox without namespaces, forbids opening files, before the server reads anything of a student's.
void forbid_files() {
    namespace sandbox = warpgrade::sandbox;
    if (const char* fd = std::getenv(sandbox::last_filter_variable))
        sandbox::apply_filter(sandbox::read_filter(std::atoi(fd)));
}

// The memory in which whoever started the server watches it.
std::shared_ptr<Progress> map_progress(int file) {
    struct stat status {};
    if (::fstat(file, &status) != 0 || status.st_size < static_cast<off_t>(sizeof(Progress)))
        throw std::invalid_argument("--progress-fd is too short");
    void* const memory = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "--progress-fd");
    return {new (memory) Progress, [](Progress* progress) { ::munmap(progress, sizeof(Progress)); }};
}

// Continues as the program that opens GPUs, which lies beside this one.
void become_gpu_server(char** argv) {
    const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "warpgrade-gpu";
    ::execv(program.c_str(), argv);
    throw std::runtime_error("this installation has no program for GPUs (warpgrade-gpu)");
}

// The submission's own calls are checked and watched, not the replay's.
DeviceOptions options_of_replay(DeviceOptions options, bool runs_kernels) {
    options.checks = parse_checks("none");
    options.skip_kernels = !runs_kernels;
    options.trace_accesses = false;
    options.progress = nullptr;
    return options;
}

}  // namespace

int main(int argc, char** argv) {
    // Keeps freed memory in the process: the next kernel needs as much, and fresh pages are slow.
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_MXFAST, 0);  // each free of a large array would merge all fast chunks
    CLI::App app{"Serves one device to one worker, for one judge."};
    std::string spec = "vgpu";
    DeviceOptions options;
    std::uint64_t memory_mib = 0;
    int client_fd = -1, control_fd = -1;
    app.add_option("--device", spec, "KIND[:PROFILE or number]: vgpu, gpu or plain")->capture_default_str();
    app.add_option("--threads", options.threads, "host threads; 0: one per core")->capture_default_str();
    app.add_option("--instructions", options.instruction_limit, "warp instructions of one launch; 0: no limit")
        ->capture_default_str();
    app.add_option("--memory-mib", memory_mib, "device memory; 0: as the profile says")
        ->check(CLI::Range(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max() >> 20));
    auto* client = app.add_option("--client-fd", client_fd, "socket of the worker")->check(CLI::NonNegativeNumber);
    auto* control = app.add_option("--control-fd", control_fd, "socket of the judge")->check(CLI::NonNegativeNumber);
    client->needs(control);
    control->needs(client);
    std::string checks = "all";
    app.add_option("--checks", checks, "all, none, or some of race,init,sync,advice")->capture_default_str();
    std::string order = "forward";
    app.add_option("--order", order, "of blocks and warps: forward, reverse, interleaved, ahead")
        ->capture_default_str();
    ServerOptions server_options;
    app.add_flag("--wait-for-take", server_options.wait_for_take,
                 "let the worker wait when the record of its launches is full, instead of refusing further launches");
    app.add_flag("--origin", options.origin, "tell the judge where the outputs of a call come from");
    app.add_flag("--trace-accesses", options.trace_accesses, "record some warps' accesses of memory");
    auto* origin = app.get_option("--origin");
    app.add_option("--sample-blocks", options.sample_blocks, "run no more of a launch's blocks; 0: all")
        ->excludes(origin);
    app.add_flag("--skip-repeats", options.skip_repeats, "do not run a launch again that would change nothing");
    int progress_fd = -1;
    auto* progress = app.add_option("--progress-fd", progress_fd, "memory in which to tell how far a launch is")
                         ->check(CLI::NonNegativeNumber);
    int replay_fd = -1;
    bool replay_runs = false;
    auto* replay =
        app.add_option("--replay-fd", replay_fd, "socket of a worker that makes the same calls on a device of its own")
            ->needs(client)
            ->check(CLI::NonNegativeNumber);
    app.add_flag("--replay-runs-kernels", replay_runs, "without it, its launches are checked and do nothing")
        ->needs(replay);
    bool describe = false;
    app.add_flag("--describe", describe, "print the device's properties as one line of JSON, serve nobody")
        ->excludes(client);
    CLI11_PARSE(app, argc, argv);
    if (!describe && !*client) {
        fmt::print(stderr, "warpgrade-device: needs --client-fd and --control-fd, or --describe\n");
        return 2;
    }
    options.memory_limit_bytes = memory_mib << 20;
    try {
        options.checks = parse_checks(checks);
        options.order = warpgrade::device::parse_order(order);
        server_options.order_streams = options.checks.race;
        if (warpgrade::device::find_kind(spec).name == "gpu" && !opens("gpu")) become_gpu_server(argv);
        if (*progress) options.progress = map_progress(progress_fd);
        if (describe) {
            fmt::print("{}\n", warpgrade::device::describe(open_device(spec, options)->properties(), spec));
            return 0;
        }
        const DeviceOptions replay_options = options_of_replay(options, replay_runs);
        std::optional<Sockets> sockets = Sockets{Descriptor(client_fd), Descriptor(control_fd), Descriptor(replay_fd)};
        for (bool is_first = true; sockets; is_first = false) {
            const auto device = open_device(spec, options);
            const auto other = sockets->replay ? open_device(spec, replay_options) : nullptr;
            if (is_first) forbid_files();
            Server server(*device, sockets->client.release(), sockets->control.release(), server_options);
            if (other) server.add_replay(*other, sockets->replay.release());
            if (!is_first) server.confirm_renewal();
            sockets = server.run();
        }
    } catch (const std::exception& failure) {
        fmt::print(stderr, "warpgrade-device: {}\n", failure.what());
        return 1;
    }
    return 0;
}
