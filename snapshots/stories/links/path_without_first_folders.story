# A path that lacks the folders in front of it is the known file that ends in it, if the block
# defines what that does.
law 4.1 (1) | A path without its first folders is the known file that ends in it, if the block defines what that does | ast_match

disk packages/ai/src/a.c
| int clamp(int x) {
|     if (x < 0) return 0;
|     return x;
| }
user
| @tslp accept packages/ai/src/a.c
model
| Noted.

user
| Let `clamp` in packages/ai/src/a.c return one.
model
| src/a.c
| ```c
| int clamp(int x) {
|     return x;
| }
| ```

model
| src/a.c
| ```c
| int clamp(int x) {
|     if (x < 0) return 1;
|     return x;
| }
| ```

user
| And write another one.
model
| src/a.c
| ```c
| int twice(int x) { return x + x; }
| ```
