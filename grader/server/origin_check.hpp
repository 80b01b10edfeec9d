// Checks that the device did the work of a call, from the call's inputs, outputs, uploads and downloads (origin.hpp).
// Time plays no part.
//
//   Downloads  The outputs were downloaded in order: runs of at least 32 elements or of a row (or the whole, if it is
//              shorter) are contiguous in one download, and the next run follows.
//   Writers    A kernel of this call wrote them last, not a copy from the host and not a fill.
//   Uploads    Each upload is a part of the call's inputs, in order; or it has been on the device before; or it is a
//              fill; or it is small, as parameters, sizes and masks are.
#pragma once

#include "device/origin.hpp"
#include "server/origin_log.hpp"

namespace warpgrade::server {

// `other_run` is the log of the replay, whose inputs are OriginBuffer::other; null if there is none.
OriginVerdict check_origin(const OriginQuery& query, const OriginLog& log, const OriginLog* other_run = nullptr);

}  // namespace warpgrade::server
