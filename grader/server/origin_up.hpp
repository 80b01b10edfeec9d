// What host code gave the device, and what it decided: the call's inputs, in their order, and nothing that depends on
// their values? With another run of the call at hand this is told exactly; without one, a few bytes are free.
#pragma once

#include "device/origin.hpp"
#include "server/origin_log.hpp"

namespace warpgrade::device {

// False: verdict says why. Throws std::exception for a trace that cannot be read.
bool check_up(const OriginQuery& query, const OriginLog& log, OriginVerdict& verdict);

}  // namespace warpgrade::device
