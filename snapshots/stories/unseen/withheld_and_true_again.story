# Code that was withheld from the message that showed it stays so, also once it is true again: the
# model doesn't see it there.
law 12, 2 | Nothing that went to the model shows the base: neither hydrated code, nor the client's messages with what tools read, nor an edit of the model's own | base_unacknowledged

policy history client

user
| ```c:src/compute.c
| int compute(int x) { return x * 2 + 1; }
| ```
model
| Kept.

client B
user
| ```c:src/compute.c
| int compute(int x) { return x * 5 + 1; }
| ```
model
| Kept.

client A
user
| Go on.
model
| On.

client B
user
| Back to this one:
| ```c:src/compute.c
| int compute(int x) { return x * 2 + 1; }
| ```
model
| Kept.

client A
user
| Write a poem.
model
| ```c:src/compute.c
| int compute(int x) { return x * 3 + 7; }
| ```
