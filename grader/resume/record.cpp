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

constexpr std::uint64_t shortest_run = 16;     // pages from one source: each run costs a call
constexpr std::uint64_t most_pages = 1 << 20;  // of a mapping
constexpr int failed = 97;                     // the status of a parser that could not be recorded

struct Input {
    int descriptor = -1;
    off64_t position = 0;
    off64_t ends[levels] = {};  // of the first header, and of the last
    std::size_t kept = 0;       // with the line that comes then
    off64_t moved = 0;          // how much farther they end in the input for which the image is brought back
    const char* image = nullptr;
};
Input input;
int level = 0;  // of the next image
int word_count = 0;
char** words = nullptr;

char maps[1 << 18];
Segment segments[levels][most_segments];
Image image;
Image first_image;
char sources[most_pages];

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
    segments[level][image.segment_count++] = segment;
}

bool is_zero(std::uint64_t address) {
    constexpr std::uint64_t size = page / sizeof address;
    const auto* first = reinterpret_cast<const std::uint64_t*>(address);
    return std::all_of(first, first + size, [](auto word) { return word == 0; });
}

// Pages that hold the same byte everywhere: cudafe++ begins with 128 MiB of them. They lie in an image once.
class Filled {
  public:
    [[nodiscard]] bool is(std::uint64_t address) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(address);
        if (bytes[0] == 0 || std::memcmp(bytes, bytes + 1, page - 1) != 0) return false;
        if (value_ == 0) value_ = bytes[0];
        return bytes[0] == value_;
    }
    void add(Writer& writer, std::uint64_t start, std::uint64_t size, int protection) {
        if (offset_ == 0) {
            void* block = mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (block == MAP_FAILED) _exit(failed);
            offset_ = writer.add(std::memset(block, value_, most), most);
            munmap(block, most);
        }
        for (const auto end = start + size; start < end; start += most)
            add_segment({start, std::min(most, end - start), offset_, protection, Kind::stored});
    }

  private:
    static constexpr std::uint64_t most = 2 << 20;
    unsigned char value_ = 0;
    std::uint64_t offset_ = 0;
};

// What lies in the first image, for the second.
class FirstImage {
  public:
    explicit FirstImage(const char* path) : file_(level == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC)) {}

    // Where a page lies, or 0.
    [[nodiscard]] std::uint64_t offset_of(std::uint64_t address) const {
        if (file_ < 0) return 0;
        const Segment* begin = segments[0];
        const auto* end = begin + first_image.segment_count;
        const auto* after = std::upper_bound(
            begin, end, address, [](auto wanted, const Segment& segment) { return wanted < segment.start; });
        if (after == begin) return 0;
        const auto& segment = after[-1];  // what is stored of a mapping comes after the mapping
        return segment.kind == Kind::stored && address - segment.start < segment.size
                   ? segment.offset + (address - segment.start)
                   : 0;
    }
    [[nodiscard]] bool has(std::uint64_t address) const {
        char then[page];
        const auto offset = offset_of(address);
        return offset != 0 && pread(file_, then, page, static_cast<off_t>(offset)) == static_cast<ssize_t>(page) &&
               std::memcmp(then, reinterpret_cast<const void*>(address), page) == 0;
    }

  private:
    int file_;
};

// Adds what lies between two addresses, but for pages of zeros.
void add_content(Writer& writer, const FirstImage& first, Filled& same, std::uint64_t start, std::uint64_t end,
                 int protection) {
    constexpr char zero = 'z', earlier = 'e', filled = 'f', own = 'o';
    const auto pages = (end - start) / page;
    if (pages > most_pages) _exit(failed);
    for (std::uint64_t i = 0; i < pages; ++i) {
        const auto at = start + i * page;
        sources[i] = first.has(at) ? earlier : is_zero(at) ? zero : same.is(at) ? filled : own;
    }
    const auto end_of_run = [&](std::uint64_t i) {
        auto after = i + 1;
        while (after < pages && sources[after] == sources[i]) ++after;
        return after;
    };
    for (std::uint64_t i = 0, after = 0; i < pages; i = after) {  // between two that are stored, short ones are as well
        after = end_of_run(i);
        if (sources[i] != own && i > 0 && after < pages && after - i < shortest_run && sources[i - 1] == own &&
            sources[after] == own)
            std::fill(sources + i, sources + after, own);
    }
    for (std::uint64_t i = 0, after = 0; i < pages; i = after) {
        after = end_of_run(i);
        const auto at = start + i * page, size = (after - i) * page;
        if (sources[i] == own)
            add_segment({at, size, writer.add(reinterpret_cast<const void*>(at), size), protection, Kind::stored});
        if (sources[i] == filled) same.add(writer, at, size, protection);
        for (auto part = at; sources[i] == earlier && part < at + size;) {  // may lie in several pieces there
            const auto offset = first.offset_of(part);
            auto next = part + page;
            while (next < at + size && first.offset_of(next) == offset + (next - part)) next += page;
            add_segment({part, next - part, offset, protection, Kind::earlier});
            part = next;
        }
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
        return permissions[1] == '-' && permissions[2] == 'x' && part_of(path, 0, programs.size()) == programs &&
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

void add_mapping(Writer& writer, const FirstImage& first, Filled& same, const Mapping& mapping) {
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
    if (protection & PROT_READ) add_content(writer, first, same, mapping.start, mapping.end, protection);
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
    auto* all =
        static_cast<char*>(mmap(nullptr, image.words_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (all == MAP_FAILED) _exit(failed);
    char* at = all;
    for (int i = 0; i < word_count; ++i) at = stpcpy(at, words[i]) + 1;
    image.words = writer.add(all, image.words_size);
    munmap(all, image.words_size);
}

void add_text(Writer& writer) {
    void* text = mmap(nullptr, input.kept, PROT_READ, MAP_PRIVATE, input.descriptor, 0);
    if (text == MAP_FAILED) _exit(failed);
    const std::string_view all(static_cast<const char*>(text), input.kept);
    image.text_size = all.find('\n', static_cast<std::size_t>(input.ends[level])) + 1;
    image.text = writer.add(text, image.text_size);
    munmap(text, input.kept);
}

// Saves what a function keeps for its caller. Returns 0; and 1 when an image is brought back.
extern "C" __attribute__((returns_twice)) int warpgrade_save(Registers* registers);
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

// Writes an image; after the last one the parser ends. Returns once more whenever the image is brought back.
void record() {
    image = {};
    if (warpgrade_save(&image.registers) != 0) {
        level = levels;
        return;
    }
    syscall(SYS_arch_prctl, ARCH_GET_FS, &image.registers.fs);
    char path[levels][512];
    for (int i = 0; i < levels; ++i) std::snprintf(path[i], sizeof path[i], "%s.%d", input.image, i);
    Writer writer(path[level]);
    const FirstImage first(path[0]);
    Filled same;
    add_words(writer);
    add_text(writer);
    image.input = input.descriptor;
    image.moved = reinterpret_cast<std::uint64_t>(&input.moved);
    read_maps();
    for (char* line = maps; *line != '\0';) {
        char* end = std::strchr(line, '\n');
        *end = '\0';
        add_mapping(writer, first, same, read_mapping(line));
        line = end + 1;
    }
    image.segments = writer.add(segments[level], image.segment_count * sizeof(Segment));
    image.magic = magic;
    writer.put(&image, sizeof image, 0);
    first_image = image;
    if (++level == levels || input.ends[1] == input.ends[0]) _exit(0);
}

// --- the input -------------------------------------------------------------------------------------------------------

void find_ends_of_headers(std::string_view text) {
    Preprocessed parts(text, word_after("--orig_src_file_name", word_count, words));
    parts.next_header();
    input.ends[0] = static_cast<off64_t>(parts.position());
    while (!parts.next_header().empty()) {
    }
    input.ends[1] = static_cast<off64_t>(parts.position());
    input.kept = text.find('\n', parts.position()) + 1;
    if (input.ends[0] == 0 || input.kept == 0) _exit(failed);
}

ssize_t read_input(void*, char* buffer, std::size_t size) {
    if (level < levels && input.position == input.ends[level]) record();
    if (level < levels) size = std::min(size, static_cast<std::size_t>(input.ends[level] - input.position));
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
    find_ends_of_headers({static_cast<const char*>(text), static_cast<std::size_t>(size)});
    munmap(text, static_cast<std::size_t>(size));
    return fopencookie(nullptr, "r", {read_input, nullptr, seek_input, close_input});
}

using Open = FILE*(const char*, const char*);

FILE* open_file(const char* name, const char* path, const char* mode) {
    input.image = input.image == nullptr ? getenv(image_variable) : input.image;
    if (input.image != nullptr && input.descriptor < 0 && mode[0] == 'r' && ends_with(path, input_suffix))
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
    if (warpgrade::resume::level < warpgrade::resume::levels)
        return static_cast<int>(syscall(SYS_madvise, address, size, advice));
    errno = EINVAL;
    return -1;
}
}
