// warpgrade-spawner: process 1 of a prepared sandbox. It is linked statically, since a sandbox may have no libraries,
// and reads only the judge's requests.
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "sandbox/apply_filter.hpp"
#include "sandbox/capabilities.hpp"
#include "sandbox/spawner.hpp"

int main(int argc, char** argv) {
    namespace sandbox = warpgrade::sandbox;
    try {
        const auto options = sandbox::parse(argc, argv);
        const auto filter = sandbox::read_filter(options.seccomp_fd);
        std::vector<std::string> environment;
        for (char** variable = environ; *variable; ++variable) environment.emplace_back(*variable);
        sandbox::serve({options, [&] {
                            sandbox::drop_capabilities();
                            sandbox::apply_filter(filter);
                            sandbox::execute(options.command, environment);
                        }});
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "warpgrade-spawner: %s\n", error.what());
        return 125;
    }
}
