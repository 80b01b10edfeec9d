// What the device learns of a program's end: that it was in good order, or that host code used a pointer of the
// device's.
#pragma once

namespace warpgrade::cudart {

// From now on. The program's own signal handlers stay, and come first.
void watch_program();

}  // namespace warpgrade::cudart

// For a program that has a handler of its own, such as the worker's: what the handler got. Changes nothing.
extern "C" void warpgrade_tell_host_fault(const void* address, const void* context);
// For a program that ends without exit(): the device learns that it was in good order.
extern "C" void warpgrade_leave();
