# A fragment repeated a function that changed since: an edit of the old function finds nothing
# that is true.
law 12 | The text to be replaced isn't there | edit_text_not_found

user
| ```c:src/a.c
| int twice(int x) {
|     return x + x;
| }
| ```
user
| ```c:src/a.c
| int twice(int x) {
|     return x + x;
| }
|
| int half(int x) {
|     return x / 2;
| }
| ```
user
| ```c:src/a.c
| int twice(int x) {
|     return 2 * x;
| }
| ```
| Make twice() safe.
model
| src/a.c
| ```c
| <<<<<<< SEARCH
|     return x + x;
| =======
|     return x > 1000 ? 2000 : x + x;
| >>>>>>> REPLACE
| ```
