# A file that neither a grammar nor a pattern reads is true as a whole: what the user pastes where
# disk has none.
law 4.1, 9.1 | A file that nothing here can parse is true as a whole where disk or the user's paste holds it | exact_match

user
| ```haskell:Tool.hs
| def f():
|     return 1
| ```
model
| Fine.

user
| Go on with Tool.hs
