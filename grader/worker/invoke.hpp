// Executes one call: maps its buffers, calls the student's function, writes the results back.
#pragma once

#include "worker/bind.hpp"
#include "worker/wire.hpp"

namespace warpgrade::worker {

// `arena` is the descriptor that came with the call (-1: none needed). Never throws.
wire::Reply invoke(const Binding* bindings, const wire::Call& call, int arena, int socket);

}  // namespace warpgrade::worker
