# Of a reply's two blocks one is doubted: the other one is promoted by itself.

policy profile strict

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
| ```
| Make both add 10.
model
| ```c:src/a.c
| int a(int x) { return x + 10; }
| ```
| and
| ```c:src/a.c
| int b(int x) { return x + 10; }
| ```

audit
| [{"entity": "src/a.c::a", "status": "completed"}, {"entity": "src/a.c::b", "status": "partial"}]
