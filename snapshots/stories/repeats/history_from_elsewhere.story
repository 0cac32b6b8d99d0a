# A conversation that began without the proxy: its older paste tells nothing of what is true and
# on disk.

disk src/a.c
| int add(int a, int b) { return b + a; }
user
| @tslp accept src/a.c
| Hello.
model
| Hello.

new
context
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Explain `add`.
context assistant
| It adds.
user
| Improve `add`.
