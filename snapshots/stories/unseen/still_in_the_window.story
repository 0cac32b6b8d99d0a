# The paste is among the recent turns, so the model sees it though nobody names it.
law 12 | What the model has seen it may change, whoever showed it | structural_parity

policy history window

user
| ```c:src/compute.c
| int compute(int x) { return x * 2 + 1; }
| ```
| Keep this.
model
| Kept.

user
| Write a poem.
model
| ```c:src/compute.c
| int compute(int x) { return x * 3 + 7; }
| ```
