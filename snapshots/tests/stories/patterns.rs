//! Languages that are read by the patterns of `symbols.json` (spec §4.1, step 2).

use super::check;

#[test]
fn unique_and_exact() {
    check(
        "patterns__unique_and_exact",
        "Python without a grammar: each pattern matches exactly and once, so the code is CONFIRMED.",
        "
        user
        | ```python:src/store.py
        | import os
        |
        | class Store:
        |     def put(self, key, value):
        |         self.items[key] = value
        |         return value
        |
        |     def get(self, key):
        |         return self.items[key]
        | ```
        | Let `Store.put` refuse None.
        model
        | ```python:src/store.py
        | import os
        |
        | class Store:
        |     def put(self, key, value):
        |         if value is None:
        |             raise ValueError(key)
        |         self.items[key] = value
        |         return value
        |
        |     def get(self, key):
        |         return self.items[key]
        | ```
        user
        | Show me `Store.put`
        ",
    );
}

#[test]
fn ambiguous() {
    check(
        "patterns__ambiguous",
        "The model defines one name twice: a pattern can't tell which is meant, so it is only INFERRED.",
        "
        user
        | ```python:src/calc.py
        | def add(a, b):
        |     return a + b
        | ```
        | Make `add` work for strings.
        model
        | ```python:src/calc.py
        | def add(a, b):
        |     return str(a) + str(b)
        |
        | def add(a, b):
        |     return a + b
        | ```
        ",
    );
}

#[test]
fn lazy_body() {
    check(
        "patterns__lazy_body",
        "A body of `pass` is a stub, a comment that stands for code a placeholder.",
        "
        user
        | ```python:src/calc.py
        | def total(items):
        |     result = 0
        |     for item in items:
        |         result += item
        |     return result
        |
        | def mean(items):
        |     return total(items) / len(items)
        | ```
        | Make `total` faster.
        model
        | ```python:src/calc.py
        | def total(items):
        |     pass
        | ```
        user
        | In full, please.
        model
        | ```python:src/calc.py
        | def total(items):
        |     return sum(items)
        |
        | # ... rest of the code ...
        | ```
        ",
    );
}
