#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <limits>

#include "device/open.hpp"
#include "device/server.hpp"

namespace warpgrade::device {

int server_main(int argc, char** argv, const DeviceFactory& factory) {
    CLI::App app{"Serves one device to one worker, for one judge."};
    std::string spec = "vgpu";
    DeviceOptions options;
    std::uint64_t memory_mib = 0;
    int client_fd = -1, control_fd = -1;
    app.add_option("--device", spec, "vgpu[:PROFILE]")->capture_default_str();
    app.add_option("--threads", options.threads, "host threads; 0: as many as there are")->capture_default_str();
    app.add_option("--instructions", options.instruction_limit, "warp instructions of one launch; 0: no limit")
        ->capture_default_str();
    app.add_option("--memory-mib", memory_mib, "device memory; 0: as the profile says")
        ->check(CLI::Range(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max() >> 20));
    app.add_option("--client-fd", client_fd, "socket of the worker")->required()->check(CLI::NonNegativeNumber);
    app.add_option("--control-fd", control_fd, "socket of the judge")->required()->check(CLI::NonNegativeNumber);
    CLI11_PARSE(app, argc, argv);
    options.memory_limit_bytes = memory_mib << 20;
    try {
        const auto device = factory(spec, options);
        Server(*device, client_fd, control_fd).run();
    } catch (const std::exception& failure) {
        fmt::print(stderr, "warpgrade-device: {}\n", failure.what());
        return 1;
    }
    return 0;
}

}  // namespace warpgrade::device
