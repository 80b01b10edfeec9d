// warpgrade-resume: stands in the place of one of nvcc's parsers, and goes on where an image of it ends (image.hpp).
//
// Whatever is not as it was when the image was made is left to the parser itself. Once memory is in place nothing can
// fail but the parser; whoever called nvcc calls it again without us then (build.py).
#include <asm/prctl.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "resume/image.hpp"
#include "resume/preprocessed.hpp"

extern char **environ, __executable_start, etext, edata, end;

namespace warpgrade::resume {
namespace {

std::string_view name_of(const char* path) {
    const char* slash = std::strrchr(path, '/');
    return slash == nullptr ? path : slash + 1;
}

struct Path {
    char text[512];
    Path(std::string_view folder, std::string_view name, int level) {
        std::snprintf(text, sizeof text, "%.*s%.*s.%d", static_cast<int>(folder.size()), folder.data(),
                      static_cast<int>(name.size()), name.data(), level);
    }
    Path(std::string_view folder, std::string_view name) {
        std::snprintf(text, sizeof text, "%.*s%.*s", static_cast<int>(folder.size()), folder.data(),
                      static_cast<int>(name.size()), name.data());
    }
};

[[noreturn]] void run_parser(char** words) {
    const Path program(programs, name_of(words[0]));
    execv(program.text, words);
    std::perror(program.text);
    _exit(127);
}

// --- is the image of this call? --------------------------------------------------------------------------------------

struct File {
    const char* bytes = nullptr;
    std::uint64_t size = 0;
    int descriptor = -1;

    explicit File(const char* path) : descriptor(open(path, O_RDONLY)) {
        struct stat found {};
        if (descriptor < 0 || fstat(descriptor, &found) != 0 || found.st_size == 0) return;
        size = static_cast<std::uint64_t>(found.st_size);
        void* mapped_file = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        bytes = mapped_file == MAP_FAILED ? nullptr : static_cast<const char*>(mapped_file);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (bytes != nullptr) munmap(const_cast<char*>(bytes), size);
        if (descriptor >= 0) close(descriptor);
    }
    // What is not there is empty.
    [[nodiscard]] std::string_view at(std::uint64_t offset, std::uint64_t count) const {
        if (bytes == nullptr || offset > size || count > size - offset) return {};
        return {bytes + offset, count};
    }
};

bool has_words(const Image& image, const File& file, int count, char** words) {
    auto left = file.at(image.words, image.words_size);
    for (int i = 0; i < count; ++i) {
        const std::string_view word(words[i], std::strlen(words[i]) + 1);
        if (left.substr(0, word.size()) != word) return false;
        left.remove_prefix(word.size());
    }
    return left.empty();
}

const char* input_among(int count, char** words) {
    for (int i = 1; i < count; ++i)
        if (ends_with(words[i], input_suffix)) return words[i];
    return nullptr;
}

// Tells whether an input begins with the headers of a text, and how much farther they end there.
bool has_headers(std::string_view text, std::string_view input, std::string_view unit, std::int64_t& farther) {
    Preprocessed known(text, unit), given(input, unit);
    for (auto header = known.next_header(); !header.empty(); header = known.next_header())
        if (given.next_header() != header) return false;
    farther = static_cast<std::int64_t>(given.position()) - static_cast<std::int64_t>(known.position());
    return known.position() > 0;
}

bool has_kernel(const Image& image, const File& file) {
    const auto code = getauxval(AT_SYSINFO_EHDR);
    if (image.kernel_parts > most_kernel_parts) return false;
    if (image.kernel_parts == 0) return code == 0;
    const auto kept = file.at(image.kernel_code, image.kernel[image.kernel_parts - 1].size);
    return code != 0 && !kept.empty() &&
           std::memcmp(reinterpret_cast<const void*>(code), kept.data(), kept.size()) == 0;
}

// --- memory ----------------------------------------------------------------------------------------------------------

// The heap grows from where it ended. The kernel asks for all or nothing; what is not said of the heap is our own.
bool set_heap(const Image& image) {
    if (image.heap_start == 0) return true;
    const auto address = [](const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); };
    prctl_mm_map map{};
    map.start_code = address(&__executable_start);
    map.end_code = address(&etext);
    map.start_data = address(&etext);
    map.end_data = address(&edata);
    map.start_brk = image.heap_start;
    map.brk = image.heap_end;
    map.start_stack = map.arg_start = map.arg_end = map.env_start = map.env_end =
        address(static_cast<const void*>(environ));
    map.exe_fd = static_cast<std::uint32_t>(-1);
    return prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0) == 0;
}

bool map_segment(const Segment& segment, int image_file, int first_image, int program) {
    void* wanted = reinterpret_cast<void*>(segment.start);
    const auto at = static_cast<off_t>(segment.offset);
    const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    const auto map = [&](int flags, int file) {
        return mmap(wanted, segment.size, segment.protection, flags, file, at) == wanted;
    };
    switch (segment.kind) {
        case Kind::zero:
            return map(anonymous, -1);
        case Kind::stack:
            return map(anonymous | MAP_GROWSDOWN | MAP_STACK, -1);
        case Kind::program:
            return map(MAP_PRIVATE | MAP_FIXED_NOREPLACE, program);
        case Kind::stored:
            return map(MAP_PRIVATE | MAP_FIXED, image_file);  // into what is ours
        case Kind::earlier:
            return map(MAP_PRIVATE | MAP_FIXED, first_image);
    }
    return false;
}

// Moves what the kernel mapped for us to where the parser knows it.
bool move_kernel_parts(const Image& image) {
    if (image.kernel_parts == 0 || image.kernel_parts > most_kernel_parts) return image.kernel_parts == 0;
    const auto to = image.kernel[0].start,
               from = getauxval(AT_SYSINFO_EHDR) - (image.kernel[image.kernel_parts - 1].start - to);
    for (std::uint32_t i = 0; i < image.kernel_parts; ++i) {
        const auto [start, size] = image.kernel[i];
        if (syscall(SYS_mremap, from + (start - to), size, size, MREMAP_MAYMOVE | MREMAP_FIXED, start) !=
            static_cast<long>(start))
            return false;
    }
    return true;
}

[[noreturn]] void jump(const Registers& registers) {
    asm volatile(
        "ldmxcsr 72(%0)\n"
        "fldcw 76(%0)\n"
        "mov 0(%0), %%rbx\n"
        "mov 8(%0), %%rbp\n"
        "mov 16(%0), %%r12\n"
        "mov 24(%0), %%r13\n"
        "mov 32(%0), %%r14\n"
        "mov 40(%0), %%r15\n"
        "mov 48(%0), %%rsp\n"
        "mov $1, %%eax\n"
        "jmp *56(%0)\n"
        :
        : "D"(&registers)
        : "memory");
    __builtin_unreachable();
}

// Returns when nothing has been done that the parser itself could not live with: it takes our place then.
void resume(int count, char** words, int level) {
    const auto name = name_of(words[0]);
    const File file(Path(images, name, level).text);
    const auto head = file.at(0, sizeof(Image));
    const char* input_path = input_among(count, words);
    if (head.empty() || input_path == nullptr) return;
    const auto& image = *reinterpret_cast<const Image*>(head.data());
    const auto segments = file.at(image.segments, image.segment_count * sizeof(Segment));
    if (image.magic != magic || segments.empty() || !has_words(image, file, count, words) || !has_kernel(image, file))
        return;
    const File input(input_path);
    const auto text = file.at(image.text, image.text_size);
    std::int64_t farther = 0;
    if (!has_headers(text, input.at(0, input.size), word_after("--orig_src_file_name", count, words), farther)) return;
    const int program = open(Path(programs, name).text, O_RDONLY);
    const int first_image = open(Path(images, name, 0).text, O_RDONLY);
    if (program < 0 || first_image < 0) return;

    const auto* first = reinterpret_cast<const Segment*>(segments.data());
    for (const auto* segment = first; segment != first + image.segment_count; ++segment)
        if (!map_segment(*segment, file.descriptor, first_image, program)) return;
    if (!set_heap(image)) return;
    // From here on there is no way back.
    rlimit stack{};
    if (getrlimit(RLIMIT_STACK, &stack) == 0) {  // both parsers do so when they begin
        stack.rlim_cur = stack.rlim_max;
        setrlimit(RLIMIT_STACK, &stack);
    }
    if (!move_kernel_parts(image)) _exit(127);
    *reinterpret_cast<std::int64_t*>(image.moved) = farther;
    const Registers registers = image.registers;
    const int wanted = image.input;
    const int copy = fcntl(input.descriptor, F_DUPFD, wanted + 4);
    for (const int used : {file.descriptor, input.descriptor, program, first_image}) close(used);
    dup2(copy, wanted);
    close(copy);
    syscall(SYS_arch_prctl, ARCH_SET_FS, registers.fs);
    jump(registers);
}

// --- making one ------------------------------------------------------------------------------------------------------

// Runs the parser once more, before it is run: for its image.
void record(const char* folder, char** words) {
    const Path image(folder, name_of(words[0]));
    const pid_t child = fork();
    if (child == 0) {
        setenv(image_variable, image.text, 1);
        setenv("LD_PRELOAD", recorder, 1);
        const int nothing = open("/dev/null", O_WRONLY);
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
        run_parser(words);
    }
    int status = 0;
    if (child > 0) waitpid(child, &status, 0);
    for (int level = 0; status != 0 && level < levels; ++level) unlink(Path(folder, name_of(words[0]), level).text);
}

}  // namespace
}  // namespace warpgrade::resume

int main(int count, char** words) {
    using namespace warpgrade::resume;
    if (const char* folder = getenv(record_variable)) {
        const Path parse(folder, "/parse/");
        if (access(parse.text, W_OK) == 0) record(parse.text, words);
    } else {
        for (int level = levels - 1; level >= 0; --level) resume(count, words, level);
    }
    run_parser(words);
}
