// One worker's connection to its own device: its socket, session and records. The worker is untrusted: it may send
// anything at any pace, or vanish.
#pragma once

#include <poll.h>

#include <cerrno>
#include <string>

#include "device/device.hpp"
#include "device/frame_buffer.hpp"
#include "server/journal.hpp"
#include "server/origin_log.hpp"
#include "server/session.hpp"

namespace warpgrade::server {

// True for the errno values after which a call on a socket can be repeated.
inline bool is_retryable(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

class Client {
  public:
    // Owns the descriptor. `order_streams`: racecheck between streams. When the journal is full, a worker waits until
    // the judge takes it (`wait_for_take`), or its launches are refused.
    Client(Device& device, int fd, bool order_streams, bool wait_for_take);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    [[nodiscard]] bool connected() const { return fd_ >= 0; }
    [[nodiscard]] int fd() const { return fd_; }
    // The events to poll for; 0 if none.
    [[nodiscard]] short events() const;
    [[nodiscard]] bool has_frame() const { return events() == POLLIN && input_.has_frame(); }
    // One round: sends what the socket accepts, or else handles one frame, or several posted ones.
    void serve();

    void end_call();
    // What happened since the last take. `finish`: the device is idle from here on.
    Report take(bool finish);
    [[nodiscard]] OriginLog& origin() { return origin_; }
    [[nodiscard]] Migrations& migrations() { return session_.migrations(); }

  private:
    bool receive();  // false when nothing more is there
    bool send();     // false when the socket is full
    void close(const std::string& reason);

    bool wait_for_take_;
    Journal journal_;
    Device& device_;
    OriginLog origin_;
    Session session_;
    int fd_;
    wire::FrameBuffer input_;
    std::size_t sent_ = 0;  // bytes of the session's output
};

}  // namespace warpgrade::server
