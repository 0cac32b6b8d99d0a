//! C.

use crate::shown;

#[track_caller]
fn check(source: &str, expected: &str) {
    shown::check("a.c", source, expected);
}

#[test]
fn functions_and_variables() {
    check(
        "/* licence */\n\n// doc\n// more\nint f(void) { int x; return 1; }\nint g(void);\nextern int e;\n\
         int x, *y = 0;\nint (*fp)(int);\nextern int with_value = 1;\nstatic const char *names[] = { \"a\" };\n",
        "top f: // doc ~ int f(void) { int x; return 1; }
         top x: int x, *y = 0;
         top y: int x, *y = 0;
         top fp: int (*fp)(int);
         top with_value: extern int with_value = 1;
         top names: static const char *names[] = { \"a\" };",
    );
}

#[test]
fn types() {
    check(
        "struct foo { int a; struct bar { int c; } b; } x;\nstruct fwd;\nenum e { A, B };\nunion u { int i; };\n\
         typedef struct { int x; } T;\ntypedef struct t { int x; } t;\ntypedef struct n { int x; } N, *PN;\n\
         typedef int (*callback)(int);\n",
        "top x: struct foo { int a; struct bar { int c; } b; } x;
         top foo: struct foo { int a; struct bar { int c; } b; } x;
         in bar: struct bar { int c; } b;
         top e: enum e { A, B };
         top u: union u { int i; };
         top T: typedef struct { int x; } T;
         top t: typedef struct t { int x; } t;
         top N: typedef struct n { int x; } N, *PN;
         top PN: typedef struct n { int x; } N, *PN;
         top n: typedef struct n { int x; } N, *PN;
         top callback: typedef int (*callback)(int);",
    );
}

#[test]
fn macros_everywhere() {
    check(
        "#define A 1\n/* max */\n#define MAX(a, b) \\\n  ((a) > (b) ? (a) : (b))\n\
         void f(void) {\n#define LOCAL 2\n}\nint t[] = {\n#define IN_TABLE 3\n  IN_TABLE\n};\n",
        "top A: #define A 1
         top MAX: /* max */ ~ ((a) > (b) ? (a) : (b))
         top f: void f(void) { ~ }
         in LOCAL: #define LOCAL 2
         top t: int t[] = { ~ };
         in IN_TABLE: #define IN_TABLE 3",
    );
}

/// Include guards and branches of conditionals are transparent.
#[test]
fn guards_and_branches() {
    check(
        "#ifndef A_H\n#define A_H\n#include <x.h>\n#ifdef WIN\nint f(void) { return 1; }\n#else\nint f(void) { return 2; }\n\
         #endif\nextern \"C\" {\nint g(void) { return 3; }\n}\n#if 0\nint dead(void) {\n#endif\n#endif\n",
        "top f: int f(void) { return 1; }
         top f: int f(void) { return 2; }
         top g: int g(void) { return 3; }",
    );
}

#[test]
fn old_style_definitions() {
    check(
        "int main(argc, argv)\n  int argc;\n  char **argv;\n{\n  return 0;\n}\n",
        "top main: int main(argc, argv) ~ }",
    );
}

#[test]
fn comments_above() {
    check(
        "int a; // of a\nint b;\n/* of c */ int c;\n/* nobody's */\n\nint d;\n// ... existing code ...\nint e;\n// src/a.c\n// of f\nint f;\n// File: src/a.c\nint g;\n// Rules, see\n// src/rules.c\nint h;\n// user.name\nint i;\n",
        "top a: int a;
         top b: int b;
         top c: /* of c */ int c;
         top d: int d;
         top e: int e;
         top f: // of f ~ int f;
         top g: int g;
         top h: // Rules, see ~ int h;
         top i: // user.name ~ int i;
         elision: // ... existing code ...",
    );
}

#[test]
fn real_errors() {
    check(
        "int f(void) { return (1; }\nint g(void) { return 2; }\n",
        "top damaged f: int f(void) { return (1; }
         top g: int g(void) { return 2; }
         not clean",
    );
    check(
        "int f(void) { foo(1) return 2; }\n",
        "top damaged f: int f(void) { foo(1) return 2; }\nnot clean",
    );
    check(
        "int f(int a int b) { return 2; }\n",
        "top damaged f: int f(int a int b) { return 2; }\nnot clean",
    );
    check(
        "int f(void) {\n  int x = ;\n}\n",
        "top damaged f: int f(void) { ~ }\nnot clean",
    );
    check(
        "stati int f(void) { return 1; }\n",
        "top damaged f: stati int f(void) { return 1; }\nnot clean",
    );
    check(
        "int f(void) {\n  foo(1)\n  bar();\n}\n",
        "top damaged f: int f(void) { ~ }\nnot clean",
    );
}

#[test]
fn cut_short() {
    check(
        "int f(void) {\n  if (x) {\n    return 1;\n",
        "top damaged f: int f(void) { ~ return 1;\nnot clean",
    );
}

/// Errors next to macros and in branches that are not parsed stay errors.
#[test]
fn errors_near_macros() {
    let head = "int f(int a) ";
    for body in [
        "{\n  int rc SQLITE_OK;\n}",
        "{\n  int rc = SQLITE_OK\n  Cursor *p = 0;\n}",
        "{\n#ifdef X\n  if (a) {\n#else\n  if (b {\n#endif\n  }\n}",
    ] {
        let extraction = shown::extract("a.c", format!("{head}{body}\n").as_bytes());
        assert!(!extraction.clean, "{body}");
        assert!(
            extraction
                .definitions
                .iter()
                .all(|definition| definition.damaged),
            "{body}"
        );
    }
}
