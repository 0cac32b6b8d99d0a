# A function of a tracked name that shares few words with it isn't linked: similarity never
# guesses.
law 4.1 (4) | Neither a path nor a unique correlation | no_entity
law 11 | Similarity lines up with what is known and never introduces an entity
law 4.1 | No embeddings and no fuzzy search
law 11 | It introduces none

user
| ```c:src/a.c
| int scale(int x, int factor) {
|     int scaled = x * factor;
|     int limit = maximum(factor, scaled);
|     return minimum(scaled, limit);
| }
| ```
model
| ```c
| int scale(const char *text) { return puts(text) + strlen(text); }
| ```

user
| Thanks.
