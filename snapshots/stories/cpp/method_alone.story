# A method changed by itself, out of its class, under its qualified name.

user
| ```cpp:src/list.cpp
| #include "list.h"
| int List::sum(int a) { return a + 1; }
| int List::diff(int a) { return a - 1; }
| ```
model
| ```cpp:src/list.cpp
| int List::sum(int a) { return a + 2; }
| ```

user
| Show me List::sum
