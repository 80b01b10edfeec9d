#include "right.hpp"

static volatile bool goes_on = true;
static const int never = [] {
    while (goes_on) {
    }
    return 0;
}();
