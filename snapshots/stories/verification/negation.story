# Who says that the code isn't to be changed asks for no change: the proposal stays PROPOSED.
law 6 B | A question, a refusal, a change of something else, a name that is a verb, and a proposal that an audit doubts verify nothing: the user says `@tslp confirm` | grant_missing

policy profile strict
policy audit off

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

user
| Don't change `a`, please.
