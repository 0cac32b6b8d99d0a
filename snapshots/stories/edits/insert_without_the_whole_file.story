# A line number says nothing where only parts of the file are known.
law 12 | A line or an end is named, and only parts of the file are known | edit_needs_whole_file

user
| ```c:src/a.c (10-17)
| int clamp(int x, int low, int high) {
|     if (x < low) return low;
|     if (x > high) return high;
|     return x;
| }
|
| int twice(int x) {
|     int sum = x + x;
|     return sum;
| }
| ```
| Let clamp() cope with low > high.
call file_editor
| {"command": "insert", "path": "src/a.c", "insert_line": 1, "new_str": "    if (low > high) return x;"}
model
| I insert it.
