# A key in a file doesn't enter the ledger: its function is known and never shown, the others are
# as always, and a change that adds a key is refused.
law engine 10 | Code that held a credential isn't whole any more | credential_redacted

full the key is in no table and in no later prompt
policy history window

disk src/a.c
| const char *key(void) { return "sk-abcdefghijklmnop1234567890"; }
|
| int one(int x) {
|     return x + 1;
| }
user
| @tslp accept src/a.c
model
| Noted.

user
| What do `key` and `one` in src/a.c do?
model
| Little.

user
| Make `one` add two.
model
| ```c:src/a.c
| int one(int x) {
|     return x + 2;
| }
| ```

user
| Let `one` log in.
model
| ```c:src/a.c
| int one(int x) {
|     login("sk-qrstuvwxyzabcdef1234567890");
|     return x + 2;
| }
| ```

user
| Go on.
