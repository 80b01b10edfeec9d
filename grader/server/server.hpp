// The device server's loop. It serves the judge's control socket, which is trusted, and one worker with its device. A
// second worker, the replay, makes the same calls on its own device, so that the requests of both can be compared. The
// judge gets its answers whatever the workers do.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "device/descriptor.hpp"
#include "device/device.hpp"
#include "server/client.hpp"

namespace warpgrade::server {

struct ServerOptions {
    bool wait_for_take = false;  // when the journal is full, the worker waits; else its launches are refused
    bool order_streams = true;   // racecheck between streams
};

// The sockets of a session. `replay` may be missing.
struct Sockets {
    Descriptor client, control, replay;
};

class Server {
  public:
    // Owns both descriptors.
    Server(Device& device, int client_fd, int control_fd, ServerOptions options = {});
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Owns the descriptor.
    void add_replay(Device& device, int fd);

    // Serves until the judge says shutdown, asks for another session, or closes the control socket. Returns the
    // sockets of that session. What comes from this one must not outlive it: the caller makes a new server and devices.
    std::optional<Sockets> run();
    // Tells the judge, who asked for it, that this session can begin.
    void confirm_renewal();

  private:
    bool serve_control();  // returns false to end
    std::string answer(const std::string& line);
    std::string take(const nlohmann::json& request);
    void end_replay(bool forget);
    void send_control(std::string_view answer);

    Device& device_;
    Client client_;
    std::optional<Client> replay_;
    Descriptor control_;
    std::string control_input_;
    std::array<Descriptor, 2> control_files_;  // of the last request
    bool shutdown_ = false, renew_ = false;
};

}  // namespace warpgrade::server
