# A call that is out across a pause of an hour is over: who changes a file then is the user.

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
| {"command": "python tidy.py"}
model
| I run it.

later 2
disk shop/cart.py
| def total(items):
|     return 0
|
|
| def discount(amount, percent):
|     if percent > 100:
|         raise ValueError(percent)
|     return amount * (100 - percent) / 100
client B
user
| Read shop/cart.py.
call read
| {"path": "shop/cart.py"}
model
| I read it.

context tool
| def total(items):
|     return 0
|
|
| def discount(amount, percent):
|     if percent > 100:
|         raise ValueError(percent)
|     return amount * (100 - percent) / 100
again
model
| Short.
