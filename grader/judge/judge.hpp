// What the tests of a lab include. A test calls the student's function with inputs of its own and checks what comes
// back; see docs/labs.md. Everything here is in warpgrade::judge.
#pragma once

#include "judge/catch.hpp"
#include "judge/compare.hpp"
#include "judge/diagnostics.hpp"
#include "judge/errors.hpp"
#include "judge/inputs.hpp"
#include "judge/measures.hpp"
#include "judge/origin.hpp"
#include "judge/speed.hpp"
#include "judge/submission.hpp"
