#include <cstdio>
#include <exception>

#include "sandbox/options.hpp"
#include "sandbox/probe.hpp"
#include "sandbox/run.hpp"

int main(int argc, char** argv) {
    namespace sandbox = warpgrade::sandbox;
    try {
        const auto options = sandbox::parse(argc, argv);
        if (options.help) {
            std::fputs(sandbox::usage_text, stdout);
            return 0;
        }
        return options.probe ? sandbox::probe() : sandbox::run(options);
    } catch (const sandbox::UsageError& error) {
        std::fprintf(stderr, "warpgrade-sandbox: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "warpgrade-sandbox: %s\n", error.what());
        return sandbox::exit_not_started;
    }
}
