// Approx, under the name that both versions of Catch2 can have.
#pragma once

#include "judge/catch.hpp"

#if WG_CATCH_VERSION == 3
#include <catch2/catch_approx.hpp>
using Catch::Approx;
#endif
