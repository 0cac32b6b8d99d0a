# The client sees the workspace in another file system, under a root of its own. Its files are recognised
# by their text, two that agree teach the root, and from then on a whole file counts, too.
law engine 4 | A client's path by another root is the file whose text it shows or replaces; two teach the root

disk src/a.py
| def area(w, h):
|     return w * h
|
|
| def edge(w, h):
|     return 2 * (w + h)
disk src/b.py
| def name(it):
|     return it.name
|
|
| def size(it):
|     return len(it)
touch
tools
context system
| You are an agent.
| <env>
| Working directory: /home/dev/proj
| </env>
user
| Make `area` refuse negative sides.
call read
| {"filePath": "/home/dev/proj/src/a.py"}
model
| I read it.
context tool
| 1: def area(w, h):
| 2:     return w * h
| 3:
| 4:
| 5: def edge(w, h):
| 6:     return 2 * (w + h)
again
call edit
| {"filePath": "/home/dev/proj/src/a.py", "oldString": "    return w * h", "newString": "    return abs(w * h)"}
model
| Done.
disk src/a.py
| def area(w, h):
|     return abs(w * h)
|
|
| def edge(w, h):
|     return 2 * (w + h)
context tool
| Edit applied successfully.
again
call edit
| {"filePath": "/home/dev/proj/src/b.py", "oldString": "    return len(it)", "newString": "    return len(it.name)"}
model
| And the other one.
disk src/b.py
| def name(it):
|     return it.name
|
|
| def size(it):
|     return len(it.name)
context tool
| Edit applied successfully.
again
call write
| {"filePath": "/home/dev/proj/src/c.py", "content": "def depth(it):\n    return it.depth\n"}
model
| A new file.
context tool
| Wrote file successfully.
user
| What do `area`, `size` and `depth` do?
model
| They compute.
