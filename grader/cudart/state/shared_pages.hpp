// Pages of the program's own that cudaHostRegister shares with the device: each is replaced, in place, by a page of the
// device server's with the same bytes.
#pragma once

#include "cudart/client/connection.hpp"

namespace warpgrade::cudart {

// Registered ranges may touch within a page, so pages are counted.
cudaError_t share_pages(std::uintptr_t address, std::size_t bytes);
cudaError_t release_pages(std::uintptr_t address, std::size_t bytes);
// The server has forgotten them.
void forget_shared_pages();

}  // namespace warpgrade::cudart
