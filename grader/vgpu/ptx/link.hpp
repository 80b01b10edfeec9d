// Links the PTX modules of separately compiled files (-rdc=true), as nvlink links their cubins.
#pragma once

#include <vector>

#include "vgpu/ptx/ast.hpp"

namespace warpgrade::vgpu::ptx {

// Returns one module with all extern names defined. Throws PtxError if a name is defined twice. PTX lines are numbered
// through all texts, beginning with the first.
Module link(std::vector<Module> modules);

}  // namespace warpgrade::vgpu::ptx
