// Lab scan, prelab: what two ways to scan take, and what yours will take.
// Grade it:  ./warpgrade check scan      (in this folder)
#include "scan.h"

int simple_steps(int n) {
    if (n == 8) return 3;
    if (n == 5) return 3;
    if (n == 77) return 7;
    return 1;
}

long long simple_additions(int n) {
    if (n == 8) return 17;
    if (n == 5) return 8;
    if (n == 77) return 412;
    return 1;
}

int tree_steps(int n) {
    if (n == 8) return 6;
    if (n == 64) return 12;
    return 1;
}

long long tree_additions(int n) {
    if (n == 8) return 14;
    if (n == 64) return 126;
    return 1;
}

int block_scan_requests(int n) {
    if (n == 8192) return 540;
    if (n == 1024) return 68;
    return 1;
}

int scan_launches(int n) {
    if (n == 20000) return 3;
    if (n == 37656) return 3;
    return 1;
}

int scan_sectors(int n) {
    if (n == 20000) return 10000;
    if (n == 37656) return 19000;
    return 1;
}
