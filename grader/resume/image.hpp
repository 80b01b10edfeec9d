// A program that has read the beginning of its input, kept in a file: written by record.cpp, brought back by
// resume.cpp.
//
// nvcc's two parsers, cudafe++ and cicc, read a file of which all but the end is CUDA's headers. What they have made of
// these is the same for every submission: the image holds their memory at that moment, with the words that they were
// called with and the text that they had read. Whoever is called with the same words, for a file that begins with the
// same headers, goes on from there.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpgrade::resume {

// Where things lie in the sandbox; grader/warpgrade/compiling/parsers.py puts them there.
constexpr std::string_view images = "/head-start/parse.";  // and the program's name, and which of them
constexpr std::string_view programs = "/parse/";           // the parsers, in whose place resume.cpp stands
constexpr const char* recorder = "/parse/record.so";
constexpr const char* mapped = "/parse/proc/self/maps";
// In the environment: the image to write (record.cpp), and the folder in which whole head starts are recorded.
constexpr const char* image_variable = "WARPGRADE_IMAGE";
constexpr const char* record_variable = "WARPGRADE_RECORD";
constexpr std::string_view input_suffix = ".ii";

// Each parser has two images: at the end of cuda_runtime.h, which nvcc includes before anything else, and at the end of
// all that the starter includes. Most of the second is what lies in the first.
constexpr int levels = 2;

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t magic = 0x3130'6567'616d'6977;  // "wimage01"

// What a function keeps for its caller, and where it returns to. record.cpp and resume.cpp know the offsets.
struct Registers {
    std::uint64_t rbx, rbp, r12, r13, r14, r15, rsp, rip;
    std::uint64_t fs;
    std::uint32_t mxcsr;
    std::uint16_t x87;
};

enum class Kind : std::uint32_t {
    zero,     // anonymous memory; what is not zero comes after it
    stored,   // lies in the image
    earlier,  // lies in the first image
    program,  // lies in the program's file
    stack,    // as zero, and grows
};

struct Segment {
    std::uint64_t start, size, offset;
    std::int32_t protection;
    Kind kind;
};

// What the kernel maps for calls without system calls: resume moves its own there if it is the same.
struct KernelPart {
    std::uint64_t start, size;
};

constexpr std::uint64_t most_segments = 8192, most_kernel_parts = 4;

struct Image {
    std::uint64_t magic;
    Registers registers;
    std::uint64_t heap_start, heap_end;
    std::int32_t input;   // the descriptor
    std::uint64_t moved;  // the address of a number: how much farther than in `text` the headers end in the input
    std::uint32_t kernel_parts;
    KernelPart kernel[most_kernel_parts];  // data first, the code last
    std::uint64_t kernel_code;             // where its bytes lie in the image
    std::uint64_t words, words_size;       // the command line, each word with its end
    std::uint64_t text, text_size;         // of the input, with the line after the last header
    std::uint64_t segments, segment_count;
};

}  // namespace warpgrade::resume
