# A refused proposal's notice and hydration concern its own session only.

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| ```c:src/a.c
| int a(int x) { /* ... */ }
| ```

client B
user
| Hello.
client A
user
| Go on.
