// What the device learns of a program's end: that it was in good order, or that host code used a pointer of the
// device's.
#pragma once

#include <signal.h>

namespace warpgrade::cudart {

// From now on. The program's own signal handlers stay, and come first.
void watch_program();
// Does a use of memory that the runtime has closed come to its handler, so that the program goes on?
bool opens_pages();
// Is it one whose functions the judge calls, and which says when a call ends?
bool is_worker();

}  // namespace warpgrade::cudart

// For a program that has a handler of its own, such as the worker's: what the handler got. Changes nothing.
extern "C" void warpgrade_tell_host_fault(const void* address, const void* context);
// The same: was it memory that the runtime had closed itself? Then it is open now.
extern "C" bool warpgrade_open_page(const siginfo_t* info, const void* context);
// For a program that is called from outside: the device learns what the call did with managed memory.
extern "C" void warpgrade_end_call();
// For a program that ends without exit(): the device learns that it was in good order.
extern "C" void warpgrade_leave();
