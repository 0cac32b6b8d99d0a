# A path in the sentence before the fence that leads to it links the user's code and the model's.

user
| This is src/a.c as it stands:
| ```c
| int a(void) { return 1; }
| ```
model
| I changed src/a.c like this:
| ```c
| int a(void) { return 2; }
| ```

user
| What does `a` return?
