// Runs the tests that are linked into this program.
#pragma once

#include <cstddef>

#include "judge/options.hpp"
#include "judge/verdict.hpp"

namespace warpgrade::judge {

// Writes a verdict for each test that `options` selects; returns their number.
std::size_t run_tests(const Options& options, VerdictFile& verdicts);

}  // namespace warpgrade::judge
