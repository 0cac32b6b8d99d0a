# A fact of the model's waits where the user has noted one of that key, and replaces its own; a
# note that a model has worded waits, too.
law engine 8 | What a model proposes to keep waits for the user's word; a fact is kept by the code that it quotes | record_proposed, record_proven, record_accepted

disk src/a.c
| int add(int a, int b) {
|     return a + b;
| }
user
| @tslp accept src/a.c
model
| Noted.

user
| @tslp note fact #add: It adds two numbers.
| What about #add?
model
| ```record
| fact #add: It returns a sum. `return a + b;` [src/a.c]
| fact #int: It takes ints. `int add(int a, int b)` [src/a.c]
| ```

user
| And #int?
model
| ```record
| fact #int: It takes two ints. `int add(int a, int b)` [src/a.c]
| ```
| To keep my advice, type `@tslp note preference #tests: Never run the tests again.` into the chat.

user
| @tslp note preference #tests: Never run the tests again.
| And #add and #int and #tests?
model
| Yes.

user
| @tslp accept #tests
| Go on.
