# A C++ function that comes back without its namespace, as it was shown, is that function and no
# second one.
law 12 | A rename needs the user's confirmation; the old name is preserved

user
| ```cpp:src/a.cpp
| namespace geo {
| int area(int w, int h) { return w * h; }
| }
| ```
| Make geo::area() safe.
model
| ```cpp:src/a.cpp
| int area(int w, int h) { return w < 0 || h < 0 ? 0 : w * h; }
| ```
