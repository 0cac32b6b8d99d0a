# A file that a diff makes out of nothing is code of its own language, not of the fence's, which
# names the format.

user
| Write a test for `half`.
model
| ```diff
| --- /dev/null
| +++ tests/half.py
| @@ ... @@
| +import shop
| +
| +def test_half():
| +    assert shop.half(2) == 1
| ```
