# Each block of a reply stands by itself: one is promoted, one refused, one is no code of the
# project's.
law 4 | Every capture, resolution and step is recorded with its evidence, level and grammar
law 4.1 | Several blocks of one reply stand by themselves, one block as a whole

user
| ```c:src/a.c
| int a(int x) {
|     if (x > 10) return 10;
|     return x;
| }
| ```
| ```c:src/b.c
| int b(int x) {
|     if (x > 20) return 20;
|     return x;
| }
| ```
model
| ```c:src/a.c
| int a(int x) {
|     if (x > 11) return 11;
|     return x;
| }
| ```
| ```c:src/b.c
| int b(int x) {
|     // ... existing code ...
| }
| ```
| ```sh
| make test
| ```

user
| Compare `a` and `b`.
