# A paste with a placeholder is no full definition: not true, nothing removed, and a notice says
# so.
law engine 5 | A placeholder is no deletion and no definition | elided

user
| ```c:src/a.c
| int a(int x) {
|     if (x > 10) return 10;
|     return x;
| }
| ```
model
| Fine.

user
| ```c:src/a.c
| int a(int x) {
|     // ... existing code ...
|     return x + 1;
| }
| ```
