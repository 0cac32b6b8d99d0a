# A function may change around its credential, which the client's messages show.

policy history client

user
| ```c:src/a.c
| int log_in(void) {
|     const char *key = "sk-abcdefghijklmnop1234567890";
|     return connect(key);
| }
| ```
model
| Fine.

user
| Let `log_in` retry once.
model
| ```c:src/a.c
| int log_in(void) {
|     const char *key = "sk-abcdefghijklmnop1234567890";
|     if (connect(key) == 0) return 0;
|     return connect(key);
| }
| ```
