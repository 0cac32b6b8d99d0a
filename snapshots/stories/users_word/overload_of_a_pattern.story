# One overload of a language that only patterns read contradicts the function that is true.

user
| ```kotlin:src/A.kt
| fun add(a: Int): Int {
|     return a
| }
|
| fun mul(a: Int): Int {
|     return a
| }
| ```
model
| Noted.

user
| ```kotlin:src/A.kt
| fun add(a: Int, b: Int): Int {
|     return a + b
| }
|
| fun add(a: Long): Long {
|     return a
| }
| ```
model
| I see.

user
| What does `add` do?
