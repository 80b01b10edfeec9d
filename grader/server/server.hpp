// The device server's loop: the judge's control socket (trusted), and one worker with its device. A second worker, the
// replay, makes the same calls on a device of its own, so that what both asked for can be compared. The judge is
// answered whatever they do.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "device/descriptor.hpp"
#include "device/device.hpp"
#include "server/client.hpp"

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

    // Serves the replay as well. Takes the descriptor over.
    void add_replay(Device& device, int fd);

    // Serves until the judge says shutdown or closes the control socket.
    void run();

  private:
    bool serve_control();  // false to end
    // The answer to a line of the judge's.
    std::string answer(const std::string& line);
    std::string take(const nlohmann::json& request);
    void end_replay(bool forget);
    void send_control(std::string_view answer);

    Device& device_;
    Client client_;
    std::optional<Client> replay_;
    int control_fd_;
    std::string control_input_;
    std::array<Descriptor, 2> control_files_;  // came with the last request
    bool shutdown_ = false;
};

}  // namespace warpgrade::device
