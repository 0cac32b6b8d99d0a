# For models without a system role the same text stands in front of the prompt.
law engine 7 | Text for models without a system role

full code and recent context in front of the prompt
policy placement user

context system
| You are terse.
user
| ```c:src/a.c
| int a(int x) { return x; }
| ```
model
| Fine.

user
| Explain a()
