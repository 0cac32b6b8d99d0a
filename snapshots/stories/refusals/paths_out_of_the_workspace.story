# `..`, absolute, home, UNC and device paths are refused with a reason, and nothing of them is
# tracked.
law engine 4 | A path that leads out of the workspace names nothing | path_escapes_workspace

user
| ```c:../up.c
| int up(void) { return 1; }
| ```
| ```c:/etc/abs.c
| int absolute(void) { return 1; }
| ```
| ```c:src/../../deep.c
| int deep(void) { return 1; }
| ```
| ```c://server/share/unc.c
| int unc(void) { return 1; }
| ```
| ```c:nul.c
| int device(void) { return 1; }
| ```
| ```c title=C:\win.c
| int drive(void) { return 1; }
| ```
