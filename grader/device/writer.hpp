// The last writer of a word (4 bytes) of device memory, for the origin of outputs (origin.hpp).
#pragma once

#include <cstdint>

namespace warpgrade::device {

// A launch is its number in the current call, from 1.
using WriterTag = std::uint16_t;
namespace writer {
inline constexpr WriterTag nobody = 0;            // nothing wrote it in this call
inline constexpr WriterTag last_launch = 0xFFEF;  // more than a call can have
inline constexpr WriterTag scattered = 0xFFFD;    // a copy on the device that moves a few bytes at a time
inline constexpr WriterTag fill = 0xFFFE;         // cudaMemset and similar
inline constexpr WriterTag host = 0xFFFF;         // a copy from the host, or host code through mapped or managed memory
inline bool is_launch(WriterTag who) { return who != nobody && who <= last_launch; }
}  // namespace writer

}  // namespace warpgrade::device
