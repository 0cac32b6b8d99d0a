# A subagent's orders of one line resume nothing.

tools
disk shop/cart.py
| def total(items):
|     return sum(items)
user
| shop/cart.py
| ```python
| def total(items):
|     return sum(items)
| ```
model
| Noted.

disk shop/cart.py
| def total(items):
|     return 0
user
| Please look at the cart with an agent.
call Task
| {"description": "look", "prompt": "@tslp resume"}
model
| I ask an agent.

client B
user
| @tslp resume
