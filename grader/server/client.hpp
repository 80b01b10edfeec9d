// One worker's connection (untrusted) to a device of its own: its socket, its session, and what is recorded of it. The
// worker may send anything at any pace or vanish.
#pragma once

#include <poll.h>

#include <cerrno>
#include <string>

#include "device/device.hpp"
#include "device/frame_buffer.hpp"
#include "server/journal.hpp"
#include "server/origin_log.hpp"
#include "server/session.hpp"

namespace warpgrade::device {

// Whether a call on a socket is to be tried again later, by what errno says.
inline bool is_to_try_again(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

class Client {
  public:
    // Takes the descriptor over. `order_streams`: racecheck between streams. `wait_for_take`: a worker that has filled
    // the journal waits until it is taken; without it, its launches are refused.
    Client(Device& device, int fd, bool order_streams, bool wait_for_take);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    [[nodiscard]] bool connected() const { return fd_ >= 0; }
    [[nodiscard]] int fd() const { return fd_; }
    // What to poll for; 0: nothing. A frame that is complete is not waited for.
    [[nodiscard]] short events() const;
    [[nodiscard]] bool has_frame() const { return events() == POLLIN && input_.ready(); }
    // One round: what can be sent, else one frame, or a few that are little work.
    void serve();

    // The call that the judge made has returned.
    void end_call();
    // What happened since the last one. `finish`: the device is idle from here on.
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
    std::size_t sent_ = 0;  // bytes of the session's output that are gone
};

}  // namespace warpgrade::device
