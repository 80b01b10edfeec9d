// Who wrote a word (4 bytes) of device memory last, for the origin of outputs (origin.hpp).
#pragma once

#include <cstdint>

namespace warpgrade::device {

// A launch of the call at hand is its number in it, from 1 on.
using WriterTag = std::uint16_t;
namespace writer {
inline constexpr WriterTag nobody = 0;            // not in this call: fresh, or left by an earlier one
inline constexpr WriterTag last_launch = 0xFFEF;  // as many launches as one call can have, and more
inline constexpr WriterTag scattered = 0xFFFD;    // a copy on the device that moves a few bytes at a time
inline constexpr WriterTag fill = 0xFFFE;         // cudaMemset and its kin
inline constexpr WriterTag host = 0xFFFF;         // a copy from the host, or host code through mapped or managed memory
inline bool is_launch(WriterTag who) { return who != nobody && who <= last_launch; }
}  // namespace writer

}  // namespace warpgrade::device
