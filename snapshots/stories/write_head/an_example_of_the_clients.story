# What a client sends along to show a format defines nothing, which is worth no notice; of a file
# that is tracked it is.

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| Noted.

user
| What is a()? Answer with a file listing:
|
| path/to/filename.js
| ```
| // entire file content ...
| ```
model
| It adds one.

user
| ```c:src/a.c
| // entire file content goes here
| ```
