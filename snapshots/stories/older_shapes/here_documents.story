# Of a shell's command only the lines go that write what isn't true any more.
law 15.6, engine 7 | Code that is superseded, removed or STALE is withheld from older messages and system messages, whoever said it

full markers in messages and in the arguments of calls

disk src/a.c
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
user
| ```c:src/a.c
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
| ```
model
| Noted.

new
tools
user
| Write them again.
call bash
| {"command": "mkdir -p src && cat > src/a.c <<'EOF'\nint add(int a, int b) { return a + b; }\nEOF\nmake", "timeout": 1.50}
call shell
| {"command": ["bash", "-lc", "tee src/b.c <<X\nint other(void) { return 1; }\nX\ncat <<-Y >> src/a.c\n\tint add(int a, int b) { return a + b; }\n\tY\n"]}
call bash
| {"command": "cat > src/a.c <<'EOF'\nint sub(int a, int b) { return a - b; }\nEOF"}
model
| I'll run this next:
| ```bash
| cat > src/a.c <<'EOF'
| int add(int a, int b) { return a + b; }
| EOF
| make
| ```

context tool
| ok
context tool
| ok
context tool
| ok
context assistant
| Done.
disk src/a.c
| int add(int a, int b) { return a + b + 1; }
|
| int sub(int a, int b) { return a - b; }
user
| And now `add`?
