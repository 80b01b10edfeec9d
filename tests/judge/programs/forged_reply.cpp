#define OWN_SCALE
#include <sys/socket.h>
#include "right.hpp"

#include "worker/wire.hpp"

// Says "returned" by itself, many times, and never computes anything.
void scale(const float*, float*, float, int) {
    warpgrade::wire::Reply reply;
    for (std::uint32_t i = 0; i < 1000; ++i) {
        reply.sequence = i;
        send(3, &reply, sizeof reply, MSG_DONTWAIT);
    }
    for (;;) {
    }
}
