// Tells uploads that are the inputs in another type: floats that host code made double, bytes that it made int. They
// break the rule that inputs go up as they are, but nothing was computed.
#pragma once

#include <cstddef>
#include <vector>

#include "device/origin.hpp"
#include "server/device_names.hpp"
#include "server/origin_cover.hpp"

namespace warpgrade::server {

class ConvertedInputs {
  public:
    explicit ConvertedInputs(const OriginQuery& query) : query_(query), next_(query.buffers.size()) {}

    // True if the bytes are elements of one input in both runs, in their order and converted to one type, from the
    // first element or from where the last such upload ended. What follows the last element must be equal in both.
    bool explain(Bytes mine, Bytes other);

  private:
    const OriginQuery& query_;
    std::vector<std::size_t> next_;  // element of each buffer
};

}  // namespace warpgrade::server
