// Functions for several devices, as on a machine with one.
#include <cstdio>
#include <cstring>

#include "cudart/client/errors.hpp"

using namespace warpgrade::cudart;

namespace {

constexpr char bus_id[] = "0000:01:00.0";

// Only device 0 exists.
template <class Body>
cudaError_t with_devices(std::initializer_list<int> devices, Body&& body) {
    return device_api([&](Connection&) -> cudaError_t {
        for (const int device : devices)
            if (device != 0) return cudaErrorInvalidDevice;
        return body();
    });
}

}  // namespace

cudaError_t CUDARTAPI cudaDeviceCanAccessPeer(int* answer, int device, int peer) {
    return with_devices({device, peer}, [&] {
        if (answer == nullptr) return cudaErrorInvalidValue;
        *answer = 0;  // a device is not its own peer
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
    if (flags != 0) return remember(cudaErrorInvalidValue);
    return with_devices({peer}, [] { return cudaErrorPeerAccessUnsupported; });
}

cudaError_t CUDARTAPI cudaDeviceDisablePeerAccess(int peer) {
    return with_devices({peer}, [] { return cudaErrorPeerAccessNotEnabled; });
}

cudaError_t CUDARTAPI cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
    return device_api([](Connection&) { return cudaErrorInvalidDevice; });  // needs two devices
}

cudaError_t CUDARTAPI cudaDeviceGetPCIBusId(char* text, int length, int device) {
    return with_devices({device}, [&] {
        if (text == nullptr || length < static_cast<int>(sizeof bus_id)) return cudaErrorInvalidValue;
        std::memcpy(text, bus_id, sizeof bus_id);
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaDeviceGetByPCIBusId(int* device, const char* text) {
    return device_api([&](Connection&) {
        unsigned domain = 0, bus = 0, slot = 0, function = 0;
        if (device == nullptr || text == nullptr) return cudaErrorInvalidValue;
        const bool full = std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4;
        if (!full && (domain = 0, std::sscanf(text, "%x:%x.%x", &bus, &slot, &function)) < 2)
            return cudaErrorInvalidValue;
        if (domain != 0 || bus != 1 || slot != 0 || function != 0) return cudaErrorInvalidDevice;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
    return device_api([&](Connection&) {
        if (device == nullptr || wanted == nullptr) return cudaErrorInvalidValue;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaSetValidDevices(int* devices, int count) {
    return device_api([&](Connection&) {
        if (count < 0 || (devices == nullptr && count > 0)) return cudaErrorInvalidValue;
        for (int i = 0; i < count; ++i)
            if (devices[i] != 0) return cudaErrorInvalidDevice;
        return cudaSuccess;
    });
}

cudaError_t CUDARTAPI cudaInitDevice(int device, unsigned int, unsigned int) {
    return with_devices({device}, [] { return cudaSuccess; });
}
