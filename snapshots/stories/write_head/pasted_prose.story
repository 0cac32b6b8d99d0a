# Logs, mails, diffs, stack traces, listings and prose with code words: nothing is true, and
# nobody is told anything.
law 9.1 | Prose, logs, mails, diffs and stack traces are no code

# Nothing in here is code that anybody could take, though much of it looks so.

user
| From: a@example.org
| Subject: add (int, int) {
|
| src/add.c
| src/sub.c
| The function add in src/add.c is slow if (n > 10) {see below}:
|
| src/add.c:
| is where I would look first.
|
| 2026-01-01 12:00:00 ERROR main() { pool=3 } failed
| Traceback (most recent call last):
|   File "src/add.py", line 3, in add
|     return a + b
| TypeError: unsupported operand
|   at add (src/add.js:3:5)
| -int add(int a, int b) {
| +int add(int a, long b) {
|
| for (;;) {
| while true do
