# A table that keeps half of its nodes and less than half of its tokens has collapsed as well.
law 7 | The token count may not collapse | tokens_kept, tokens_collapsed
law 7 | A collapse of the token count means PROPOSED

user
| ```c:src/t.c
| int table[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40};
| ```
model
| ```c:src/t.c
| int table[] = {f(), f(), f(), f(), f(), f(), f(), f()};
| ```
