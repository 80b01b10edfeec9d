#include "gpu/printed_output.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include "device/record_limits.hpp"

namespace warpgrade::gpu {

PrintedOutput::PrintedOutput()
    : file_(::memfd_create("printed", MFD_CLOEXEC)), before_(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
    std::fflush(stdout);
    if (!file_ || ::dup2(file_.get(), STDOUT_FILENO) < 0)
        throw std::system_error(errno, std::generic_category(), "a file for what kernels print");
}

PrintedOutput::~PrintedOutput() {
    std::fflush(stdout);
    if (before_) ::dup2(before_.get(), STDOUT_FILENO);
}

device::PrintedText PrintedOutput::take() {
    std::fflush(stdout);
    const off_t end = ::lseek(file_.get(), 0, SEEK_CUR);
    if (end <= 0) return {};
    device::PrintBuffer text(device::RecordLimits::max_output_bytes);
    std::string piece(1 << 16, '\0');
    for (off_t at = 0; at < end;) {
        const ssize_t got = ::pread(file_.get(), piece.data(), piece.size(), at);
        if (got <= 0) break;
        text.add(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
        at += got;
    }
    ::lseek(file_.get(), 0, SEEK_SET);
    if (::ftruncate(file_.get(), 0) != 0)
        throw std::system_error(errno, std::generic_category(), "a file for what kernels print");
    return text.take();
}

}  // namespace warpgrade::gpu
