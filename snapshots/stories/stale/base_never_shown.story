# Disk defines a function that was never shown here: the model can't replace what it has never
# seen.
law 12 | The base isn't the current one, or isn't known so | base_unacknowledged
law 12 | A base that isn't acknowledged: PROPOSED
law 15.6 | What refers to a STALE base is invalid

disk src/a.c
| int hidden(int x) { return x * 31 + 7; }
user
| Write `hidden` in src/a.c
model
| ```c:src/a.c
| int hidden(int x) { return x; }
| ```

user
| Thanks.
