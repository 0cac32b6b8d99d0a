# A reply without a path whose function stands in two tracked files is UNRESOLVED; the law's
# notice follows.
law 4.1 (4) | Several tracked files fit | several_candidates
law 4.1 | Then overlap with one known entity

user
| ```c:src/a.c
| static int helper(int x) { return x + 1; }
| ```
| ```c:src/b.c
| static int helper(int x) { return x + 1; }
| ```
model
| ```c
| static int helper(int x) { return x + 2; }
| ```

user
| Thanks.
