#include <cstdio>
#include <cstdlib>
#include <exception>

#include "sandbox/options.hpp"
#include "sandbox/probe.hpp"
#include "sandbox/run.hpp"

namespace {

// The caller's choice of a sandbox; "" means the strongest that works.
std::string requested_sandbox(const warpgrade::sandbox::Options& options) {
    const char* variable = std::getenv("WARPGRADE_SANDBOX");
    const std::string named = options.plain ? "plain" : variable ? variable : "";
    if (!named.empty() && named != "plain" && named != "namespaces")
        throw warpgrade::sandbox::UsageError("WARPGRADE_SANDBOX is \"" + named + "\", but can be namespaces or plain");
    return named;
}

}  // namespace

int main(int argc, char** argv) {
    namespace sandbox = warpgrade::sandbox;
    try {
        const auto options = sandbox::parse(argc, argv);
        if (options.help) {
            std::fputs(sandbox::usage_text, stdout);
            return 0;
        }
        return options.probe ? sandbox::probe(requested_sandbox(options)) : sandbox::run(options);
    } catch (const sandbox::UsageError& error) {
        std::fprintf(stderr, "warpgrade-sandbox: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "warpgrade-sandbox: %s\n", error.what());
        return sandbox::exit_not_started;
    }
}
