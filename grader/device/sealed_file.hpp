// Memory to share with the worker's process, as a file.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "device/descriptor.hpp"
#include "device/device.hpp"

namespace warpgrade::device {

// A memory file of fixed size: a worker that could shrink it would crash the server. Throws memory_allocation.
inline Descriptor sealed_file(std::uint64_t bytes) {
    Descriptor file(::memfd_create("warpgrade", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 ||
        ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        throw DeviceError(error::memory_allocation, "the host is out of memory to share with the program");
    return file;
}

}  // namespace warpgrade::device
