// The device server's loop: one worker's socket (untrusted) and the judge's control socket (trusted), one device. The
// worker may send anything at any pace or vanish; the judge is still answered.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "device/frame_buffer.hpp"
#include "server/journal.hpp"
#include "server/origin_log.hpp"
#include "server/session.hpp"
#include "server/timeline.hpp"

namespace warpgrade::device {

struct ServerOptions {
    // What to do with a worker that has filled the journal: let it wait until the judge takes it, or refuse its
    // launches.
    bool wait_for_take = false;
    bool order_streams = true;  // racecheck between streams
};

class Server {
  public:
    // Takes both descriptors over.
    Server(Device& device, int client_fd, int control_fd, ServerOptions options = {});
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Serves until the judge says shutdown or closes the control socket.
    void run();

  private:
    void serve_client();
    bool receive_client();  // false when nothing more is there
    bool send_client();     // false when the socket is full
    void close_client(const std::string& reason);
    void notice_end();
    bool serve_control();  // false to end
    // The answer to a line of the judge's.
    std::string answer(const std::string& line);
    std::string take(const nlohmann::json& request);
    void send_control(std::string_view answer);

    Device& device_;
    ServerOptions options_;
    Journal journal_;
    Timeline timeline_;
    OriginLog origin_;
    std::optional<Session> session_;
    int client_fd_, control_fd_;
    wire::FrameBuffer input_;  // of the worker
    std::size_t sent_ = 0;     // bytes of the session's output that are gone
    std::string control_input_;
    std::array<Descriptor, 3> control_files_;  // came with the last request
    bool shutdown_ = false;
};

}  // namespace warpgrade::device
