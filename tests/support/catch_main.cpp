// The main function of every test program, for Catch2 2 and 3, where no package has it compiled.
#define CATCH_CONFIG_RUNNER
#include "judge/catch.hpp"
#if WG_CATCH_VERSION == 3
#include <catch2/catch_session.hpp>
#endif

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
