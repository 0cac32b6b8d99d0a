//! Languages that are read by the patterns of `symbols.json` (spec §4.1, step 2), and one with a grammar.

use super::check;

#[test]
fn unique_and_exact() {
    check(
        "patterns__unique_and_exact",
        "Ruby has no grammar here: each pattern matches exactly and once, so the code is CONFIRMED.",
        "
        user
        | ```ruby:lib/store.rb
        | require 'set'
        |
        | class Store
        |   def put(key, value)
        |     @items[key] = value
        |     value
        |   end
        |
        |   def get(key)
        |     @items[key]
        |   end
        | end
        | ```
        | Let `Store#put` refuse nil.
        model
        | ```ruby:lib/store.rb
        | require 'set'
        |
        | class Store
        |   def put(key, value)
        |     raise ArgumentError, key if value.nil?
        |     @items[key] = value
        |     value
        |   end
        |
        |   def get(key)
        |     @items[key]
        |   end
        | end
        | ```
        user
        | Show me `Store#put`
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
        | ```ruby:lib/calc.rb
        | def add(a, b)
        |   a + b
        | end
        | ```
        | Make `add` work for strings.
        model
        | ```ruby:lib/calc.rb
        | def add(a, b)
        |   a.to_s + b.to_s
        | end
        |
        | def add(a, b)
        |   a + b
        | end
        | ```
        ",
    );
}

#[test]
fn twice_in_a_language_with_a_grammar() {
    check(
        "patterns__twice_in_a_language_with_a_grammar",
        "A grammar knows of both where they end; that the model defines one name twice is refused all the same.",
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
        "A body that does nothing is a stub, a comment that stands for code a placeholder.",
        "
        full code confirmed by a pattern
        user
        | ```ruby:lib/calc.rb
        | def total(items)
        |   result = 0
        |   items.each { |item| result += item }
        |   result
        | end
        |
        | def mean(items)
        |   total(items) / items.size
        | end
        | ```
        | Make `total` faster.
        model
        | ```ruby:lib/calc.rb
        | def total(items)
        |   nil
        | end
        | ```
        user
        | In full, please.
        model
        | ```ruby:lib/calc.rb
        | def total(items)
        |   items.sum
        | end
        |
        | # ... rest of the code ...
        | ```
        ",
    );
}
