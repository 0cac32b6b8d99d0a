# The paste has left the window of recent turns, so the model doesn't see it any more.
law 12, 2 | Nothing that went to the model shows the base: neither hydrated code, nor the client's messages with what tools read, nor an edit of the model's own | base_unacknowledged

policy history window

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
