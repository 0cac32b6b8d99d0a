# Overloads are one entity: a reply that has only one of the two changes that one and keeps the
# other.
law 7 | No loss of a top-level symbol | symbols_kept
law engine 4 | Several definitions of one name are one entity

user
| ```cpp:src/max.cpp
| int max_of(int a, int b) { return a > b ? a : b; }
| double max_of(double a, double b) { return a > b ? a : b; }
| ```
model
| ```cpp:src/max.cpp
| int max_of(int a, int b) { if (a > b) return a; return b; }
| ```

user
| Show me max_of
