# Code without a path and without any tracked namesake: UNRESOLVED, and the law's notice in the
# next prompt only.
law 4.1 (4) | Neither a path nor a unique correlation | no_entity
law 8.3 | The law's notice for what was INFERRED or UNRESOLVED, once | unlinked
law 3.3 | Nothing outside of it is real
law 4 | UNRESOLVED is logged only
law 8.3 | The notice after what was INFERRED or UNRESOLVED
law 12 | Resolution fails: nothing changes

user
| Write me a function.
model
| ```c
| int fresh(void) { return 1; }
| ```

user
| Thanks.
model
| Gladly.

user
| And now?
