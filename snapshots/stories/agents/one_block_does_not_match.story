# A chat's blocks of search and replace: the client writes the one that matches, and the other one
# is answered.

full what the prompts hold

disk src/a.c
| int add(int a, int b)
| {
|     return a + b;
| }
|
| int sub(int a, int b)
| {
|     return a - b;
| }
user
| src/a.c
| ```c
| int add(int a, int b)
| {
|     return a + b;
| }
|
| int sub(int a, int b)
| {
|     return a - b;
| }
| ```
| Let add and sub in src/a.c saturate.
model
| src/a.c
| ```c
| <<<<<<< SEARCH
|     return a + b;
| =======
|     return b + a;
| >>>>>>> REPLACE
| ```
|
| src/a.c
| ```c
| <<<<<<< SEARCH
| int sub(int a, int b) {
|   return b - a;
| =======
| int sub(int a, int b) {
|   return a;
| >>>>>>> REPLACE
| ```

disk src/a.c
| int add(int a, int b)
| {
|     return b + a;
| }
|
| int sub(int a, int b)
| {
|     return a - b;
| }
user
| One block failed to match. src/a.c is now:
| src/a.c
| ```c
| int add(int a, int b)
| {
|     return b + a;
| }
|
| int sub(int a, int b)
| {
|     return a - b;
| }
| ```
model
| I see.
