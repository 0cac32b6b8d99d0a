# In another window than the proposal's, `confirm` looks at the file, too.

# Found by the simulation: in another window than the proposal's, `confirm` didn't look at the
# file. What disk held at some earlier look counted as known to the user, so that the confirmed
# code would have been shown over a file that happened to hold the older text again.

disk src/a.c
| int add(int a, int b) {
|     return a + b;
| }
user
| src/a.c
| ```c
| int add(int a, int b) {
|     return a + b;
| }
| ```
model
| Noted.

disk src/a.c
| int add(int a, int b) {
|     return b + a;
| }
user
| Make `add` safer.
model
| ```c:src/a.c
| int add(int a, int b) {
|     if (a > 100) return 0;
|     return a + b;
| }
| ```

disk src/a.c
| int add(int a, int b) {
|     return b - -a;
| }
client B
user
| @tslp confirm src/a.c::add
