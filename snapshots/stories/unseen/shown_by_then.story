# Refused once, the model has the code in its next prompt: what it makes of it then is promoted.
law 12 | What the model has seen it may change, whoever showed it | structural_parity

user
| ```c:src/compute.c
| int compute(int x) { return x * 2 + 1; }
| ```
| Keep this.
model
| Kept.

new
user
| Write a poem.
model
| ```c:src/compute.c
| int compute(int x) { return x * 3 + 7; }
| ```

user
| Once more.
model
| ```c:src/compute.c
| int compute(int x) { return x * 2 + 9; }
| ```
