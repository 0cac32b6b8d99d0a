# A fact is kept by the code that it quotes; a decision and a preference wait for the user's word;
# what proves nothing is refused with its reason.
law engine 8 | What a model proposes to keep waits for the user's word; a fact is kept by the code that it quotes | record_proposed, record_proven, record_accepted, record_rejected

disk src/a.c
| int add(int a, int b) {
|     return a + b;
| }
user
| @tslp accept src/a.c
model
| Noted.

user
| What should we know?
model
| Three things:
|
| ```record
| fact #add.plain: It doesn't check for overflow.
| evidence: `return a + b;` [src/a.c:2]
| decision #add.int: We stay with int.
| preference #style: Use tabs everywhere.
| fact #add.minus: It subtracts. `return a - b;` [src/a.c:2]
| hypothesis #add.slow: It may be slow.
| ```

user
| @tslp accept #add.int
| @tslp reject #style
| What about #add.int, #style and #add.plain?
model
| All clear.

user
| @tslp confirm #style
| @tslp reject #add.int
| Go on.
