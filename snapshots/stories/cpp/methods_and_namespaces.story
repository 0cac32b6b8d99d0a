# A class in a namespace, its methods inside and outside: each by its qualified name.
law 13 | SQLite with a WAL, and syntax trees

user
| ```cpp:src/list.cpp
| #include "list.h"
| namespace ns {
| class List {
| public:
|     int size() const { return count; }
|     void push(int x);
| private:
|     int count = 0;
| };
| void List::push(int x) { count += x; }
| }
| ```
model
| Fine.

new
user
| Explain List::push and `ns::List::size`
