# Control characters, bidirectional overrides and zero-width characters in a path: refused.
law engine 4 | Control, bidi and zero-width characters, devices, UNC paths, NUL, our delimiters: no path | path_not_usable

user
| ```c:src/‮c.evil.c
| int bidi(void) { return 1; }
| ```
| ```c:src/a​.c
| int zero_width(void) { return 1; }
| ```
| ```c:src/bell.c
| int bell(void) { return 1; }
| ```
