// What host code gave the device, and what it decided: the call's inputs, in their order, and nothing that depends on
// their values? With another run of the call at hand this is told exactly; without one, a few bytes are free.
#pragma once

#include "device/origin.hpp"
#include "server/origin_log.hpp"

namespace warpgrade::device {

// `other_run`: the same call, made once more in another process and with the inputs OriginBuffer::other; may be null.
// False: verdict says why.
bool check_up(const OriginQuery& query, const OriginLog& log, const OriginLog* other_run, OriginVerdict& verdict);

}  // namespace warpgrade::device
