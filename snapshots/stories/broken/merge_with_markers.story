# A merge leaves its marks in a Python function: nothing new is known, the other function is as it
# was, and once the agent has resolved the conflict all of it is true.
law 9.2 | A broken file takes symbols away and creates none; its next sound state is true

touch
tools
disk shop/cart.py
| import math
|
|
| def total(items):
|     first, rest = items[0], items[1:]
|     return first + sum(rest)
|
|
| def weight(items):
|     return math.fsum(items)
user
| Look at shop/cart.py, please.
call read
| {"path": "shop/cart.py"}
model
| I read it.

context tool
| 1: import math
| 2: 
| 3: 
| 4: def total(items):
| 5:     first, rest = items[0], items[1:]
| 6:     return first + sum(rest)
| 7: 
| 8: 
| 9: def weight(items):
| 10:     return math.fsum(items)
again
model
| It adds up.

disk shop/cart.py
| import math
|
|
| def total(items):
| <<<<<<< HEAD
|     first, rest = items[0], items[1:]
|     return first + sum(rest)
| =======
|     rest = list(items)
|     return sum(rest)
| >>>>>>> topic
|
|
| def weight(items):
|     return math.fsum(items)
user
| I merged topic. Resolve it in shop/cart.py: take theirs.
call read
| {"path": "shop/cart.py"}
model
| I look.

context tool
| 1: import math
| 2: 
| 3: 
| 4: def total(items):
| 5: <<<<<<< HEAD
| 6:     first, rest = items[0], items[1:]
| 7:     return first + sum(rest)
| 8: =======
| 9:     rest = list(items)
| 10:     return sum(rest)
| 11: >>>>>>> topic
| 12: 
| 13: 
| 14: def weight(items):
| 15:     return math.fsum(items)
again
call edit
| {"path": "shop/cart.py", "old_string": "<<<<<<< HEAD\n    first, rest = items[0], items[1:]\n    return first + sum(rest)\n=======\n    rest = list(items)\n    return sum(rest)\n>>>>>>> topic\n", "new_string": "    rest = list(items)\n    return sum(rest)\n"}
model
| I take theirs.

disk shop/cart.py
| import math
|
|
| def total(items):
|     rest = list(items)
|     return sum(rest)
|
|
| def weight(items):
|     return math.fsum(items)
context tool
| Edit applied.
again
model
| Done.
