// ATTACK: at most 0 - has code that runs before every other
// EXPECT: rejected: section .preinit_array
// REVIEW: section .preinit_array
extern "C" void early() {}
__attribute__((section(".preinit_array"), used)) static void (*const entry)() = early;
