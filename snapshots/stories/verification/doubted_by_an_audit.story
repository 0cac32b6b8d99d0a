# A proposal that an audit doubts isn't taken by going on from it: the user says `@tslp confirm`.
law 6 B | A question, a refusal, a change of something else, a name that is a verb, and a proposal that an audit doubts verify nothing: the user says `@tslp confirm` | grant_missing

policy profile strict

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
| Keep this.
model
| Kept.

user
| Make `a` add 10.
model
| ```c:src/a.c
| int a(int x) { return x + 10; }
| ```

audit
| {"entity": "src/a.c::a", "status": "partial"}

user
| Now change `a` to take a long.
