// Says "returned" by itself, for the call that is running, and leaves: nobody can read its clock any more.
#include "honest.cuh"

#include <sys/socket.h>

#include <cstdint>

static void attack(const float* A, const float* B, float* C, int m, int k, int n) {
    honest(A, B, C, m, k, n);
    struct {
        std::uint32_t magic = 0x72675721, sequence = 0, status = 1;
        std::uint8_t type = 0, pad[3] = {};
        std::uint64_t result = 0;
        std::uint32_t signal = 0, argument = 0xffffffff, stack = 0, text_bytes = 0;
        std::uint64_t address = 0, distance = 0;
        char text[1024] = {};
    } reply;
    static std::uint32_t calls = 0;
    reply.sequence = ++calls;
    send(3, &reply, sizeof reply, 0);
    _exit(0);
}
