// Page-locked buffers through which bytes of messages go to the GPU and come back, at the link's full rate.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include "gpu/driver.hpp"

namespace warpgrade::gpu {

class Staging {
  public:
    explicit Staging(std::size_t bytes) : bytes_(bytes) {
        for (Buffer& buffer : buffers_) {
            check(driver().cuMemAllocHost(&buffer.memory, bytes), "page-locked memory for copies");
            check(driver().cuEventCreate(&buffer.sent, CU_EVENT_DISABLE_TIMING), "an event");
        }
    }
    ~Staging() {
        for (const Buffer& buffer : buffers_) {
            driver().cuMemFreeHost(buffer.memory);
            driver().cuEventDestroy(buffer.sent);
        }
    }
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    // Calls send(offset, from, bytes), which issues a copy in the stream, for each piece of the source.
    template <class Send>
    void write(std::span<const std::byte> source, CUstream stream, Send&& send) {
        for (std::size_t done = 0; done < source.size();) {
            Buffer& buffer = buffers_[next_++ % buffers_.size()];
            check(driver().cuEventSynchronize(buffer.sent), "an earlier copy to the device");
            const std::size_t bytes = std::min(bytes_, source.size() - done);
            std::memcpy(buffer.memory, source.data() + done, bytes);
            send(done, buffer.memory, bytes);
            check(driver().cuEventRecord(buffer.sent, stream), "copy to the device");
            done += bytes;
        }
    }
    // Calls receive(offset, to, bytes), which copies and waits, for each piece of the destination.
    template <class Receive>
    void read(std::span<std::byte> destination, Receive&& receive) {
        for (std::size_t done = 0; done < destination.size();) {
            Buffer& buffer = buffers_[next_++ % buffers_.size()];
            check(driver().cuEventSynchronize(buffer.sent), "an earlier copy to the device");
            const std::size_t bytes = std::min(bytes_, destination.size() - done);
            receive(done, buffer.memory, bytes);
            std::memcpy(destination.data() + done, buffer.memory, bytes);
            done += bytes;
        }
    }

  private:
    struct Buffer {
        void* memory = nullptr;
        CUevent sent = nullptr;  // of the last copy from here
    };
    std::size_t bytes_, next_ = 0;
    std::array<Buffer, 4> buffers_;
};

}  // namespace warpgrade::gpu
