# A fence in a block quote is judged, and the marker stands in the quote.
law 15.6, engine 7 | Code that is superseded, removed or STALE is withheld from older messages and system messages, whoever said it

policy history client

disk src/a.c
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
user
| ```c:src/a.c
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
| ```
model
| Noted.

user
| He wrote:
| > Look at this:
| > ```c
| > int add(int a, int b) { return a + b; }
| > ```
| > and this:
| > > ```c
| > > int sub(int a, int b) { return a - b; }
| > > ```
| Is he right?
model
| Yes.

disk src/a.c
| int add(int a, int b) { return a + b + 1; }
|
| int sub(int a, int b) { return a - b; }
user
| And now `add`?
