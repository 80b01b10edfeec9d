// Loaded into a parser with LD_PRELOAD: writes an image of it when it has read the beginning of its input (image.hpp).
//
// It stays in the image: brought back, the parser goes on in the call in which it asked for more of its input. Of the
// standard library it uses what the parser has loaded anyway, the C library.
#include <asm/prctl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "resume/image.hpp"
#include "resume/preprocessed.hpp"

namespace warpgrade::resume {
namespace {

constexpr std::uint64_t shortest_gap = 16 * page;  // of zeros between two segments: each costs a call
constexpr int failed = 97;                         // the status of a parser that could not be recorded

struct Input {
    int descriptor = -1;
    off64_t position = 0;
    off64_t beginning = 0;  // bytes up to the end of the last header
    std::size_t kept = 0;   // with the line that comes then
    off64_t moved = 0;      // how much farther they end in the input for which the image is brought back
    const char* image = nullptr;
};
Input input;
bool resumed = false;
int word_count = 0;
char** words = nullptr;

char maps[1 << 18];
Segment segments[most_segments];
Image image;

__attribute__((constructor)) void remember_words(int count, char** values) {
    word_count = count;
    words = values;
}

// --- the image -------------------------------------------------------------------------------------------------------

class Writer {
public:
    explicit Writer(const char* path) : file_(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
        if (file_ < 0) _exit(failed);
    }
    // Returns where it lies.
    std::uint64_t add(const void* bytes, std::uint64_t size) {
        const auto at = end_;
        put(bytes, size, at);
        end_ = (end_ + size + page - 1) / page * page;
        return at;
    }
    void put(const void* bytes, std::uint64_t size, std::uint64_t at) const {
        const auto* from = static_cast<const char*>(bytes);
        while (size > 0) {
            const auto written = pwrite(file_, from, size, static_cast<off_t>(at));
            if (written <= 0) _exit(failed);
            from += written;
            at += static_cast<std::uint64_t>(written);
            size -= static_cast<std::uint64_t>(written);
        }
    }

private:
    int file_;
    std::uint64_t end_ = page;  // after the first comes what has no fixed place
};

void add_segment(const Segment& segment) {
    if (image.segment_count == most_segments) _exit(failed);
    segments[image.segment_count++] = segment;
}

bool is_zero(std::uint64_t address) {
    const auto* words_of_page = reinterpret_cast<const std::uint64_t*>(address);
    return std::all_of(words_of_page, words_of_page + page / sizeof *words_of_page, [](auto word) { return word == 0; });
}

// Adds what lies between two addresses, but for pages of zeros.
void add_content(Writer& writer, std::uint64_t start, std::uint64_t end, int protection) {
    while (true) {
        while (start < end && is_zero(start)) start += page;
        if (start == end) return;
        auto used = start + page;
        for (auto at = used; at < end && at - used < shortest_gap; at += page)
            if (!is_zero(at)) used = at + page;
        const auto size = used - start;
        const auto offset = writer.add(reinterpret_cast<const void*>(start), size);
        add_segment({start, size, offset, protection, Kind::stored});
        start = used;
    }
}

struct Mapping {
    std::uint64_t start = 0, end = 0, offset = 0;
    char permissions[5] = {};
    char path[256] = {};

    [[nodiscard]] bool is(std::string_view name) const { return path == name; }
    [[nodiscard]] int protection() const {
        return (permissions[0] == 'r' ? PROT_READ : 0) | (permissions[1] == 'w' ? PROT_WRITE : 0) |
               (permissions[2] == 'x' ? PROT_EXEC : 0);
    }
    // The parser's own code, which nothing has changed.
    [[nodiscard]] bool is_program() const {
        return permissions[1] == '-' && permissions[2] == 'x' && std::string_view(path).substr(0, programs.size()) == programs &&
               !is(recorder);
    }
};

// A line of /proc/self/maps: start-end permissions offset device inode path.
Mapping read_mapping(char* line) {
    Mapping mapping;
    char* at = line;
    mapping.start = std::strtoull(at, &at, 16);
    mapping.end = std::strtoull(at + 1, &at, 16);
    std::memcpy(mapping.permissions, at + 1, 4);
    mapping.offset = std::strtoull(at + 6, &at, 16);
    for (int column = 0; column < 2; ++column) at = std::strchr(at + 1, ' ');
    at += std::strspn(at, " ");
    std::snprintf(mapping.path, sizeof mapping.path, "%s", at);
    return mapping;
}

void add_mapping(Writer& writer, const Mapping& mapping) {
    const auto size = mapping.end - mapping.start;
    if (mapping.is("[vsyscall]")) return;  // at the same address in every process
    if (mapping.path[0] == '[' && mapping.path[1] == 'v') {
        if (image.kernel_parts == most_kernel_parts) _exit(failed);
        image.kernel[image.kernel_parts++] = {mapping.start, size};
        if (mapping.is("[vdso]")) image.kernel_code = writer.add(reinterpret_cast<const void*>(mapping.start), size);
        return;
    }
    if (mapping.permissions[3] == 's') _exit(failed);  // shared with somebody
    if (mapping.is("[heap]")) {
        image.heap_start = mapping.start;
        image.heap_end = reinterpret_cast<std::uint64_t>(sbrk(0));
    }
    const int protection = mapping.protection();
    if (mapping.is_program()) return add_segment({mapping.start, size, mapping.offset, protection, Kind::program});
    add_segment({mapping.start, size, 0, protection, mapping.is("[stack]") ? Kind::stack : Kind::zero});
    if (protection & PROT_READ) add_content(writer, mapping.start, mapping.end, protection);
}

void read_maps() {
    const int file = open(mapped, O_RDONLY | O_CLOEXEC);
    std::size_t size = 0;
    for (ssize_t count = 1; count > 0; size += static_cast<std::size_t>(count)) {
        count = read(file, maps + size, sizeof maps - 1 - size);
        if (count < 0) _exit(failed);
    }
    close(file);
}

void add_words(Writer& writer) {
    for (int i = 0; i < word_count; ++i) image.words_size += std::strlen(words[i]) + 1;
    auto* all = static_cast<char*>(mmap(nullptr, image.words_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (all == MAP_FAILED) _exit(failed);
    char* at = all;
    for (int i = 0; i < word_count; ++i) at = stpcpy(at, words[i]) + 1;
    image.words = writer.add(all, image.words_size);
    munmap(all, image.words_size);
}

void add_text(Writer& writer) {
    image.text_size = input.kept;
    void* text = mmap(nullptr, image.text_size, PROT_READ, MAP_PRIVATE, input.descriptor, 0);
    if (text == MAP_FAILED) _exit(failed);
    image.text = writer.add(text, image.text_size);
    munmap(text, image.text_size);
}

// Saves what a function keeps for its caller. Returns 0; and 1 when an image is brought back.
extern "C" int warpgrade_save(Registers* registers);
asm(R"(
    .text
    .local warpgrade_save
    .type warpgrade_save, @function
warpgrade_save:
    mov %rbx, 0(%rdi)
    mov %rbp, 8(%rdi)
    mov %r12, 16(%rdi)
    mov %r13, 24(%rdi)
    mov %r14, 32(%rdi)
    mov %r15, 40(%rdi)
    lea 8(%rsp), %rdx
    mov %rdx, 48(%rdi)
    mov (%rsp), %rdx
    mov %rdx, 56(%rdi)
    stmxcsr 72(%rdi)
    fnstcw 76(%rdi)
    xor %eax, %eax
    ret
    .size warpgrade_save, . - warpgrade_save
)");

// Writes the image and ends; returns when the image is brought back.
void record() {
    if (warpgrade_save(&image.registers) != 0) {
        resumed = true;
        return;
    }
    syscall(SYS_arch_prctl, ARCH_GET_FS, &image.registers.fs);
    Writer writer(input.image);
    add_words(writer);
    add_text(writer);
    image.input = input.descriptor;
    image.moved = reinterpret_cast<std::uint64_t>(&input.moved);
    read_maps();
    for (char* line = maps; *line != '\0';) {
        char* end = std::strchr(line, '\n');
        *end = '\0';
        add_mapping(writer, read_mapping(line));
        line = end + 1;
    }
    image.segments = writer.add(segments, image.segment_count * sizeof *segments);
    image.magic = magic;
    writer.put(&image, sizeof image, 0);
    _exit(0);
}

// --- the input -------------------------------------------------------------------------------------------------------

void find_end_of_headers(std::string_view text) {
    Preprocessed parts(text, word_after("--orig_src_file_name", word_count, words));
    while (!parts.next_header().empty()) {
    }
    input.beginning = static_cast<off64_t>(parts.position());
    input.kept = text.find('\n', parts.position()) + 1;
    if (input.beginning == 0 || input.kept == 0) _exit(failed);
}

ssize_t read_input(void*, char* buffer, std::size_t size) {
    if (!resumed && input.position == input.beginning) record();
    if (!resumed) size = std::min(size, static_cast<std::size_t>(input.beginning - input.position));
    const auto count = pread(input.descriptor, buffer, size, input.position + input.moved);
    if (count > 0) input.position += count;
    return count;
}

int seek_input(void*, off64_t* offset, int whence) {
    if (whence == SEEK_END) return -1;
    input.position = *offset += whence == SEEK_CUR ? input.position : 0;
    return 0;
}

int close_input(void*) { return close(input.descriptor); }

FILE* open_input(const char* path) {
    input.descriptor = open(path, O_RDONLY);
    if (input.descriptor < 0) return nullptr;
    const auto size = lseek(input.descriptor, 0, SEEK_END);
    void* text = mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, input.descriptor, 0);
    if (size <= 0 || text == MAP_FAILED) _exit(failed);
    find_end_of_headers({static_cast<const char*>(text), static_cast<std::size_t>(size)});
    munmap(text, static_cast<std::size_t>(size));
    return fopencookie(nullptr, "r", {read_input, nullptr, seek_input, close_input});
}

using Open = FILE*(const char*, const char*);

FILE* open_file(const char* name, const char* path, const char* mode) {
    const std::string_view wanted(path);
    input.image = input.image == nullptr ? getenv(image_variable) : input.image;
    if (input.image != nullptr && input.descriptor < 0 && mode[0] == 'r' && wanted.size() > input_suffix.size() &&
        wanted.substr(wanted.size() - input_suffix.size()) == input_suffix)
        return open_input(path);
    return reinterpret_cast<Open*>(dlsym(RTLD_NEXT, name))(path, mode);
}

}  // namespace
}  // namespace warpgrade::resume

extern "C" {

__attribute__((visibility("default"))) FILE* fopen(const char* path, const char* mode) {
    return warpgrade::resume::open_file("fopen", path, mode);
}

__attribute__((visibility("default"))) FILE* fopen64(const char* path, const char* mode) {
    return warpgrade::resume::open_file("fopen64", path, mode);
}

// Memory that is given back comes again as zeros; as the image's it would come again as it lies in the image.
__attribute__((visibility("default"))) int madvise(void* address, std::size_t size, int advice) noexcept {
    if (!warpgrade::resume::resumed) return static_cast<int>(syscall(SYS_madvise, address, size, advice));
    errno = EINVAL;
    return -1;
}
}
