#include "sandbox/plain.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "sandbox/apply_filter.hpp"
#include "sandbox/capabilities.hpp"
#include "sandbox/seccomp_filter.hpp"
#include "sandbox/spawner.hpp"

namespace warpgrade::sandbox {
namespace {

// Below the limit of descriptors, above all requested numbers.
constexpr int last_filter_fd = 200;

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

// The command's descriptors replace those with low numbers.
int move_high(int fd) {
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, 64);
    if (high < 0) fail("descriptors");
    close(fd);
    return high;
}

// Copies the program into memory, since the run's user may not be allowed to read the file.
int copy_program(const std::string& path) {
    const int source = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (source < 0 || fstat(source, &status) != 0) fail("cannot read " + path);
    const int copy = memfd_create("program", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (copy < 0) fail("memfd_create");
    for (off_t at = 0; at < status.st_size;)
        if (sendfile(copy, source, &at, static_cast<std::size_t>(status.st_size - at)) <= 0) fail("copying " + path);
    close(source);
    if (fcntl(copy, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) fail("sealing");
    return copy;
}

// A program is started from its descriptor with an empty path, and the filter allows only one address for the path. The
// address is random, and unmapped when the program runs.
const char* map_empty_path() {
    std::uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random) fail("getrandom");
    // A page of the lower 2^46 bytes, where the kernel puts nothing by itself.
    const std::uintptr_t address = (random & 0x3fff'ffff'f000) | 0x1000'0000'0000;
    void* const page = mmap(reinterpret_cast<void*>(address), 4096, PROT_READ,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (page != reinterpret_cast<void*>(address)) fail("mmap");
    return static_cast<const char*>(page);
}

}  // namespace

PlainSandbox::PlainSandbox(const Options& options) : options_(options) {
    if (landlock_version() == 0)
        throw std::runtime_error("the kernel has no Landlock (Linux 5.13), or it is switched off");
    if (options.profile == Profile::compile) {
        filter_ = read_filter(plain_program(options.profile, nullptr));
        return;
    }
    const auto given = std::ranges::find(options.files, options.command[0], &PathPair::second);
    if (given != options.files.end()) {
        program_ = move_high(copy_program(given->first));
    } else {
        const int program = open(options.command[0].c_str(), O_RDONLY | O_CLOEXEC);
        if (program < 0) fail("cannot run " + options.command[0]);
        program_ = move_high(program);
    }
    empty_ = map_empty_path();
    filter_ = read_filter(plain_program(options.profile, empty_));
    if (options.profile == Profile::device) last_filter_ = move_high(last_plain_program());
}

std::vector<FileRule> PlainSandbox::rules() const {
    using enum FileRule::Access;
    if (options_.profile == Profile::worker) return {};
    std::vector<FileRule> rules;
    if (options_.profile == Profile::device) rules.push_back({"/usr", read_and_execute});
    for (const char* folder : {"bin", "sbin", "lib", "lib32", "lib64", "libx32"}) {
        rules.push_back({std::string("/") + folder, read_and_execute});
        rules.push_back({std::string("/usr/") + folder, read_and_execute});
    }
    for (const char* path : {"/usr/libexec", "/usr/include"}) rules.push_back({path, read_and_execute});
    for (const char* path : {"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"})
        rules.push_back({path, read});
    if (options_.profile == Profile::compile) rules.push_back({"/dev/null", write});
    for (const auto& [source, target] : options_.read_only) rules.push_back({source, read_and_execute});
    for (const auto& [source, target] : options_.files) rules.push_back({source, read_and_execute});
    for (const auto& [source, target] : options_.writable) rules.push_back({source, all});
    return rules;
}

void PlainSandbox::run(std::vector<std::string> environment) const {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    give_up_files(rules());
    drop_capabilities(false);
    if (last_filter_ >= 0) {
        if (dup2(last_filter_, last_filter_fd) < 0) fail("descriptors");
        environment.push_back(std::string(last_filter_variable) + '=' + std::to_string(last_filter_fd));
    }
    auto command = options_.command;
    for (const auto& [source, target] : options_.files)
        if (command[0] == target) command[0] = source;
    const auto arguments = null_terminated(program_ >= 0 ? options_.command : command),
               variables = null_terminated(environment);
    apply_filter(filter_);
    if (program_ >= 0)
        syscall(SYS_execveat, program_, empty_, arguments.data(), variables.data(), AT_EMPTY_PATH);
    else
        execvpe(arguments[0], arguments.data(), variables.data());
    fail("cannot run " + options_.command[0]);
}

}  // namespace warpgrade::sandbox
