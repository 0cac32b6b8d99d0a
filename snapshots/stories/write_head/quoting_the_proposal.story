# Quoting what the model has just proposed doesn't make it the user's.
law 9.1 | What the model wrote doesn't become the user's by being quoted
law 2 | The proxy is authoritative
law 8.4 | It never affects the State Map

policy profile strict

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| ```c:src/a.c
| int a(int x) { return x + 2; }
| ```

user
| Why did you write this?
| ```c:src/a.c
| int a(int x) { return x + 2; }
| ```
