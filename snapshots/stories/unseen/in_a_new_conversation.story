# A reply that writes over code which no prompt of its conversation showed stays PROPOSED; the
# code is shown with the next prompt, and the user may confirm the change.
law 12, 2 | Nothing that went to the model shows the base: neither hydrated code, nor the client's messages with what tools read, nor an edit of the model's own | base_unacknowledged
law engine 7 | What is under proposal stays shown | under_proposal
law 2 | What the model sees of the state is put there; what it isn't shown it can't change | base_unacknowledged
law 12 | A base that isn't acknowledged: PROPOSED

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
| What was that?
model
| A change.

user
| @tslp confirm src/compute.c::compute
