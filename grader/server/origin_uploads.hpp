// Checks that host code uploaded only the call's inputs, in their order, and made no decision by their values. With a
// replay of the call the check is exact; without one, a few other bytes are allowed.
#pragma once

#include "device/origin.hpp"
#include "server/origin_log.hpp"

namespace warpgrade::server {

// `other_run` is the log of the replay, whose inputs are OriginBuffer::other, or null. Returns false with the reason in
// `verdict`.
bool check_uploads(const OriginQuery& query, const OriginLog& log, const OriginLog* other_run, OriginVerdict& verdict);

}  // namespace warpgrade::server
