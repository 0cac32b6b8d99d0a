# A `filepath:` comment, or a comment that is a path alone, on the block's first line.
law 4.1 (1) | Path evidence and a clean parse: CONFIRMED | ast_match

user
| Write two files.
model
| ```c
| // filepath: src/a.c
| int a(void) { return 1; }
| ```
| ```c
| /* src/b.c */
| int b(void) { return 2; }
| ```
