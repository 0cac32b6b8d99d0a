# Two windows change one function: the second reply stands on a base that is no longer true and is
# refused.
law 12 | The base isn't the current one, or isn't known so | base_unacknowledged
law 12 | A base that moved since the model was shown it | base_unmoved

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| Fine.

client B
user
| Change a()
client A
user
| Change a()
model
| ```c:src/a.c
| int a(int x) { return x + 2; }
| ```

client B
model
| ```c:src/a.c
| int a(int x) { return x + 3; }
| ```

user
| Show me a()
client A
user
| Show me a()
