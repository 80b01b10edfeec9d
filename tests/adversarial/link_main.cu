// ATTACK: at most 0 - brings a main() of its own
// EXPECT: rejected: defines main()
int main() {}
