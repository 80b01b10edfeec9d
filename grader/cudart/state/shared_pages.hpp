// Pages of the program that cudaHostRegister shares with the device. Each is replaced in place by a page of the device
// server with the same bytes.
#pragma once

#include "cudart/client/connection.hpp"

namespace warpgrade::cudart {

// Two registered ranges may share a page, so each page has a use count.
cudaError_t share_pages(std::uintptr_t address, std::size_t bytes);
cudaError_t release_pages(std::uintptr_t address, std::size_t bytes);
// After a reset of the context.
void forget_shared_pages();

}  // namespace warpgrade::cudart
