# A reply without a path that redefines a function of the one tracked file that the model was
# shown is CONFIRMED.
law 4.1 (1) | Without a path, definitions of one tracked file (of several, the conversation's) with enough of their words, all of which the model was shown: CONFIRMED | ast_match

user
| ```c:src/a.c
| int scale(int x, int factor) {
|     return x * factor;
| }
| ```
model
| ```c
| int scale(int x, int factor) {
|     if (factor == 0) return 0;
|     return x * factor;
| }
| ```

user
| What does `scale` do now?
