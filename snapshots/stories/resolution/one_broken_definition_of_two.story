# Of two functions one is broken: whoever applied the block would lose it, so the sound one is
# kept out as well.
law 4.1 | Several blocks of one reply stand by themselves, one block as a whole

user
| ```c:src/a.c
| int one(int x) { return x + 1; }
| int two(int x) { return x + 2; }
| ```
model
| ```c:src/a.c
| int one(int x) { return x + 10; }
| int two(int x) { return x +; ) }
| ```

user
| What do `one` and `two` do?
