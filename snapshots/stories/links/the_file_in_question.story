# Of two files with such a function it is that of the file which the prompt names; without a name
# it stays open.
law 4.1 (1) | Without a path, definitions of one tracked file (of several, the conversation's) with enough of their words, all of which the model was shown: CONFIRMED | ast_match

user
| ```c:src/a.c
| static int helper(int x) { return x + 1; }
| ```
| ```c:src/b.c
| static int helper(int x) { return x + 1; }
| ```
model
| Fine.

new
user
| Make helper in src/b.c add 2.
model
| ```c
| static int helper(int x) { return x + 2; }
| ```
