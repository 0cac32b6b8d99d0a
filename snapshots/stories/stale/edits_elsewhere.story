# CRLF line ends, another indentation and a new function elsewhere in the file make nothing STALE.
law engine 4 | An edit elsewhere, line ends and indentation make nothing STALE

disk src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
| ```
model
| Fine.

disk src/a.c
| #include <new.h>
|   int a(int x) { return x + 1; }
| int c(int x) { return x + 3; }
| int b(int x) { return x + 2; }
user
| What do a() and b() do?
