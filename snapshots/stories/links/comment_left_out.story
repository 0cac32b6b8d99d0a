# A function by itself replaces the function: the comment above it stays, as in the file of a user
# who puts it there.

user
| ```go:a.go
| package a
|
| import "log"
|
| // beta returns the second.
| // It is slow.
| func beta(a int) int {
|     if a < 0 {
|         return 0
|     }
|     return a * 2
| }
|
| func gamma(a int) int {
|     return a
| }
| ```
model
| Fine.

user
| Add a log to `beta`.
model
| ```go:a.go
| func beta(a int) int {
|     if a < 0 {
|         return 0
|     }
|     log.Print(a)
|     return a * 2
| }
| ```

disk a.go
| package a
|
| import "log"
|
| // beta returns the second.
| // It is slow.
| func beta(a int) int {
|     if a < 0 {
|         return 0
|     }
|     log.Print(a)
|     return a * 2
| }
|
| func gamma(a int) int {
|     return a
| }
user
| Now log it twice.
model
| ```go:a.go
| func beta(a int) int {
|     if a < 0 {
|         return 0
|     }
|     log.Print(a)
|     log.Print(a)
|     return a * 2
| }
| ```
