// Puts the PTX modules of separately compiled files (-rdc=true) together, as nvlink does with their cubins.
#pragma once

#include <vector>

#include "vgpu/ptx/ast.hpp"

namespace warpgrade::vgpu::ptx {

// One module in which extern names have their definitions. Throws PtxError when a name is defined twice. Lines of the
// PTX are counted through all texts, the first one's first.
Module link(std::vector<Module> modules);

}  // namespace warpgrade::vgpu::ptx
