// Descriptors that travel with messages: as many as are asked for arrive, no other stays open, and who sent them.
#include "device/descriptor_passing.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <utility>
#include <vector>

#include "judge/catch.hpp"

namespace warpgrade::device {
namespace {

struct Pair {
    Descriptor ours, theirs;
    Pair() {
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
        ours = Descriptor(ends[0]);
        theirs = Descriptor(ends[1]);
    }
};

std::size_t open_files() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::array<std::byte, 4> message() { return {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}}; }

}  // namespace

TEST_CASE("descriptors arrive as far as there is room, and the others are closed") {
    const Pair pair;
    const bool with_sender = GENERATE(false, true);
    const std::size_t most = GENERATE(1, 2, 8);
    const std::vector<int> sent(GENERATE(0, 1, 3, 8), STDIN_FILENO);
    const auto bytes = message();
    const auto before = open_files();
    const int on = with_sender ? 1 : 0;
    REQUIRE(setsockopt(pair.theirs.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0);
    REQUIRE(send_message(pair.ours.get(), bytes, sent) == 4);
    std::vector<Descriptor> taken;
    std::array<std::byte, 4> got{};
    pid_t sender = 0;
    const auto take = [&](Descriptor&& each) { taken.push_back(std::move(each)); };
    CHECK(receive_descriptors(pair.theirs.get(), got, most, take, 0, with_sender ? &sender : nullptr) == 4);
    CHECK(got == bytes);
    CHECK(taken.size() == std::min(most, sent.size()));
    CHECK(open_files() == before + taken.size());
    CHECK(sender == (with_sender ? getpid() : 0));
}

TEST_CASE("more descriptors than a message can have are refused") {
    const Pair pair;
    const std::vector<int> sent(max_passed_descriptors + 1, STDIN_FILENO);
    errno = 0;
    CHECK(send_message(pair.ours.get(), message(), sent) == -1);
    CHECK(errno == EINVAL);
}

TEST_CASE("received descriptors replace the first of those given") {
    const Pair pair;
    const std::array<int, 1> sent{STDIN_FILENO};
    REQUIRE(send_message(pair.ours.get(), message(), sent) == 4);
    std::array<Descriptor, 2> files;
    std::array<std::byte, 4> got{};
    CHECK(receive_message(pair.theirs.get(), got, files) == 4);
    CHECK(files[0]);
    CHECK_FALSE(files[1]);
}

}  // namespace warpgrade::device
