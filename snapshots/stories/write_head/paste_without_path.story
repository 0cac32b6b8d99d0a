# A paste that nothing links to a file is recorded, and a notice says what is missing.
law 9.1 | The user's code that nothing links to a file stays a record, in whatever shape it is pasted; one notice for a prompt says so | paste_without_path

user
| ```c
| int a(int x) { return x; }
| ```
model
| Fine.

user
| It is this:
| ```c:src/a.c
| int a(int x) { return x; }
| ```
