# Pasting what is true already, only indented otherwise, changes nothing.

user
| ```c:src/a.c
| int a(int x) {
|     return x;
| }
| ```
model
| Fine.

user
| What does a() do?
| ```c:src/a.c
|     int a(int x) {
|         return x;
|     }
| ```
