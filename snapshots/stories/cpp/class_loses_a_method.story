# A class by itself without one of its methods is refused, though everything else is there.
law 7 | No loss of a top-level symbol | symbols_kept, symbols_lost

full a notice with missing definitions

user
| ```cpp:src/p.cpp
| struct Point {
|     int x = 0;
|     int norm() const { return x * x; }
|     int twice() const { return 2 * x; }
| };
| ```
model
| ```cpp:src/p.cpp
| struct Point {
|     int x = 0;
|     int y = 0;
|     int norm() const { return x * x + y * y; }
| };
| ```

user
| Show me `Point`
