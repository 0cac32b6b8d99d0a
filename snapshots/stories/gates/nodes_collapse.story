# A function of many statements that comes back with one of them.
law 7 | The node count may not collapse | nodes_kept, nodes_collapsed

user
| ```c:src/a.c
| int classify(int x) {
|     if (x < 10) return 1;
|     if (x < 20) return 2;
|     if (x < 30) return 3;
|     if (x < 40) return 4;
|     return 5;
| }
| ```
model
| ```c:src/a.c
| int classify(int x) {
|     return x < 10 ? 1 : 5;
| }
| ```
