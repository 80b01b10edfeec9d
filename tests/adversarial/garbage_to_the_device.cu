// ATTACK: at most 0 - speaks nonsense to device server and judge
#include <sys/socket.h>

#include <cstring>

#include "matmul.h"

void matmul(const float*, const float*, float*, int, int, int) {
    char garbage[4096];
    for (unsigned i = 0; i < sizeof garbage; ++i) garbage[i] = static_cast<char>(i * 31 + 7);
    std::memcpy(garbage, "GGDW", 4);
    for (int i = 0; i < 100; ++i)
        for (const int fd : {4, 3}) send(fd, garbage, sizeof garbage - i, MSG_DONTWAIT | MSG_NOSIGNAL);
}
