//! Words that the grammars of C and C++ can't place: macros are passed over, slips of the pen stay errors.

use crate::shown::{self, check};

#[test]
fn words_around_names() {
    check(
        "a.c",
        "local const z_crc_t FAR table[] = { 1, 2 };\nlocal int once(state)\n    int *state;\n{ return 1; }\n\
         static slow size_t objects = 0;\nstatic slow size_t freed = 0;\n\
         char *f(const char_t *nocopy s, int a, char *nocopy t) { return 0; }\n\
         void g(char *p) { p = (FAR char *)p; }\n",
        "top table: local const z_crc_t FAR table[] = { 1, 2 };
         top once: local int once(state) ~ { return 1; }
         top objects: static slow size_t objects = 0;
         top freed: static slow size_t freed = 0;
         top f: char *f(const char_t *nocopy s, int a, char *nocopy t) { return 0; }
         top g: void g(char *p) { p = (FAR char *)p; }",
    );
}

#[test]
fn names_in_arguments() {
    check(
        "a.c",
        "typedef int CALLBACK(message_cb)(const char *text, int length);\n\
         const uint8_t PRIV(lengths)[] = { 1 };\nstatic int fill OF((int a));\nint fill(int a) { return a; }\n\
         const id empty =\n\tID_INIT(SHA1,\n\t  { 1, 2 });\n",
        "top message_cb: typedef int CALLBACK(message_cb)(const char *text, int length);
         top lengths: const uint8_t PRIV(lengths)[] = { 1 };
         top fill: int fill(int a) { return a; }
         top empty: const id empty = ~ { 1, 2 });",
    );
}

#[test]
fn function_pointers() {
    check(
        "a.c",
        "monotime (*now)(void) = NULL;\nint f(void) { return 1; }\n",
        "top now: monotime (*now)(void) = NULL;
         top f: int f(void) { return 1; }",
    );
}

#[test]
fn loops_with_a_body() {
    check(
        "a.c",
        "int f(list *l) {\n  node *n;\n  list_each(l, n) {\n    use(n);\n  }\n  each_key(l, n){ use(n); }\n  return 0;\n}\n",
        "top f: int f(list *l) { ~ }",
    );
}

#[test]
fn loops_without_braces() {
    check(
        "a.c",
        "int f(list *l)\n{\n\tlist_each(l, n)\n\t\tuse(n);\n\
         \tlist_each(l, n)\n\t\tif (n)\n\t\t\tn->free(n);\n\
         \tlist_each(l, n)\n\t\tn->next = NULL;\n\treturn 0;\n}\n",
        "top f: int f(list *l) ~ }",
    );
}

#[test]
fn words_before_types() {
    check(
        "a.c",
        "int f(void) {\n  as_const unsigned char *p;\n  p = (as_const unsigned char *)q;\n  return *p;\n}\n\
         #if SMALL\nlocal int g(void) { return 1; }\n#endif\nlocal int h(void) { return 2; }\n",
        "top f: int f(void) { ~ }
         top g: local int g(void) { return 1; }
         top h: local int h(void) { return 2; }",
    );
}

#[test]
fn parameters_of_old_style() {
    check(
        "a.c",
        "char *EXPORT f(a, b)\n    int a;\n    char *b[2];\n{ return b[a]; }\nint g(a) int a; { return a; }\n",
        "top f: char *EXPORT f(a, b) ~ { return b[a]; }
         top g: int g(a) int a; { return a; }",
    );
}

#[test]
fn macros_behind_parameters() {
    check(
        "a.c",
        "static int f(const char *s, ...) FORMAT_PRINTF(1, 2);\nstatic int f(const char *s, ...) FORMAT_PRINTF(1, 2) { return 0; }\n\
         #ifndef local\n#define local static\n#endif\nlocal SIZE_T g OF((int a));\nlocal SIZE_T g(int a) { return a; }\n",
        "top f: static int f(const char *s, ...) FORMAT_PRINTF(1, 2) { return 0; }
         top local: #define local static
         top g: local SIZE_T g(int a) { return a; }",
    );
}

#[test]
fn split_statements() {
    check(
        "a.c",
        "int f(int a) {\n  if (a)\n#ifdef X\n    return 1;\n#else\n    a = 2;\n#endif\n  else\n#ifdef X\n    a = 3;\n#endif\n  return a;\n}\n",
        "top f: int f(int a) { ~ }",
    );
}

#[test]
fn operators_and_defaults() {
    check(
        "a.cpp",
        "struct A {\n  A f(B b = {}, int = {1, 2}) { operator++(); b.operator<<(1); operator()<int>(2); return *this; }\n};\n\
         int g(int a) {\n  WARNING(suppress : 6102)\n  return a;\n}\n",
        "top A: struct A { ~ };
         in A::f: A f(B b = {}, int = {1, 2}) { operator++(); b.operator<<(1); operator()<int>(2); return *this; }
         top g: int g(int a) { ~ }",
    );
}

#[test]
fn members_with_annotations() {
    check(
        "a.cpp",
        "class A {\n public:\n  API A() : a(0) {}\n  API A(int b)\n      : a(b) {}\n  API ~A() = default;\n\
         \x20 explicit A(M *m) LOCKS(m) : a(1) { m->lock(); }\n  std::map<int, B> m_ GUARDED_BY(mu_);\n\
         \x20 int a GUARDED_BY(mu_);\n  operator const B&() const { return b; }\n};\n\
         template <typename T, ENABLE_IF(!is_a<T>::value)>\nCONSTEXPR pair<T> make(T a) { return new T*[1]; }\n",
        "top A: class A { ~ };
         in A::A: API A() : a(0) {}
         in A::A: API A(int b) ~ : a(b) {}
         in A::~A: API ~A() = default;
         in A::A: explicit A(M *m) LOCKS(m) : a(1) { m->lock(); }
         in A::operator const B&: operator const B&() const { return b; }
         top make: template <typename T, ENABLE_IF(!is_a<T>::value)> ~ CONSTEXPR pair<T> make(T a) { return new T*[1]; }",
    );
}

/// Macros that only their place gives away.
#[test]
fn given_away_by_place() {
    check(
        "a.cpp",
        "class stream_t MY_FINAL : public base_t\n{\n  public:\n    void f () { g (); }\n};\n\
         MY__FN X::X(int a): b(a)\n{\n    c();\n}\n\
         MY__FN ns::X::X(char a): b(a)\n{\n}\n\
         MY__FN bool load(char* s)\n{\n    if my_likely(s) {\n        return 1;\n    }\n    return 0;\n}\n",
        "top stream_t: class stream_t MY_FINAL : public base_t ~ };
         in stream_t::f: void f () { g (); }
         top X::X: MY__FN X::X(int a): b(a) ~ }
         top ns::X::X: MY__FN ns::X::X(char a): b(a) ~ }
         top load: MY__FN bool load(char* s) ~ }",
    );
    check(
        "b.c",
        "LIST_OF(, client) clients;\n\
         static void printflike(3, 4)\nsay(struct item *item, const char *fmt, ...)\n{\n\tuse(1);\n}\n\
         int my_cdecl\nmain(int argc, char *const *argv)\n{\n    return 0;\n}\n\
         int g(void *p)\n{\n    struct X *q = cast(struct X *, p);\n    return q->x;\n}\n\
         static char *printflike(1, 2) text(const char *, ...);\n\
         #define LOG(level, args...) log(level, args)\n\
         int h(L *l)\n{\n    key(cast(L *, 0), &l);\n    grow(l, Proto *, 7);\n    return op(*, l->a, cast(unsigned short, 1));\n}\n\
         struct entry list[] = { { offsetof(struct h, in.host), 0 } };\n",
        "top clients: LIST_OF(, client) clients;
         top say: static void printflike(3, 4) ~ }
         top main: int my_cdecl ~ }
         top g: int g(void *p) ~ }
         top LOG: #define LOG(level, args...) log(level, args)
         top h: int h(L *l) ~ }
         top list: struct entry list[] = { { offsetof(struct h, in.host), 0 } };",
    );
}

#[test]
fn in_heads_and_members() {
    check(
        "a.cpp",
        "class LOCKABLE WARN_UNUSED Mutex : public Base {\n  T* nonnull get() { return &n; }\n\
         \x20 CONSTEXPR explicit Mutex(int a) NOEXCEPT : n(a) {}\n  STDMETHOD_(ULONG, AddRef)() { return 1; }\n\
         \x20 FIELD(int) height;\n  property(int, width)\n  int n;\n};\n\
         struct ALIGNED(16) vec_t { float x; };\n\
         enum class state : uint8 {\n  Idle META(Name = \"Idle\"),\n  Run META(Name = \"Run\") = 2,\n  STATES(X)\n};\n\
         template <class T>\ninline T (max PREVENT)(T a) { return a; }\n\
         api_fn X::X(int a) : a(a) {}\napi_fn X::operator bool() const { return a; }\n",
        "top Mutex: class LOCKABLE WARN_UNUSED Mutex : public Base { ~ };
         in Mutex::get: T* nonnull get() { return &n; }
         in Mutex::Mutex: CONSTEXPR explicit Mutex(int a) NOEXCEPT : n(a) {}
         in Mutex::AddRef: STDMETHOD_(ULONG, AddRef)() { return 1; }
         top vec_t: struct ALIGNED(16) vec_t { float x; };
         top state: enum class state : uint8 { ~ };
         top max: template <class T> ~ inline T (max PREVENT)(T a) { return a; }
         top X::X: api_fn X::X(int a) : a(a) {}
         top X::operator bool: api_fn X::operator bool() const { return a; }",
    );
}

/// Macros may stand between the parts of a declaration.
#[test]
fn between_parts() {
    check(
        "a.c",
        "void f(void) acquires(&lock) releases(&b)\n{\n    g();\n}\n\
         static void must_hold(&lock) h(struct foo *f)\n{\n    f->a = 1;\n}\n\
         typedef struct s {\n  char *name counted_by(len);\n  _Atomic(size_t) n;\n  _Atomic(struct x *) *next;\n} s_t aligned(8);\n\
         ALIGNED(16, const short, tab)[2] = { 1, 2 };\n\
         SEQUENCE(FOO) = {\n  SIMPLE(a),\n} SEQUENCE_END(FOO)\n\
         typedef __int8 int8_t;\ntypedef list_head(item) list_t;\ntypedef int (cdecl *call_t)(int a);\n\
         generate(b, a_, node)\n\n\
         int call(context_ int argc, char *argv[] UNUSED)\n{\n  size_t n INITIAL(0);\n  LOCAL(int, block, [64]);\n\
         \x20 Begin_WAIT\n  n = work(CONTEXT_ argc);\n  IGNORE_POP\n  p->n = cast(unsigned int, n) < cast(unsigned int, 2);\n\
         \x20 forever {\n    break;\n  }\n  End_WAIT\n  return n;\n}\n",
        "top f: void f(void) acquires(&lock) releases(&b) ~ }
         top h: static void must_hold(&lock) h(struct foo *f) ~ }
         top s_t: typedef struct s { ~ } s_t aligned(8);
         top s: typedef struct s { ~ } s_t aligned(8);
         top tab: ALIGNED(16, const short, tab)[2] = { 1, 2 };
         top FOO: SEQUENCE(FOO) = { ~ }
         top int8_t: typedef __int8 int8_t;
         top list_t: typedef list_head(item) list_t;
         top call_t: typedef int (cdecl *call_t)(int a);
         top call: int call(context_ int argc, char *argv[] UNUSED) ~ }",
    );
}

#[test]
fn prose_branches() {
    check(
        "a.h",
        "#if defined(A) + defined(B) != 1\nExactly one of A, or B should be defined.\n#endif\nint f(int a) { return a; }\n\
         #ifdef X\nDo not define X. Use Y instead.\n#else\nint g(int a) { return a; }\n#endif\n\
         void h\n#ifdef KR\n  (v) T *v;\n#else\n  (T *v)\n#endif\n{\n  free(v);\n}\n\
         typedef enum {\n#define OP(name) name,\n#include \"ops.h\"\n#undef OP\n} code;\n",
        "top f: int f(int a) { return a; }
         top g: int g(int a) { return a; }
         top h: void h ~ }
         top code: typedef enum { ~ } code;
         in OP: #define OP(name) name,",
    );
}

#[test]
fn other_words() {
    for source in [
        "stati int f(void) { return 1; }\n",
        "int f(int a int b) { return 2; }\n",
        "int f(void) { return one two; }\n",
        "Here is the function that you want\nint f(void) { return 1; }\n",
        "int f(void) { call(1) other(2); }\n",
        "int f(void) {\n  call(1)\n  other(2);\n}\n",
        "int f(void) {\n  call\n  int a = 1;\n  call();\n}\n",
    ] {
        assert!(!shown::extract("a.c", source.as_bytes()).clean, "{source}");
    }
}
