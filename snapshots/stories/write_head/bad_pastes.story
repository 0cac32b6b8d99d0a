# Of the user's own code that isn't taken it is said that it is the user's, why, and what to do;
# never that it was the model's.
law 8.3, 9.1 | A notice about the user's own code says so, why it wasn't taken, and what the user can do | path_escapes_workspace, elided

user
| ```c:src/a.c
| int a( { return
| ```
| ```c:../out.c
| int out(void) { return 1; }
| ```
| ```c:src/b.c
| int b(int x) {
|     // ... existing code ...
| }
| ```
model
| ```c:src/c.c
| int c( { return
| ```

user
| What now?
