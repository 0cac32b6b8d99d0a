# A file begins with a byte order mark and its first function: that is a function like any other, also
# for an edit of its first line.
law 9.1 | A byte order mark is no part of a file's first line

touch
tools
disk shop/cart.py
| ﻿def total(items):
|     return sum(items)
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
| 2:     return sum(items)
| 3: 
| 4: 
| 5: def weight(items):
| 6:     return len(items)
again
call apply_patch
| {"input": "*** Begin Patch\n*** Update File: shop/cart.py\n@@\n-def total(items):\n+def total(items, start=0):\n-    return sum(items)\n+    return sum(items, start)\n*** End Patch"}
model
| I add a start.

disk shop/cart.py
| ﻿def total(items, start=0):
|     return sum(items, start)
|
|
| def weight(items):
|     return len(items)
context tool
| Edit applied.
again
