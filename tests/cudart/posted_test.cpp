// The requests that a worker waits for, seen from the device server.
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cudart/client/pipelining.hpp"
#include "device/fields.hpp"
#include "device/frame_buffer.hpp"
#include "judge/catch.hpp"

using namespace warpgrade::device;
using wire::Op;

extern "C" {
int cudaMalloc(void** pointer, std::size_t bytes);
int cudaFree(void* pointer);
int cudaMemcpy(void* destination, const void* source, std::size_t bytes, int kind);
int cudaMemset(void* destination, int value, std::size_t bytes);
void warpgrade_end_call();
// What makes a program a worker.
void warpgrade_report_crash(int, siginfo_t*, void*) { std::abort(); }
}

namespace {

constexpr int to_device = 1, to_host = 2, devices_unavailable = 46;
constexpr std::uint64_t memory = std::uint64_t{7} << 40;

// A device that does nothing: it answers and keeps which requests came together.
class AnsweringDevice {
  public:
    AnsweringDevice() {
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
        ::setenv(wire::descriptor_variable, std::to_string(ends[0]).c_str(), 1);
        socket_ = ends[1];
        thread_ = std::thread([this] { serve(); });
    }
    ~AnsweringDevice() {
        ::shutdown(socket_, SHUT_RDWR);
        thread_.join();
        ::close(socket_);
    }
    AnsweringDevice(const AnsweringDevice&) = delete;
    AnsweringDevice& operator=(const AnsweringDevice&) = delete;

    // The requests since the last time, with "|" where the worker waited.
    std::string take() { return std::exchange(log_, {}); }
    // The data of the last large copy.
    [[nodiscard]] const std::vector<std::byte>& data() const { return data_; }
    std::atomic<bool> fails = false;

  private:
    void serve() {
        wire::FrameBuffer frames;
        for (;;) {
            const auto room = frames.free_space();
            const ssize_t got = ::recv(socket_, room.data(), room.size(), 0);
            if (got <= 0) return;
            frames.commit(static_cast<std::size_t>(got));
            std::string names;
            std::vector<std::byte> replies;
            for (; frames.has_frame(); frames.pop()) {
                names += std::string(names.empty() ? "" : " ") + wire::ops.at(index(frames.header().op)).name;
                answer(frames.header(), frames.payload(), replies);
            }
            if (names.empty()) continue;
            log_ += (log_.empty() ? "" : " | ") + names;
            if (::send(socket_, replies.data(), replies.size(), MSG_NOSIGNAL) < 0) return;
        }
    }
    static std::size_t index(Op op) { return static_cast<std::size_t>(op); }
    void answer(wire::Header request, std::span<const std::byte> payload, std::vector<std::byte>& replies) {
        if (request.op == Op::data) {
            data_.insert(data_.end(), payload.begin(), payload.end());
            if (data_.size() < expected_) return;
            request.op = Op::write;
        } else if (request.op == Op::write) {
            wire::Reader fields(payload);
            data_.clear(), expected_ = wire::Region::get(fields).bytes();
        }
        wire::Writer results;
        results.put(std::int32_t{fails ? 1 : 0});
        if (fails) results.put_string("no");
        if (request.op == Op::hello) {
            wire::put(results, DeviceProperties());
            results.put(memory).put(2 * memory);
        }
        if (request.op == Op::allocate) results.put(next_ += 4096);
        if (request.op == Op::read) results.put(std::uint32_t{0});
        wire::Header header = request;
        header.size = static_cast<std::uint32_t>(results.bytes().size());
        const auto bytes = std::as_bytes(std::span(&header, 1));
        replies.insert(replies.end(), bytes.begin(), bytes.end());
        replies.insert(replies.end(), results.bytes().begin(), results.bytes().end());
    }

    int socket_ = -1;
    std::uint64_t next_ = memory;
    std::string log_;
    std::vector<std::byte> data_;
    std::size_t expected_ = 0;
    std::thread thread_;
};

// Memory that is readable only after a first attempt.
constexpr std::size_t protected_bytes = 8192;
std::byte* protected_memory = nullptr;
int faults = 0;
void unprotect(int, siginfo_t*, void*) {
    ++faults;
    if (::mprotect(protected_memory, protected_bytes, PROT_READ) != 0) std::abort();
}

void* allocate(std::size_t bytes) {
    void* pointer = nullptr;
    REQUIRE(cudaMalloc(&pointer, bytes) == 0);
    return pointer;
}

}  // namespace

// One case, since a process has one connection. The worker reads the device's log only after a reply.
TEST_CASE("a worker waits only for what may fail, and for its requests before a call ends") {
    AnsweringDevice device;
    std::vector<std::byte> data(40'000);
    int value = 0;
    void *one = allocate(4000), *two = allocate(40'000);
    CHECK(device.take() == "hello | allocate | allocate");

    CHECK(cudaMemcpy(one, data.data(), 4000, to_device) == 0);
    CHECK(cudaMemcpy(static_cast<std::byte*>(one) + 8, data.data(), 3992, to_device) == 0);
    CHECK(cudaMemset(one, 0, 4) == 0);
    CHECK(device.take() == "write write fill");
    CHECK(cudaFree(one) == 0);
    CHECK(cudaMemcpy(two, data.data(), 4, to_device) == 0);
    CHECK(cudaMemcpy(&value, two, 4, to_host) == 0);
    CHECK(device.take() == "free_memory write read");

    // It waits for large copies, and for those beyond an allocation or without one.
    CHECK(cudaMemcpy(two, data.data(), 40'000, to_device) == 0);
    CHECK(device.take() == "write");
    CHECK(cudaMemcpy(static_cast<std::byte*>(two) + 1, data.data(), 40'000, to_device) == 0);
    CHECK(cudaMemcpy(static_cast<std::byte*>(two) + 39'999, data.data(), 2, to_device) == 0);
    CHECK(cudaMemcpy(one, data.data(), 4, to_device) == 0);
    CHECK(cudaFree(one) == 0);
    CHECK(cudaFree(static_cast<std::byte*>(two) + 4) == 0);
    CHECK(device.take() == "write | write | write | free_memory | free_memory");

    // Many in a row do not fill the socket.
    for (int i = 0; i < 70; ++i) CHECK(cudaMemcpy(two, data.data(), 4, to_device) == 0);
    warpgrade_end_call();
    const std::string many = device.take();
    CHECK(std::ranges::count(many, 'w') == 70);
    CHECK(std::ranges::count(many, '|') == 2);

    // Large copies go in pieces, and read memory as the program would.
    constexpr std::size_t large = (3 << 20) - 12;
    auto* const source =
        static_cast<std::byte*>(::mmap(nullptr, 3 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (std::size_t i = 0; i < large; ++i) source[i] = static_cast<std::byte>(i % 251);
    const std::vector<std::byte> copy(source, source + large);
    protected_memory = source + (3 << 19);
    REQUIRE(::mprotect(protected_memory, protected_bytes, PROT_NONE) == 0);
    struct sigaction action {
    }, before{};
    action.sa_sigaction = unprotect, action.sa_flags = SA_SIGINFO;
    REQUIRE(::sigaction(SIGSEGV, &action, &before) == 0);
    void* all = allocate(large);
    CHECK(cudaMemcpy(all, source, large, to_device) == 0);
    CHECK(::sigaction(SIGSEGV, &before, nullptr) == 0);
    CHECK(faults == 1);
    CHECK(device.data() == copy);

    void *three = allocate(4), *four = allocate(4);
    device.take();
    CHECK(cudaFree(two) == 0);
    CHECK(cudaFree(three) == 0);
    warpgrade_end_call();
    CHECK(device.take() == "free_memory free_memory");
    warpgrade_end_call();
    CHECK(device.take().empty());

    // If a posted request fails, the device is lost.
    device.fails = true;
    CHECK(cudaFree(four) == 0);
    warpgrade_end_call();
    CHECK(cudaMalloc(&four, 4) == devices_unavailable);
    CHECK(cudaFree(four) == devices_unavailable);
}

TEST_CASE("nothing is foreseen after a launch until something waits, nor after what is unusual") {
    warpgrade::cudart::Pipelining pipelining;
    const auto writes = [&](std::uint64_t address, std::uint64_t bytes) {
        return pipelining.can_write(wire::Region::range(address, bytes), wire::Transfer{});
    };
    pipelining.record_allocation(4096, 100);
    pipelining.record_allocation(8192, 100);
    CHECK(writes(4096, 100));
    CHECK(writes(4196, 0));
    CHECK_FALSE(writes(4096, 101));
    CHECK_FALSE(writes(4095, 2));
    CHECK_FALSE(writes(4197, 0));
    CHECK_FALSE(writes(4100, UINT64_MAX - 3));
    CHECK_FALSE(pipelining.can_write({4096, 50, 10, 2}, wire::Transfer{}));
    CHECK_FALSE(pipelining.can_write(wire::Region::range(4096, 4), wire::Transfer{1}));
    CHECK_FALSE(pipelining.can_write(wire::Region::range(4096, 4), wire::Transfer{0, false}));
    CHECK_FALSE(pipelining.can_write(wire::Region::range(4096, 4), wire::Transfer{0, true, memory}));
    SECTION("a launch") {
        pipelining.record_request(Op::launch);
        pipelining.record_reply(Op::launch, true);
        CHECK_FALSE(writes(4096, 4));
        pipelining.record_reply(Op::memory_info, true);
        CHECK_FALSE(writes(4096, 4));
        pipelining.record_reply(Op::synchronize_device, true);
        CHECK(writes(4096, 4));
        CHECK(pipelining.record_free(4096));
        CHECK_FALSE(pipelining.record_free(4096));
        CHECK_FALSE(writes(4096, 4));
        CHECK(writes(8192, 4));
        pipelining.record_request(Op::launch);
        CHECK_FALSE(pipelining.record_free(8192));
    }
    SECTION("a stream") { pipelining.record_request(Op::create_stream); }
    SECTION("memory that the host sees") { pipelining.record_request(Op::allocate_host); }
    SECTION("a managed variable") { pipelining.record_request(Op::share_symbol); }
    SECTION("an error") { pipelining.record_reply(Op::launch, false); }
    SECTION("another thread") { pipelining.stop(); }
    pipelining.record_reply(Op::synchronize_device, true);
    CHECK_FALSE(pipelining.record_free(8192));
}
