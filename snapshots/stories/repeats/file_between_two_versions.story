# Disk holds a version that came after the words, and the model's last one isn't written: the
# first paste is older than both.

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Improve `add`.
model
| src/a.c
| ```c
| int add(int a, int b) { int sum = a; return sum + b; }
| ```

disk src/a.c
| int add(int a, int b) { int sum = a; return sum + b; }
user
| Improve `add` once more.
model
| src/a.c
| ```c
| int add(int a, int b) { long sum = a; sum += b; return (int)sum; }
| ```

back 3
again
