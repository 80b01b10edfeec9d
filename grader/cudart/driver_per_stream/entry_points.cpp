// The driver API's functions by name. Compiled once for each meaning of stream 0.
#include <cudaProfiler.h>

#include <algorithm>
#include <iterator>

#include "cudart/driver/entry_points.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace warpgrade::cudart {
namespace {

struct EntryPoint {
    std::string_view name;
    void* function;
};

}  // namespace

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
void* find_entry_point_per_thread(std::string_view name) {
#else
void* find_entry_point(std::string_view name) {
#endif
    static const EntryPoint all[] = {
#define WG_CU(name) {#name, reinterpret_cast<void*>(&name)},
#include "cudart/driver/driver.def"
#undef WG_CU
    };
    const auto* found =
        std::find_if(std::begin(all), std::end(all), [&](const EntryPoint& each) { return each.name == name; });
    return found == std::end(all) ? nullptr : found->function;
}

}  // namespace warpgrade::cudart
