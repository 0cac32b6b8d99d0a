# What is true stays as it was written, whatever stands above it.

disk src/a.rs
| pub fn rust_add(v: i64) -> i64 {
|     v + 101
| }
disk src/a.js
| function jsAdd(v) {
|   return v + 101;
| }
disk src/a.py
| def py_add(v):
|     return v + 101
user
| ```rust:src/a.rs
| pub fn rust_add(v: i64) -> i64 {
|     v + 101
| }
| ```
| ```js:src/a.js
| function jsAdd(v) {
|   return v + 101;
| }
| ```
| ```python:src/a.py
| def py_add(v):
|     return v + 101
| ```
model
| Noted.

new
tools
user
| Have a look.
call shell
| {"command": ["cat", "src/a.rs"]}
call shell
| {"command": ["cat", "src/a.js"]}
model
| Reading.

context tool
| Exit code: 0
| Wall time: 0.1 seconds
| Output:
| pub fn rust_add(v: i64) -> i64 {
|     v + 101
| }
context tool
| Exit code: 0
| Output:
|
| function jsAdd(v) {
|   return v + 101;
| }
context assistant
| As it is:
| ```rust
| // before
| pub fn rust_add(v: i64) -> i64 {
|     v + 101
| }
| ```
| and
| ```python
| # before
| def py_add(v):
|     return v + 101
| ```
| and
| ```js
| Here's the result of cat:
| function jsAdd(v) {
|   return v + 101;
| }
| ```
| Mine:
| ```rust
| // after
| pub fn rust_add(v: i64) -> i64 {
|     v + 5
| }
| ```
user
| And now `rust_add`, `jsAdd` and `py_add`?
