// warpgrade-device: the device server. The judge starts one for each session, with both sockets open.
#include "device/open.hpp"

int main(int argc, char** argv) { return warpgrade::device::server_main(argc, argv, warpgrade::device::open_device); }
