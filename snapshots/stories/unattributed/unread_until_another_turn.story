# What a script has changed in a file that nobody named until a later turn is still not the
# user's.

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
disk shop/other.py
| def other():
|     return 1
user
| Read shop/cart.py.
model
| Yes.

user
| Run the script.
call bash
| {"command": "python tidy.py"}
model
| I run it.

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
| done
again
model
| Done.

user
| Now look at shop/cart.py.
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
| It is short.
