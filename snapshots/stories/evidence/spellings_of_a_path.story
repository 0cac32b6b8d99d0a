# A file is the same however its path is spelled: from the folder above, as a URL, below the name of
# the root itself, unless the root holds a folder of that name.

user
| ```c:src/a.c
| int a(void) { return 1; }
| ```
| ```c:../space/src/a.c
| int a(void) { return 2; }
| ```
| Make a() return 3.
model
| ```c:../spaces/src/a.c
| int a(void) { return 3; }
| ```

user
| Make a() return 4.
call write
| {"path": "file:///work/space/src/a.c", "content": "int a(void) { return 4; }\n"}
model
| I write it.

user
| What does `space/src/a.c` do?
model
| ```c:space/src/a.c
| int a(void) { return 5; }
| ```

user
| ```c:space/b.c
| int b(void) { return 1; }
| ```
model
| Fine.

user
| ```c:space/src/a.c
| int a(void) { return 6; }
| ```
