// ATTACK: at most 0 - says that its mistake is in a file of the tests
// EXPECT: rejected: does not compile
#line 7 "/labs/matmul/tests/hidden.cpp"
int x = nothing;
#line 8 "/etc/passwd"
asm("nonsense");
