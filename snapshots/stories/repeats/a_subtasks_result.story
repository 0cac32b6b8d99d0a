# A client hands a subtask's reply back in a message of the user's: the refused proposal in it
# isn't the user's word.
law 9.1 | A proposal that a client hands back in a message of the user's isn't the user's word, nor from another conversation where the file holds otherwise

user
| ```c:src/a.c
| int clamp(int x, int low, int high) {
|     if (x < low) return low;
|     if (x > high) return high;
|     return x;
| }
| ```
model
| Here it is:
| ```c:src/a.c
| int clamp(int x, int low, int high) {
|     return x;
| }
| ```

user
| [new_task completed] Result:
|
| Here it is:
| ```c:src/a.c
| int clamp(int x, int low, int high) {
|     return x;
| }
| ```
