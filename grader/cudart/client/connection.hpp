// The worker's end of the device protocol. It waits for the reply to each request, except for those that are known to
// succeed.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "cudart/client/host_touches.hpp"
#include "cudart/client/pipelining.hpp"
#include "device/fields.hpp"
#include "device/frame_buffer.hpp"
#include "device/protocol.hpp"

#if CUDART_VERSION < 13000
#error "this runtime is CUDA 13's: it needs the headers of CUDA 13 or later"
#endif

namespace warpgrade::cudart {

namespace wire = device::wire;
using device::wire::Op;
using device::wire::Reader;
using device::wire::Writer;

// Rows of host memory: `pitch` apart.
struct HostRows {
    std::byte* data = nullptr;
    std::size_t pitch = 0;
};

// The caller must hold mutex(). No function throws wire::ProtocolError: a broken server is an error code.
class Connection {
  public:
    // It is never destroyed, since destructors of the program may still call the runtime.
    static Connection& get();

    std::recursive_mutex& mutex() { return mutex_; }

    // Connects on first use. Errors: no device, a dead context, a lost server.
    cudaError_t ready();
    // Sends one request. Results of a successful reply go to `results`.
    cudaError_t call(Op op, const Writer& arguments, std::vector<std::byte>* results = nullptr);
    cudaError_t call(Op op) { return call(op, Writer()); }
    // The same for a reply with a file to map.
    cudaError_t call_for_file(Op op, const Writer& arguments, std::vector<std::byte>& results,
                              device::Descriptor& file);
    // Device memory; `origin` is the CUDA function.
    cudaError_t allocate(std::uint64_t bytes, const char* origin, std::uint64_t& address);
    cudaError_t free(std::uint64_t address);
    // Transfers, split into pieces if they are large.
    cudaError_t write(const wire::Region& region, const wire::Transfer& transfer, HostRows source);
    cudaError_t read(const wire::Region& region, const wire::Transfer& transfer, HostRows destination);
    cudaError_t load_module(const std::byte* image, std::size_t bytes, std::uint32_t& module);
    // Takes one field of a reply; a short reply counts as a broken server.
    template <class T>
    cudaError_t call_for(Op op, const Writer& arguments, T& result) {
        std::vector<std::byte> results;
        if (const cudaError_t status = call(op, arguments, &results); status != cudaSuccess) return status;
        return take(results, [&](Reader& reader) { result = reader.get<T>(); });
    }
    template <class Body>
    cudaError_t take(const std::vector<std::byte>& results, Body&& body) {
        try {
            Reader reader(results);
            body(reader);
            return cudaSuccess;
        } catch (const wire::ProtocolError& failure) {
            return lose(failure.what());
        }
    }

    [[nodiscard]] const device::DeviceProperties& properties() const { return properties_; }  // once ready()
    // True for all addresses of device memory, live or not.
    [[nodiscard]] bool is_device_address(const void* pointer) const {
        const auto address = reinterpret_cast<std::uintptr_t>(pointer);
        return address >= device_begin_ && address < device_end_;
    }
    [[nodiscard]] std::uint32_t last_request() const { return sequence_; }
    // What the server said of the last request that failed.
    [[nodiscard]] const std::string& refusal() const { return refusal_; }
    // Tells the device server that host code used a device address and crashes. For signal handlers: takes no lock and
    // no memory. Does nothing in the middle of a request or if the address is not the device's.
    void tell_host_fault(std::uint64_t address, bool writes, std::uint64_t code) noexcept;
    // Host code used a protected page of managed memory. Returns true if the page is open now. For signal handlers.
    bool open_page(std::uint64_t address, bool writes, std::uint64_t code) noexcept;
    // Tells the device server that the program ends, unless another thread is in the middle of a request. If it does
    // not end `in_good_order`, only sends what is posted.
    void leave(bool in_good_order) noexcept;
    // As on a real GPU, no device is available after cudaDeviceReset in a dead context.
    cudaError_t reset();

  private:
    cudaError_t open();
    cudaError_t lose(const char* reason);
    // `later`: send it together with the next one.
    std::uint32_t send(Op op, const Writer& arguments, bool later = false);
    void send_frame(const wire::Header& header, const std::byte* payload, bool later = false);
    // Sends what is unsent, and `data` after it.
    void flush(std::span<const std::byte> data = {});
    // The bytes stay valid until the next frame is received.
    std::span<const std::byte> receive_frame(wire::Header& header);
    cudaError_t receive_reply(Op op, std::uint32_t sequence, std::span<const std::byte>* results = nullptr);
    // Sends a request that is known to succeed together with the next one. receive_posted() reads its reply.
    cudaError_t post(Op op, const Writer& arguments);
    [[nodiscard]] bool may_post() const;
    void receive_posted();
    bool send_at_once(std::span<const std::byte> frame) noexcept;
    void skip_replies(std::size_t count) noexcept;
    void print_output();
    void tell_host_touches();
    void close_running_pages(Op after);
    // `rows` describes the source, with addresses from 0.
    cudaError_t send_pieces(Op op, const Writer& fields, std::vector<std::byte>* results, const std::byte* source,
                            const wire::Region& rows);

    // Counts a request in progress.
    class Busy {
      public:
        explicit Busy(Connection& connection) : connection_(connection) { ++connection_.busy_; }
        ~Busy() { --connection_.busy_; }
        Busy(const Busy&) = delete;
        Busy& operator=(const Busy&) = delete;

      private:
        Connection& connection_;
    };

    enum class State { unopened, open, none, lost, dead };
    std::recursive_mutex mutex_;
    State state_ = State::unopened;
    int descriptor_ = -1;
    std::uint32_t sequence_ = 0;
    std::string refusal_;
    Pipelining pipelining_;
    struct Posted {
        Op op = Op::hello;
        std::uint32_t sequence = 0;
    };
    // The replies must fit into the socket, or the server stops reading.
    static constexpr std::size_t max_posted = 32, max_unsent_bytes = 32 << 10;
    std::vector<Posted> posted_;
    std::thread::id thread_;  // that opened the connection
    std::atomic<int> busy_ = 0;
    pid_t process_ = 0;                                      // that opened the connection; its children do not own it
    bool output_waiting_ = false, kernels_running_ = false;  // flags of the last reply
    HostTouches host_touches_;
    static constexpr int max_printed_refusals = 8;
    int printed_refusals_ = 0;
    cudaError_t fault_ = cudaSuccess;
    device::DeviceProperties properties_;
    std::uintptr_t device_begin_ = 0, device_end_ = 0;
    std::vector<std::byte> unsent_;
    wire::FrameBuffer received_;
    bool frame_taken_ = false;          // the first frame of received_ was read
    device::Descriptor received_file_;  // of the replies since the last request
};

}  // namespace warpgrade::cudart
