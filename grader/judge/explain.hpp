// Explains how a worker ended. Its reports are untrusted and used for messages only.
#pragma once

#include <string>

#include "judge/arguments.hpp"
#include "worker/wire.hpp"

namespace warpgrade::judge {

// For a reply without the function's result.
std::string explain(const wire::Reply& reply, const CallSpec& spec);
// For a program that ended without a reply; `exit_code` is the sandbox's, negative if unknown.
std::string explain_exit(int exit_code, const CallSpec& spec);
// Makes untrusted text printable, one line, and short enough for a message.
std::string tame(std::string_view text, std::size_t max_bytes = 400);

}  // namespace warpgrade::judge
