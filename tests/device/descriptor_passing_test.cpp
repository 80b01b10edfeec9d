// Descriptors that travel with messages: as many as are asked for arrive, no other stays open, and who sent them.
#include "device/descriptor_passing.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <utility>
#include <vector>

#include "device/sealed_file.hpp"
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

TEST_CASE("of descriptors beyond a message's number, none stays open") {
    const Pair pair;
    constexpr std::size_t many = 20;
    const auto before = open_files();
    auto bytes = message();
    iovec data{bytes.data(), bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(many * sizeof(int))] = {};
    msghdr sent{};
    sent.msg_iov = &data, sent.msg_iovlen = 1, sent.msg_control = control, sent.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&sent);
    header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(many * sizeof(int));  // of standard input, whose number is 0
    REQUIRE(sendmsg(pair.ours.get(), &sent, 0) == 4);
    std::vector<Descriptor> taken;
    const auto take = [&](Descriptor&& each) { taken.push_back(std::move(each)); };
    CHECK(receive_descriptors(pair.theirs.get(), bytes, 1000, take) == 4);
    CHECK(taken.size() == max_passed_descriptors);
    CHECK(open_files() == before + taken.size());
}

TEST_CASE("a descriptor is closed once, by who has it") {
    const auto is_open = [](int number) { return fcntl(number, F_GETFD) >= 0; };
    const int saved = fcntl(0, F_DUPFD_CLOEXEC, 3);
    Descriptor zero(0);
    CHECK(zero);
    Descriptor moved(std::move(zero));
    zero.reset();
    CHECK((zero.get() == -1 && !zero && is_open(0)));
    moved.reset();
    CHECK((moved.get() == -1 && !is_open(0)));
    REQUIRE(dup2(saved, 0) == 0);
    moved.reset();
    CHECK(is_open(0));
    Descriptor copy(saved);
    CHECK(copy.release() == saved);
    CHECK((copy.get() == -1 && is_open(saved)));
    { const Descriptor last(saved); }
    CHECK_FALSE(is_open(saved));
    CHECK(Descriptor().get() == -1);
}

TEST_CASE("a file to share with the program keeps its size") {
    const Descriptor file = sealed_file(4096);
    CHECK(fcntl(file.get(), F_GET_SEALS) == (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
    CHECK(fcntl(file.get(), F_GETFD) == FD_CLOEXEC);
    struct stat status {};
    REQUIRE(fstat(file.get(), &status) == 0);
    CHECK(status.st_size == 4096);
    try {
        sealed_file(UINT64_MAX);
        FAIL("no error");
    } catch (const DeviceError& refused) {
        CHECK(refused.code == error::memory_allocation);
    }
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
