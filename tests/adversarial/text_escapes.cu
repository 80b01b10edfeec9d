// ATTACK: at most 0 - draws over the report with the compiler's words
// EXPECT: rejected: does not compile
#error [2J[1;1H[32m100 / 100]0;title‮001 / 001‬​ 2J [red]markup[/nothing]
