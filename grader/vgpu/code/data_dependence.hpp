// Whether what memory holds can change which way a kernel's threads go, or which addresses they access. If it cannot, a
// launch does the same accesses in the same order with any data, and what checks find in one they find in all.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/code/code.hpp"
#include "vgpu/code/register_places.hpp"

namespace warpgrade::vgpu {

// The first instruction that may do otherwise with other data. Data are the contents of global and constant memory, of
// textures, what atomics return, and clocks; parameters are none. Values that a thread keeps in shared or local memory
// are data only if some are made of data. A branch that data decide is harmless as long as nothing but arithmetic lies
// behind it. `calls`: of functions, which are not looked at, nor are those that are too large.
DataDependence find_data_dependence(const Code& code, const FunctionCode& kernel, const ptx::Function& source,
                                    const std::vector<RegisterAccess>& accesses);

}  // namespace warpgrade::vgpu
