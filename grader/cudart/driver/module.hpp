// Modules that the program loads as it runs.
#pragma once

namespace warpgrade::cudart {

// With the context go its modules.
void unload_modules();

}  // namespace warpgrade::cudart
