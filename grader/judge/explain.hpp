// Words for what a worker's end means. Its reports are untrusted: they serve messages only.
#pragma once

#include <string>

#include "judge/arguments.hpp"
#include "worker/wire.hpp"

namespace warpgrade::judge {

// A reply that says why the function did not return properly.
std::string explain(const wire::Reply& reply, const CallSpec& spec);
// The program ended without a reply; `exit_code` as the sandbox reports it, negative: unknown.
std::string explain_exit(int exit_code, const CallSpec& spec);
// Untrusted text for a message: printable, one line, bounded.
std::string tame(std::string_view text, std::size_t max_bytes = 400);

}  // namespace warpgrade::judge
