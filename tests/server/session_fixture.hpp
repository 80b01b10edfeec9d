// A device server on a thread, with a raw client that can send anything and a judge's control socket.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>

#include "device/fake_device.hpp"
#include "device/fields.hpp"
#include "device/protocol.hpp"
#include "judge/catch.hpp"
#include "server/server.hpp"

namespace warpgrade::server::testing {
using namespace device::testing;
using wire::Op, wire::Region, wire::Writer;

struct SocketPair {
    int ours = -1, theirs = -1;
    SocketPair() {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair");
        ours = ends[0], theirs = ends[1];
    }
};

class Judge {
  public:
    explicit Judge(int socket) : socket_(socket) {}
    ~Judge() { ::close(socket_); }
    Judge(const Judge&) = delete;
    Judge& operator=(const Judge&) = delete;

    nlohmann::json ask(const std::string& line) {
        const std::string request = line + "\n";
        if (::send(socket_, request.data(), request.size(), MSG_NOSIGNAL) < 0) throw std::runtime_error("server gone");
        return answer();
    }
    nlohmann::json answer() {
        std::size_t end;
        while ((end = received_.find('\n')) == std::string::npos) {
            char buffer[4096];
            const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
            if (got <= 0) throw std::runtime_error("server gone");
            received_.append(buffer, static_cast<std::size_t>(got));
        }
        const auto reply = nlohmann::json::parse(received_.substr(0, end));
        received_.erase(0, end + 1);
        return reply;
    }
    nlohmann::json take() { return ask(R"({"op":"take"})"); }

  private:
    int socket_;
    std::string received_;
};

// A worker that can send anything.
class RawClient {
  public:
    explicit RawClient(int its_socket) : socket(its_socket) {}
    ~RawClient() { hang_up(); }
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    struct Reply {
        int status = 0;
        std::uint16_t flags = 0;
        std::vector<std::byte> results;
        template <class T>
        T first() const {
            return wire::Reader(results).get<T>();
        }
    };

    void send_raw(std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
            const ssize_t put = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (put <= 0) return;  // the server closed: what follows notices
            bytes = bytes.subspan(static_cast<std::size_t>(put));
        }
    }
    void send_frame(wire::Op op, std::uint32_t number, std::span<const std::byte> payload) {
        wire::Header header;
        header.op = op;
        header.sequence = number;
        header.size = static_cast<std::uint32_t>(payload.size());
        header.code = code;
        send_raw(std::as_bytes(std::span(&header, 1)));
        send_raw(payload);
    }
    // False when the server closed the connection.
    bool receive_raw(std::span<std::byte> bytes) {
        while (!bytes.empty()) {
            const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), 0);
            if (got <= 0) return false;
            bytes = bytes.subspan(static_cast<std::size_t>(got));
        }
        return true;
    }
    Reply receive() {
        std::array<std::byte, sizeof(wire::Header)> bytes;
        if (!receive_raw(bytes)) throw std::runtime_error("closed");
        const auto header = wire::parse_header(bytes);
        Reply reply;
        reply.flags = header.flags;
        reply.results.resize(header.size);
        if (!receive_raw(reply.results)) throw std::runtime_error("closed");
        if (header.op == wire::Op::data) return reply;
        reply.status = wire::Reader(reply.results).get<std::int32_t>();
        reply.results.erase(reply.results.begin(), reply.results.begin() + sizeof(std::int32_t));
        return reply;
    }
    Reply call(wire::Op op, const wire::Writer& arguments = {}) {
        send_frame(op, ++sequence, arguments.bytes());
        return receive();
    }
    bool is_closed() {
        std::byte byte;
        return !receive_raw(std::span(&byte, 1));
    }
    void hang_up() {
        if (socket >= 0) ::close(socket);
        socket = -1;
    }

    // Shorthands.
    DevicePtr allocate(std::uint64_t bytes) {
        return call(wire::Op::allocate, wire::Writer().put(bytes).put_string("test")).first<DevicePtr>();
    }
    FunctionId kernel(const std::string& name) {
        if (module_ == 0)
            module_ = call(wire::Op::load_module, wire::Writer().put(std::uint64_t{1}).put(std::uint8_t{1}))
                          .first<ModuleId>();
        return call(wire::Op::find_function, wire::Writer().put(module_).put_string(name)).first<FunctionId>();
    }
    template <class... Params>
    Reply launch(FunctionId function, std::uint32_t blocks, Params... params) {
        wire::Writer request;
        request.put(function).put(blocks).put(1u).put(1u).put(32u).put(1u).put(1u);
        request.put(std::uint64_t{0}).put(StreamId{0}).put(std::uint8_t{0});
        (request.put(params), ...);
        return call(wire::Op::launch, request);
    }
    static wire::Writer transfer(const wire::Region& region, bool blocking = true) {
        wire::Writer request;
        region.put(request);
        wire::Transfer{0, blocking}.put(request);
        return request;
    }

    int socket;
    std::uint32_t sequence = 0;
    std::uint64_t code = 0;  // where the program calls from

  private:
    ModuleId module_ = 0;
};

class ServerFixture : public RawClient {
  public:
    explicit ServerFixture(const ServerOptions& options = {}) : ServerFixture(SocketPair{}, SocketPair{}, options) {}
    ~ServerFixture() {
        hang_up();
        try {
            judge.ask(R"({"op":"shutdown"})");
        } catch (const std::exception&) {  // a test ended it
        }
        thread_.join();
    }

    FakeDevice device;
    Judge judge;

  private:
    ServerFixture(SocketPair control, SocketPair client, const ServerOptions& options)
        : RawClient(client.ours), judge(control.ours) {
        thread_ = std::thread([=, this] { Server(device, client.theirs, control.theirs, options).run(); });
    }

    std::thread thread_;
};

}  // namespace warpgrade::server::testing
