# Where the client's whole history goes along, the paste is in sight however long ago it was; so
# is what the model made of it since.
law 12 | What the model has seen it may change, whoever showed it | structural_parity

policy history client

user
| ```c:src/compute.c
| int compute(int x) { return x * 2 + 1; }
| ```
| Keep this.
model
| Kept.

user
| And on?
model
| On.

user
| And on?
model
| On.

user
| And on?
model
| On.

user
| And on?
model
| On.

user
| And on?
model
| On.

user
| Write a poem.
model
| ```c:src/compute.c
| int compute(int x) { return x * 3 + 7; }
| ```

user
| Another one.
model
| ```c:src/compute.c
| int compute(int x) { return x * 4 + 7; }
| ```
