// Catch2: version 2 is one header, version 3 many headers and a library.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>
#define WG_CATCH_VERSION 3
#else
#include <catch2/catch.hpp>
#define WG_CATCH_VERSION 2
#endif

// Version 3 moved these to another namespace.
namespace warpgrade::judge {
#if WG_CATCH_VERSION == 3
using Catch::Generators::table;
using Catch::Generators::values;
#endif
}  // namespace warpgrade::judge
