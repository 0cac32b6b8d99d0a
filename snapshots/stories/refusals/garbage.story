# A block of the model's stands or falls as a whole: what can't be parsed keeps the rest out.
law 4.1 (4) | The parser met errors: a model's block is taken or refused as a whole | parse_errors

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| Fine.

user
| Change a()
model
| ```c:src/a.c
| int a(int x) { return x + 7; }
| @@@ %%% garbage (((
| ```
