// Tells the device server that the program ends in good order, or that host code crashed because it used a device
// pointer.
#pragma once

#include <signal.h>

namespace warpgrade::cudart {

// Installs the handlers. The program's own signal handlers stay, and come first.
void watch_program();
// True if uses of closed pages reach the runtime's handler.
bool opens_pages();
// True for a program whose functions the judge calls, and which reports the end of each call.
bool is_worker();

}  // namespace warpgrade::cudart

// For a program with its own handler, such as the worker, to call from it.
extern "C" void warpgrade_tell_host_fault(const void* address, const void* context);
// The same. Returns true if the runtime had closed the page and has opened it now.
extern "C" bool warpgrade_open_page(const siginfo_t* info, const void* context);
// For a worker at the end of a call: reports the call's uses of managed memory.
extern "C" void warpgrade_end_call();
// For a program that ends without exit(): reports that it ends in good order.
extern "C" void warpgrade_leave();
