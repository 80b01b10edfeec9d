// A worker's connection when the device behind it breaks between two frames.
#include "server/client.hpp"

#include <stdexcept>

#include "server/session_fixture.hpp"

using namespace warpgrade::server;
using namespace warpgrade::server::testing;

TEST_CASE(
    "a device that breaks while a large copy is under way closes the connection, and is the server's own trouble") {
    class Breaking : public FakeDevice {
      public:
        using FakeDevice::read;
        void read(DevicePtr /*source*/, std::span<std::byte> /*destination*/) override {
            throw std::runtime_error("the memory is gone");
        }
    } device;
    const SocketPair sockets;
    Client client(device, sockets.theirs, true, false);
    RawClient worker(sockets.ours);
    worker.send_frame(Op::allocate, 1, wire::Writer().put(std::uint64_t{4} << 20).put_string("test").bytes());
    client.serve();
    const auto address = worker.receive().first<DevicePtr>();
    worker.send_frame(Op::read, 2, RawClient::transfer(wire::Region::range(address, 4 << 20)).bytes());
    client.serve();
    CHECK_FALSE(client.connected());
    const Report report = client.take(true);
    CHECK(report.internal_error == "device server: the memory is gone");
    CHECK_FALSE(report.connected);
    REQUIRE(report.call_errors.size() == 1);
    CHECK(
        (report.call_errors[0].operation == "protocol" && report.call_errors[0].message == "the device server failed"));
}
