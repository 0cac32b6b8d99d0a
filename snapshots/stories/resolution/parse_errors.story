# A block with a path in which every definition is broken is UNRESOLVED.
law 4.1 (4) | The parser met errors: a model's block is taken or refused as a whole | parse_errors

user
| Write src/a.c
model
| ```c:src/a.c
| int a(int x) { return x +; ) }
| ```

user
| Thanks.
