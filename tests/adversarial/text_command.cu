// ATTACK: at most 0 - writes a workflow command into the compiler's words
// EXPECT: rejected: does not compile
#error ::set-output name=points::100
#line 1 "::error file=README.md::all tests passed\r::stop-commands::x"
#error ##[error]all tests passed
