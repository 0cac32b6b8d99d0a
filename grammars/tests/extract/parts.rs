//! Heads and bodies of definitions in C and C++, and texts that break off.

use std::fmt::Write as _;

use tslp_core::extract::Body;

use crate::shown::extract;

/// One line a definition: its head, blanks folded, and its body.
fn parts(name: &str, source: &str) -> String {
    let mut out = String::new();
    for definition in extract(name, source.as_bytes()).definitions {
        let head = String::from_utf8_lossy(definition.head.of(source.as_bytes())).into_owned();
        let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
        writeln!(out, "{head} | {:?}", definition.body).unwrap();
    }
    out
}

#[track_caller]
fn check(name: &str, source: &str, expected: &[&str]) {
    let expected: String = expected.iter().map(|line| format!("{line}\n")).collect();
    assert_eq!(parts(name, source), expected, "{source}");
}

#[track_caller]
fn check_body(body: &str, expected: Body) {
    for name in ["a.c", "a.cpp"] {
        let source = format!("int f(int a) {{{body}}}\n");
        let found: Vec<Body> = extract(name, source.as_bytes())
            .definitions
            .iter()
            .map(|definition| definition.body)
            .collect();
        assert_eq!(found, [expected], "{name}: {source}");
    }
}

#[test]
fn heads_in_c() {
    check(
        "a.c",
        "/* doc */\nstatic int\nf(int a,  int b)\n{\n  return a;\n}\nint x = 1, *y;\nint z;\n\
         static const char *names[] = { \"a\" };\n#define MAX(a, b) ((a) > (b))\n#define N 1\n#define EMPTY\n\
         struct s { int a; } v;\nenum e { A };\ntypedef struct { int x; } T;\ntypedef int (*cb)(int);\n\
         int main(argc, argv) int argc; char **argv; { return argc; }\n",
        &[
            "static int f(int a, int b) | Code",
            "int x | None",
            "int x | None",
            "int z | None",
            "static const char *names[] | None",
            "#define MAX(a, b) | None",
            "#define N | None",
            "#define EMPTY | None",
            "struct s | Code",
            "struct s | Code",
            "enum e | Code",
            "typedef struct | Code",
            "typedef int (*cb)(int) | None",
            "int main(argc, argv) int argc; char **argv | Code",
        ],
    );
}

/// Heads leave out attributes above them and keep those in their middle.
#[test]
fn attributes_in_heads() {
    let with = "// doc\nAPI_CALL\nstatic FAST int *f(int a) NOTHROW { return 0; }\n";
    let without = "static FAST int *f(int a) NOTHROW { return 1; }\n";
    for source in [with, without] {
        check("a.c", source, &["static FAST int *f(int a) NOTHROW | Code"]);
    }
    check(
        "a.cpp",
        "[[nodiscard]] int f(int a) { return a; }\n",
        &["int f(int a) | Code"],
    );
}

#[test]
fn overloaded_heads() {
    check(
        "a.cpp",
        "int f(int a) { return a; }\nint f(double a) { return 1; }\ntemplate <class T>\nint f(T a) { return 2; }\n\
         struct A : B {\n  A() : x(1) { }\n  explicit A(int x) : x(x), y{2} { go(); }\n  int get() const { return x; }\n  \
         int get() { return x; }\n  A(A &&) = default;\n  A(const A &) = delete;\n  int declared(int);\n  \
         virtual int pure() = 0;\n  int x = 0;\n};\nusing U = int;\ntemplate <class T> concept Any = true;\n",
        &[
            "int f(int a) | Code",
            "int f(double a) | Code",
            "template <class T> int f(T a) | Code",
            "struct A : B | Code",
            "A() | Stub",
            "explicit A(int x) | Code",
            "int get() const | Code",
            "int get() | Code",
            "A(A &&) | Code",
            "A(const A &) | Code",
            "using U | None",
            "template <class T> concept Any | None",
        ],
    );
}

#[test]
fn prototypes_alone() {
    for source in [
        "int f(int a);\n",
        "int f(int a)\n",
        "extern int f(int a);\n",
        "struct A { int f(int a); };\nint A::f(int);\n",
        "class A { virtual int f(int a) = 0; };\n",
        "static inline int f(int a), g(void);\n",
    ] {
        for name in ["a.c", "a.cpp", "a.h"] {
            let symbols: Vec<String> = extract(name, source.as_bytes())
                .definitions
                .iter()
                .map(|definition| definition.symbol.to_string())
                .filter(|symbol| symbol != "A")
                .collect();
            assert!(symbols.is_empty(), "{name}: {source}: {symbols:?}");
        }
    }
}

#[test]
fn stub_bodies() {
    for body in [
        "",
        "  ",
        ";",
        " // TODO\n",
        " /* implement this */ ",
        " // TODO: implement\n return 0; ",
        " return NULL; /* not implemented yet */ ",
        " (void)a; // FIXME\n return -1; ",
        " abort(); ",
        " assert(0); ",
        " assert(0 && \"not reached\"); ",
        " fprintf(stderr, \"f: not implemented\\n\"); return 1; ",
        " TODO(\"later\"); ",
        "\n  ...\n",
    ] {
        check_body(body, Body::Stub);
    }
    for body in [
        " return 0; ",
        " return NULL; ",
        " return a; // TODO: cache\n ",
        " (void)a; ",
        " abort(); return 1; ",
        " puts(\"TODO\"); ",
        " int x = 1; return x; // FIXME\n",
    ] {
        check_body(body, Body::Code);
    }
    for (source, expected) in [
        (
            "void f() { throw std::logic_error(\"Not implemented\"); }\n",
            Body::Stub,
        ),
        (
            "void f() { throw std::runtime_error(\"bad input\"); }\n",
            Body::Code,
        ),
        ("T f() { return {}; /* TODO */ }\n", Body::Stub),
        ("struct Tag {};\n", Body::Stub),
        ("A::A() = default;\n", Body::Code),
        ("A::A() try : x(1) { } catch (...) { }\n", Body::Code),
    ] {
        let extraction = extract("a.cpp", source.as_bytes());
        assert_eq!(extraction.definitions[0].body, expected, "{source}");
    }
}

#[test]
fn broken_off_texts() {
    for source in [
        "int f(void) {",
        "int f(void) {\n  if (a) {\n    b();\n  }\n",
        "int f(int a,",
        "int t[] = { 1, 2",
        "int f(void) { return 1; }\n/* the",
        "char *s = \"hel",
        "char *s = \"hel\n",
        "int f(void) { puts(\"a}\");",
        "#ifdef A\nint f(void) {\n#else\nint f(int a) {\n#endif\n  return 1;\n",
        "#ifndef A_H\n#define A_H\nint f(void);\n",
        "}\nint f(void) {\n",
        "auto s = R\"(abc)\n",
    ] {
        assert!(extract("a.cpp", source.as_bytes()).breaks_off, "{source}");
    }
}

#[test]
fn whole_texts() {
    for source in [
        "",
        "int f(void) { return 1; }",
        "int f(void) { puts(\"{([\"); putchar('{'); /* { */ return 1; } // {\n",
        "#ifdef A\nint f(void) {\n#else\nint f(int a) {\n#endif\n  return 1;\n}\n",
        "#if 0\nint f(void) {\n#else\nint f(int a) {\n#endif\n  return 1;\n}\n",
        "#if 0\n{{{\n#endif\nint x;\n",
        "  return 1;\n}\n",
        "int f(void) { return (1; }\n",
        "#error don't\nint x = 1'000;\n",
        "#define OPEN {\n#define Q \"\nint x;\n",
        "auto s = R\"x(})\" {)x\";\n",
    ] {
        assert!(!extract("a.cpp", source.as_bytes()).breaks_off, "{source}");
    }
}
