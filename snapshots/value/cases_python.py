"""stock.py: its code, a unit test a function, and what is asked of it."""

NAME = "stock.py"
LANGUAGE = "python"

CODE = '''"""A small stock ledger."""


class OutOfStock(Exception):
    """There is less of an item than was asked for."""


def new_item(name, price, qty=0):
    """An item as a dict."""
    if price < 0:
        raise ValueError("price is negative")
    return {"name": name, "price": price, "qty": qty}


def add_item(stock, item):
    """Puts an item into the stock; equal names are summed up."""
    if not item["name"]:
        raise ValueError("an item needs a name")
    known = stock.get(item["name"])
    if known is None:
        stock[item["name"]] = dict(item)
    else:
        known["qty"] += item["qty"]


def remove_item(stock, name, qty):
    """Takes some of an item out of the stock."""
    if qty <= 0:
        raise ValueError("quantity must be positive")
    if name not in stock:
        raise KeyError(name)
    item = stock[name]
    if item["qty"] < qty:
        raise OutOfStock(name)
    item["qty"] -= qty


def total_value(stock):
    """What everything in the stock is worth."""
    return sum(item["price"] * item["qty"] for item in stock.values())


def low_items(stock, limit=5):
    """The names of items of which few are left."""
    return sorted(name for name, item in stock.items() if item["qty"] < limit)


def apply_discount(stock, percent):
    """Lowers every price."""
    if not 0 <= percent <= 100:
        raise ValueError("percent must be between 0 and 100")
    for item in stock.values():
        item["price"] = round(item["price"] * (100 - percent) / 100, 2)


def report(stock):
    """The stock as text, one item a line."""
    lines = []
    for name in sorted(stock):
        item = stock[name]
        lines.append(f"{name}: {item['qty']} at {item['price']:.2f}")
    lines.append(f"total: {total_value(stock):.2f}")
    return "\\n".join(lines)
'''

TESTS = {
    "new_item": """
assert new_item("tea", 2.0, 3)["qty"] == 3
raises(ValueError, lambda: new_item("tea", -1))
""",
    "add_item": """
s = {}
add_item(s, new_item("tea", 2.0, 3)); add_item(s, new_item("tea", 2.0, 4))
assert s["tea"]["qty"] == 7
raises(ValueError, lambda: add_item({}, {"name": "", "price": 1, "qty": 1}))
""",
    "remove_item": """
s = {"tea": {"name": "tea", "price": 2.0, "qty": 5}}
remove_item(s, "tea", 2)
assert s["tea"]["qty"] == 3
raises(ValueError, lambda: remove_item(s, "tea", 0))
raises(KeyError, lambda: remove_item(s, "milk", 1))
raises(OutOfStock, lambda: remove_item(s, "tea", 4))
""",
    "total_value": """
assert abs(total_value({"a": {"price": 2, "qty": 3}, "b": {"price": 1, "qty": 1}}) - 7) < 1e-9
""",
    "low_items": """
assert low_items({"b": {"qty": 1}, "a": {"qty": 2}, "c": {"qty": 9}}) == ["a", "b"]
""",
    "apply_discount": """
s = {"a": {"price": 10.0, "qty": 1}}
apply_discount(s, 10)
assert s["a"]["price"] == 9.0
raises(ValueError, lambda: apply_discount(s, 101))
""",
    "report": """
r = report({"tea": {"price": 2.0, "qty": 3}, "ale": {"price": 1.0, "qty": 2}})
assert "tea: 3 at 2.00" in r and "total: 8.00" in r and r.index("ale") < r.index("tea")
""",
}

PRELUDE = """
def raises(kind, act):
    try:
        act()
    except kind:
        return
    raise AssertionError(kind)
"""

# Two turns about other functions: a question, and a change that the user saves.
FILLERS = [
    (
        "What does `low_items` return for an empty stock?",
        "It returns an empty list, because there is no item to look at.",
        None,
    ),
    (
        "Make `total_value` round its result to 2 digits.",
        "Here is the updated `total_value` function:\n\n```python\n{}\n```\n\nThe result is now rounded to 2 digits.",
        '''def total_value(stock):
    """What everything in the stock is worth."""
    return round(sum(item["price"] * item["qty"] for item in stock.values()), 2)''',
    ),
]

# Of each function: the first change with its code and test, what is asked for then with its test, the user's own edit with
# its test, and a reply to the first change that lost something.
CHANGES = {
    "remove_item": {
        "first": "Make `remove_item` delete the item from the stock when its quantity reaches 0.",
        "first_code": '''def remove_item(stock, name, qty):
    """Takes some of an item out of the stock."""
    if qty <= 0:
        raise ValueError("quantity must be positive")
    if name not in stock:
        raise KeyError(name)
    item = stock[name]
    if item["qty"] < qty:
        raise OutOfStock(name)
    item["qty"] -= qty
    if item["qty"] == 0:
        del stock[name]''',
        "first_test": """
s = {"tea": {"name": "tea", "price": 2.0, "qty": 5}}
remove_item(s, "tea", 5)
assert s == {}
""",
        "ask": "Make `remove_item` return the quantity that is left.",
        "ask_test": """
s = {"tea": {"name": "tea", "price": 2.0, "qty": 5}}
assert remove_item(s, "tea", 2) == 3
""",
        "users_code": '''def remove_item(stock, name, qty):
    """Takes some of an item out of the stock."""
    name = name.strip().lower()
    if qty <= 0:
        raise ValueError("quantity must be positive")
    if name not in stock:
        raise KeyError(name)
    item = stock[name]
    if item["qty"] < qty:
        raise OutOfStock(name)
    item["qty"] -= qty''',
        "users_test": """
s = {"tea": {"name": "tea", "price": 2.0, "qty": 5}}
remove_item(s, " Tea ", 2)
assert s["tea"]["qty"] == 3
""",
        "damaged_code": '''def remove_item(stock, name, qty):
    """Takes some of an item out of the stock."""
    item = stock[name]
    item["qty"] -= qty
    if item["qty"] == 0:
        del stock[name]''',
    },
    "add_item": {
        "first": "Make `add_item` return the item's new quantity.",
        "first_code": '''def add_item(stock, item):
    """Puts an item into the stock; equal names are summed up."""
    if not item["name"]:
        raise ValueError("an item needs a name")
    known = stock.get(item["name"])
    if known is None:
        stock[item["name"]] = dict(item)
        return item["qty"]
    known["qty"] += item["qty"]
    return known["qty"]''',
        "first_test": """
s = {}
assert add_item(s, new_item("tea", 2.0, 3)) == 3 and add_item(s, new_item("tea", 2.0, 4)) == 7
""",
        "ask": "Make `add_item` raise a ValueError if the item's qty is negative.",
        "ask_test": """
raises(ValueError, lambda: add_item({}, {"name": "tea", "price": 1, "qty": -1}))
""",
        "users_code": '''def add_item(stock, item):
    """Puts an item into the stock; equal names are summed up."""
    if not item["name"]:
        raise ValueError("an item needs a name")
    known = stock.get(item["name"])
    if known is None:
        stock[item["name"]] = dict(item)
    else:
        known["qty"] += item["qty"]
        known["price"] = item["price"]''',
        "users_test": """
s = {}
add_item(s, new_item("tea", 2.0, 3)); add_item(s, new_item("tea", 2.5, 4))
assert s["tea"]["price"] == 2.5
""",
        "damaged_code": '''def add_item(stock, item):
    """Puts an item into the stock; equal names are summed up."""
    stock[item["name"]] = dict(item)
    return item["qty"]''',
    },
    "report": {
        "first": "Make `report` begin with the line `stock report`.",
        "first_code": '''def report(stock):
    """The stock as text, one item a line."""
    lines = ["stock report"]
    for name in sorted(stock):
        item = stock[name]
        lines.append(f"{name}: {item['qty']} at {item['price']:.2f}")
    lines.append(f"total: {total_value(stock):.2f}")
    return "\\n".join(lines)''',
        "first_test": """
assert report({}).splitlines()[0] == "stock report"
""",
        "ask": "Make `report` leave out items whose quantity is 0.",
        "ask_test": """
assert "ale" not in report({"tea": {"price": 2.0, "qty": 3}, "ale": {"price": 1.0, "qty": 0}})
""",
        "users_code": '''def report(stock):
    """The stock as text, one item a line."""
    lines = []
    for name in sorted(stock):
        item = stock[name]
        lines.append(f"{name}: {item['qty']} at {item['price']:.2f} EUR")
    lines.append(f"total: {total_value(stock):.2f} EUR")
    return "\\n".join(lines)''',
        "users_test": """
assert "tea: 3 at 2.00 EUR" in report({"tea": {"price": 2.0, "qty": 3}})
""",
        "damaged_code": '''def report(stock):
    """The stock as text, one item a line."""
    lines = ["stock report"]
    for name in sorted(stock):
        lines.append(f"{name}: {stock[name]['qty']}")
    return "\\n".join(lines)''',
    },
}

# A natural session: the file is pasted with the first request.
SESSION = [
    ("remove_item", "Make `remove_item` delete the item from the stock when its quantity reaches 0.",
     CHANGES["remove_item"]["first_test"]),
    ("low_items", "What does `low_items` do with an item whose quantity is exactly the limit?", None),
    ("report", "Make `report` begin with the line `stock report`.", CHANGES["report"]["first_test"]),
    ("add_item", "Make `add_item` raise a ValueError if the item's qty is negative.", CHANGES["add_item"]["ask_test"]),
    ("remove_item", "Now make `remove_item` return the quantity that is left.", CHANGES["remove_item"]["ask_test"]),
    ("total_value", "Make `total_value` take an optional `name`: with it, only that item counts.", """
assert total_value({"a": {"price": 2, "qty": 3}, "b": {"price": 1, "qty": 1}}, "a") == 6
assert total_value({"a": {"price": 2, "qty": 3}, "b": {"price": 1, "qty": 1}}) == 7
"""),
    ("report", "Make `report` leave out items whose quantity is 0.", CHANGES["report"]["ask_test"]),
    ("add_item", "Make `add_item` return the item's new quantity.", CHANGES["add_item"]["first_test"]),
    ("low_items", "Write a function `restock(stock, limit, qty)` that adds qty to every item that `low_items` names.", """
s = {"b": {"qty": 1}, "c": {"qty": 9}}
restock(s, 5, 10)
assert s["b"]["qty"] == 11 and s["c"]["qty"] == 9
"""),
]
