# The model defines one name twice: a pattern can't tell which is meant, so it is only INFERRED.
law 4.1 (2) | A pattern of `symbols.json`, in part or ambiguous: INFERRED | pattern_partial
law 4.1 | Then the patterns of `symbols.json`: unique and exact, or in part

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
