# Code without a path isn't linked to a file of a language that isn't kin to its own, whatever it
# is called.
law 11 | Only code of kin languages is compared: C and C++, JavaScript and TypeScript | no_entity

user
| ```c:src/add.c
| int add(int a, int b) { return a + b; }
| ```
model
| ```python
| def add(int, a, b): return int(a + b)
| ```

user
| And now?
