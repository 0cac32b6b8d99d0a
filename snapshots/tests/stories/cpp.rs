//! C++: qualified names, methods, overloads, namespaces.

use super::check;

#[test]
fn methods_and_namespaces() {
    check(
        "cpp__methods_and_namespaces",
        "A class in a namespace, its methods inside and outside: each by its qualified name.",
        "
        user
        | ```cpp:src/list.cpp
        | #include \"list.h\"
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
        ",
    );
}

#[test]
fn overloads() {
    check(
        "cpp__overloads",
        "Overloads are one entity: a reply that has only one of the two changes that one and keeps the other.",
        "
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
        ",
    );
}

#[test]
fn method_alone() {
    check(
        "cpp__method_alone",
        "A method changed by itself, out of its class, under its qualified name.",
        "
        user
        | ```cpp:src/list.cpp
        | #include \"list.h\"
        | int List::sum(int a) { return a + 1; }
        | int List::diff(int a) { return a - 1; }
        | ```
        model
        | ```cpp:src/list.cpp
        | int List::sum(int a) { return a + 2; }
        | ```
        user
        | Show me List::sum
        ",
    );
}

#[test]
fn class_loses_a_method() {
    check(
        "cpp__class_loses_a_method",
        "A class by itself without one of its methods is refused, though everything else is there.",
        "
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
        ",
    );
}

#[test]
fn a_function_and_its_stub() {
    check(
        "cpp__a_function_and_its_stub",
        "A function and the macro that stands for it in the other branch of an `#ifdef`: the function alone is changed.",
        "
        user
        | ```c:src/a.c (10-20)
        | #ifndef NDEBUG
        | static void check_info(int *at){
        |     int info = *at;
        |     assert( info > 0 );
        | }
        | #else
        | #define check_info(x)
        | #endif
        | ```
        | Let `check_info` allow zero.
        model
        | ```c:src/a.c
        | static void check_info(int *at){
        |     int info = *at;
        |     assert( info >= 0 );
        | }
        | ```
        user
        | Show me `check_info`
        ",
    );
}
