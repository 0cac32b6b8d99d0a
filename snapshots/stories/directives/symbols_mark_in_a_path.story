# A tracked file may have the mark of a symbol in its name.

user
| co::lon.c
| ```c:co::lon.c
| int add(int a, int b) { return a + b; }
| ```
model
| Fine.

disk co::lon.c
| int add(int a, int b) { return b + a; }
user
| @tslp accept co::lon.c
model
| Fine.

disk co::lon.c
| int add(int a, int b) { return 0; }
user
| @tslp accept co::lon.c::add
