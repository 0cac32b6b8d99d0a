# Once a function was gutted by a script, an edit of what is left of it is measured against the
# whole function: it isn't an edit that matches nothing.

touch
tools
disk shop/cart.py
| def total(items):
|     result = 0
|     for item in items:
|         if item.price < 0:
|             raise ValueError(item)
|         result += item.price * item.count
|     return result
|
|
| def discount(amount, percent):
|     if percent > 100:
|         raise ValueError(percent)
|     return amount * (100 - percent) / 100
user
| Tidy shop/cart.py, please.
call read
| {"path": "shop/cart.py"}
model
| I read it.

context tool
| def total(items):
|     result = 0
|     for item in items:
|         if item.price < 0:
|             raise ValueError(item)
|         result += item.price * item.count
|     return result
|
|
| def discount(amount, percent):
|     if percent > 100:
|         raise ValueError(percent)
|     return amount * (100 - percent) / 100
again
call bash
| {"command": "sed -i '3,7d' shop/cart.py"}
model
| I shorten it.

disk shop/cart.py
| def total(items):
|     return 0
|
|
| def discount(amount, percent):
|     if percent > 100:
|         raise ValueError(percent)
|     return amount * (100 - percent) / 100
context tool
again
call edit
| {"path": "shop/cart.py", "old_string": "    return 0\n", "new_string": "    return len(items)\n"}
model
| I count them.

disk shop/cart.py
| def total(items):
|     return len(items)
|
|
| def discount(amount, percent):
|     if percent > 100:
|         raise ValueError(percent)
|     return amount * (100 - percent) / 100
context tool
again
call edit
| {"path": "shop/cart.py", "old_string": "    return len(items)\n", "new_string": "    result = 0\n    for item in items:\n        if item.price < 0:\n            raise ValueError(item)\n        result += item.price * item.count\n    return result\n"}
model
| I put it back.

disk shop/cart.py
| def total(items):
|     result = 0
|     for item in items:
|         if item.price < 0:
|             raise ValueError(item)
|         result += item.price * item.count
|     return result
|
|
| def discount(amount, percent):
|     if percent > 100:
|         raise ValueError(percent)
|     return amount * (100 - percent) / 100
context tool
again
model
| Done.
