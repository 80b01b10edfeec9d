#define CATCH_CONFIG_MAIN
#include "judge/catch.hpp"
#if WG_CATCH_VERSION == 3
#include <catch2/catch_session.hpp>
int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
#endif
