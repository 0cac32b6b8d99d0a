//! C++.

use crate::shown;

#[track_caller]
fn check(source: &str, expected: &str) {
    shown::check("a.cpp", source, expected);
}

#[test]
fn namespaces_and_members() {
    check(
        "namespace a::b { inline namespace v1 {\nclass C {\n public:\n  C();\n  ~C() { }\n  int m() const { return 1; }\n  \
         static int s;\n  struct In { int x; };\n  enum class E : int { X };\n  using U = int;\n};\n} }\n\
         namespace { int hidden; }\nnamespace ns {\nint C::m() const { return 2; }\nint C::s = 1;\nC::~C() = default;\n}\n",
        "top a::b::v1::C: class C { ~ };
         in a::b::v1::C::~C: ~C() { }
         in a::b::v1::C::m: int m() const { return 1; }
         in a::b::v1::C::In: struct In { int x; };
         in a::b::v1::C::E: enum class E : int { X };
         in a::b::v1::C::U: using U = int;
         top hidden: int hidden;
         top ns::C::m: int C::m() const { return 2; }
         top ns::C::s: int C::s = 1;
         top ns::C::~C: C::~C() = default;",
    );
}

#[test]
fn templates() {
    check(
        "/// A vector.\ntemplate <class T, int N>\nclass Vec {\n  template <class U> void push(U u) { }\n};\n\
         template <class T, int N> template <class U>\nvoid Vec<T, N>::push(U u) { }\n\
         template <> struct Vec<int, 1> { int f() { return 1; } };\ntemplate <class T> int size<T*>(T *t) { return 1; }\n\
         template <class T> constexpr bool is_ok = true;\ntemplate <class T> using Ptr = T *;\n\
         template <class T> concept Any = true;\ntemplate class Vec<char, 1>;\n",
        "top Vec: /// A vector. ~ };
         in Vec::push: template <class U> void push(U u) { }
         top Vec::push: template <class T, int N> template <class U> ~ void Vec<T, N>::push(U u) { }
         top Vec<int,1>: template <> struct Vec<int, 1> { int f() { return 1; } };
         in Vec<int,1>::f: int f() { return 1; }
         top size<T*>: template <class T> int size<T*>(T *t) { return 1; }
         top is_ok: template <class T> constexpr bool is_ok = true;
         top Ptr: template <class T> using Ptr = T *;
         top Any: template <class T> concept Any = true;",
    );
}

#[test]
fn operators() {
    check(
        "namespace n {\nstruct A {\n  bool operator==(const A &o) const { return true; }\n  operator bool() const { return true; }\n  \
         friend A operator+(A a, A b) { return a; }\n};\nbool operator<(A a, A b) { return true; }\n}\n\
         n::A::operator int *() const { return 0; }\nvoid *operator new [](size_t s) { return 0; }\n\
         long double operator\"\"_km(long double v) { return v; }\n",
        "top n::A: struct A { ~ };
         in n::A::operator==: bool operator==(const A &o) const { return true; }
         in n::A::operator bool: operator bool() const { return true; }
         in n::operator+: friend A operator+(A a, A b) { return a; }
         top n::operator<: bool operator<(A a, A b) { return true; }
         top n::A::operator int*: n::A::operator int *() const { return 0; }
         top operator new[]: void *operator new [](size_t s) { return 0; }
         top operator\"\"_km: long double operator\"\"_km(long double v) { return v; }",
    );
}

#[test]
fn variables_and_linkage() {
    check(
        "extern \"C\" int f(void) { return 1; }\nextern \"C\" int declared;\nconstexpr int K = 1, *J = 0;\n\
         auto l = [](int x) { int y = x; return y; };\nFoo made{1};\nFoo prototype(int);\nint X::*member = 0;\nimport std;\n",
        "top f: extern \"C\" int f(void) { return 1; }
         top K: constexpr int K = 1, *J = 0;
         top J: constexpr int K = 1, *J = 0;
         top l: auto l = [](int x) { int y = x; return y; };
         top made: Foo made{1};
         top member: int X::*member = 0;",
    );
}

#[test]
fn macros_in_classes() {
    check(
        "class MY_EXPORT Widget : public Base {\n  Q_OBJECT\n  Q_PROPERTY(int x READ x)\n public:\n  \
         Widget(Widget &&o) NOEXCEPT { }\n  void (Widget::*handler)(int) const;\n};\n\
         int use(Widget *w) { return (w->*handler)(1); }\n",
        "top Widget: class MY_EXPORT Widget : public Base { ~ };
         in Widget::Widget: Widget(Widget &&o) NOEXCEPT { }
         top use: int use(Widget *w) { return (w->*handler)(1); }",
    );
}

#[test]
fn other_compilers() {
    check(
        "class Widget : public Base {\n  Q_OBJECT\npublic:\n  int a() { return 1; }\nprotected slots:\n\n  void ok();\nsignals:\n  \
         void done();\nprivate:\n  int b : 3;\n};\n",
        "top Widget: class Widget : public Base { ~ };
         in Widget::a: int a() { return 1; }",
    );
}

#[test]
fn signatures_in_macros() {
    check(
        "int j(W *w) {\n  connect(w, SIGNAL(changed(const QColor&)), this, SLOT(got(int, Item *)));\n  connect(w, SIGNAL(done()), this, \
         SLOT(copy()));\n  ASSERT(check(new Item(1), sizeof(int)));\n  return 1;\n}\n",
        "top j: int j(W *w) { ~ }",
    );
}

#[test]
fn foreach_with_variable() {
    check(
        "int f(QStringList l) {\n  foreach (QString def, l.split(\";\")) {\n    use(def);\n  }\n  return 1;\n}\n\
         int g(QStringList l) {\n  foreach (const QString &def, l) {\n    use(def);\n  }\n  return 1;\n}\n",
        "top f: int f(QStringList l) { ~ }
         top g: int g(QStringList l) { ~ }",
    );
}

#[test]
fn real_errors_stay() {
    check(
        "class A { void f() { return (1; } };\n",
        "top damaged A: class A { void f() { return (1; } };\nin damaged A::f: void f() { return (1; }\nnot clean",
    );
}
