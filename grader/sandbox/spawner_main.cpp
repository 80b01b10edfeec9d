// warpgrade-spawner: process 1 of a sandbox that is set up once. It is linked statically, since a sandbox may hold no
// libraries, and reads nothing but the judge's requests.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

#include "sandbox/spawner.hpp"

namespace {

std::vector<sock_filter> read_filter(int fd) {
    std::vector<sock_filter> filter;
    sock_filter instruction;
    ssize_t got = 0;
    while ((got = read(fd, &instruction, sizeof instruction)) == static_cast<ssize_t>(sizeof instruction))
        filter.push_back(instruction);
    if (got != 0 || filter.empty()) throw std::system_error(EINVAL, std::generic_category(), "the filter");
    close(fd);
    return filter;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const auto options = warpgrade::sandbox::parse(argc, argv);
        std::vector<std::string> environment;
        for (char** variable = environ; *variable; ++variable) environment.emplace_back(*variable);
        warpgrade::sandbox::serve({options, read_filter(options.seccomp_fd), environment});
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "warpgrade-spawner: %s\n", error.what());
        return 125;
    }
}
