# Code without a fence and without a path, or in a fence without a language and a path: one
# notice, and nothing is true.
law 9.1 | The user's code that nothing links to a file stays a record, in whatever shape it is pasted; one notice for a prompt says so | paste_without_path

user
| What does this do?
|
| int add(int a, int b) {
|     return a + b;
| }
|
| ```
| int sub(int a, int b) { return a - b; }
| ```
model
| It adds.

user
| And this?
| ```
| int sub(int a, int b) { return a - b; }
| ```
model
| It subtracts.

user
| Thanks.
