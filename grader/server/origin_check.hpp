// Did the device do the work? Told from what went up and came down in a call (origin.hpp), the call's inputs, and what
// it returned. Nothing here looks at a clock.
//
//   Down     What the function returned came down from the device, in order: a run of at least 32 elements or of a row
//            (or the whole, where it is less) stands side by side in what one copy brought, and the next run behind it.
//   Device   A kernel of this call wrote it last: not a copy from the host, not a fill.
//   Up       What went up is a part of the call's inputs, in order, or has been on the device before; or it is a fill;
//            or it is little: parameters, sizes, masks.
#pragma once

#include "device/origin.hpp"
#include "server/origin_log.hpp"

namespace warpgrade::device {

// `other_run`: what the same call did in another process, with the inputs OriginBuffer::other; null if it was not made.
OriginVerdict check_origin(const OriginQuery& query, const OriginLog& log, const OriginLog* other_run = nullptr);

}  // namespace warpgrade::device
