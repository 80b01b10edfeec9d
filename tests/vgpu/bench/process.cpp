#include "process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>

#include "device/protocol.hpp"

namespace warpgrade::vgpu::bench {
namespace {

// An owned descriptor, closed in children unless passed on.
class Descriptor {
  public:
    explicit Descriptor(int number = -1) : number_(number) {}
    ~Descriptor() { reset(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    void reset(int number = -1) {
        if (number_ >= 0) ::close(number_);
        number_ = number;
    }
    [[nodiscard]] int get() const { return number_; }

  private:
    int number_;
};

struct Ends {
    Descriptor ours, theirs;
};

void open_sockets(Ends& e) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair");
    e.ours.reset(ends[0]);
    e.theirs.reset(ends[1]);
}

pid_t start(std::vector<std::string> arguments, const std::vector<std::pair<int, int>>& descriptors,
            std::string setting = {}) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    std::vector<int> out_of_the_way;
    for (const auto& [from, to] : descriptors) out_of_the_way.push_back(::fcntl(from, F_DUPFD_CLOEXEC, 100));
    for (std::size_t i = 0; i < descriptors.size(); ++i)
        posix_spawn_file_actions_adddup2(&actions, out_of_the_way[i], descriptors[i].second);
    std::vector<char*> argv, environment;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    if (!setting.empty()) environment.push_back(setting.data());
    environment.push_back(nullptr);
    pid_t pid = 0;
    const int status = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    for (const int d : out_of_the_way) ::close(d);
    if (status != 0) throw std::runtime_error("cannot start " + arguments[0]);
    return pid;
}

void finish(pid_t pid, const std::string& what, rusage* used) {
    int status = 0;
    if (::wait4(pid, &status, 0, used) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw std::runtime_error(what + " failed");
}

}  // namespace

WholePath run_program(const std::string& server, const std::string& program, const std::vector<std::string>& arguments,
                      unsigned threads) {
    using Clock = std::chrono::steady_clock;
    Ends control, client, output;
    open_sockets(control);
    open_sockets(client);
    open_sockets(output);
    const auto begin = Clock::now();
    const pid_t server_pid =
        start({server, "--threads", std::to_string(threads), "--client-fd", "4", "--control-fd", "3"},
              {{control.theirs.get(), 3}, {client.theirs.get(), 4}});
    std::vector<std::string> command{program};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const pid_t program_pid = start(command, {{output.theirs.get(), 1}, {client.ours.get(), 5}},
                                    std::string(device::wire::descriptor_variable) + "=5");
    for (Ends* e : {&control, &client, &output}) e->theirs.reset();
    client.ours.reset();
    WholePath result;
    char byte = 0;
    if (::read(output.ours.get(), &byte, 1) == 1)
        result.first_kernel_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    rusage used{};
    finish(program_pid, program, nullptr);
    const std::string goodbye = "{\"op\":\"shutdown\"}\n";
    if (::send(control.ours.get(), goodbye.data(), goodbye.size(), MSG_NOSIGNAL) < 0) throw std::runtime_error("send");
    finish(server_pid, server, &used);
    result.server_peak_bytes = static_cast<double>(used.ru_maxrss) * 1024;
    return result;
}

}  // namespace warpgrade::vgpu::bench
