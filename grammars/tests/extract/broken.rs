//! Broken texts: nothing in them is a definition that the sound text doesn't have, and what can't be read isn't one.

use tslp_core::extract::Extraction;

use crate::shown::extract;

fn sound(read: &Extraction) -> Vec<&str> {
    read.sound_definitions()
        .keys()
        .map(|it| it.as_str())
        .collect()
}

#[track_caller]
fn check(file: &str, broken: &str, expected: &[&str]) {
    let read = extract(file, broken.as_bytes());
    assert!(!read.clean, "{broken}");
    assert_eq!(sound(&read), expected, "{broken}");
}

#[test]
fn lost_indents() {
    check(
        "a.py",
        "def f(a):\n    first = a\nrest = a\n    return rest\n\n\ndef g():\n    return 1\n",
        &["g"],
    );
    check(
        "a.py",
        "def f(a):\n    first = a\nreturn first\n\n\nx = 1\n",
        &["x"],
    );
    check(
        "a.py",
        "class A:\n    def f(self):\n        a = 1\n          b = 2\n\n    def g(self):\n        return 1\n",
        &["A.g"],
    );
}

#[test]
fn lost_brackets() {
    check(
        "a.js",
        "class A {\n  foo()\n    let x = 1;\n    if (x) { x++; }\n    return x;\n  }\n\n  bar() {\n    return 2;\n  }\n}\n\nfunction f() {\n  return 1;\n}\n",
        &["f"],
    );
    check(
        "a.c",
        "int f(int a)\n    int x = a;\n    int y = x;\n    return y;\n}\n\nint g(void)\n{\n    return 1;\n}\n",
        &["g"],
    );
    check(
        "a.c",
        "int f(int a)\n{\n    if (a) {\n        a++;\n    return a;\n\nint g(void)\n{\n    return 1;\n}\n",
        &["g"],
    );
    check(
        "A.java",
        "class A {\n    int f(int a) {\n        if (a > 0) {\n            a--;\n        }}\n        int b = a;\n        return b;\n    }\n\n    int g() {\n        return 1;\n    }\n}\n",
        &["A.g"],
    );
    check(
        "a.rs",
        "fn f(a: u8) -> u8 {\n    let b = (a + 1;\n    b\n}\n\nconst C: u8 = 1;\n",
        &["C"],
    );
}

/// Nobody indents the members of a namespace, so nobody can tell where a lost bracket leaves them.
#[test]
fn lost_namespaces() {
    check(
        "a.cpp",
        "namespace n {\n\nint f() {\n  if (1) {\n    return 1;\n  }}\n}\n\nint g() {\n  return 1;\n}\n\n}\n",
        &["n::g"],
    );
}

#[test]
fn conflicts() {
    let whole = "<<<<<<< HEAD\ndef a():\n    return 1\n=======\ndef a():\n    return 2\n>>>>>>> x\n\n\ndef b():\n    return 3\n";
    check("a.py", whole, &["b"]);
    let over_an_end = "int f(int a)\n{\n    a++;\n<<<<<<< HEAD\n    return a;\n}\n\nint g(int a)\n{\n||||||| base\n=======\n    return 0;\n}\n\nint h(int a)\n{\n>>>>>>> x\n    return 1;\n}\n\nint last(void)\n{\n    return 2;\n}\n";
    check("a.c", over_an_end, &["last"]);
    check(
        "a.js",
        "function f() {\n  return 1;\n>>>>>>> x\n}\n\nconst y = 1;\n",
        &["y"],
    );
    let quoted = "TEXT = \"\"\"\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n\"\"\"\n";
    assert_eq!(sound(&extract("a.py", quoted.as_bytes())), ["TEXT"]);
}

#[test]
fn guards_of_broken_headers() {
    check(
        "a.h",
        "#ifndef A_H\n#define A_H\n#include <a.h>\nint f(int a {\n    return a;\n}\n\n#define B 1\n#endif\n",
        &["B"],
    );
}

#[test]
fn byte_order_marks() {
    for (file, text) in [
        (
            "a.py",
            "def f():\n    return 1\n\n\ndef g():\n    return 2\n",
        ),
        (
            "a.c",
            "int f(void) { return 1; }\n\nint g(void) { return 2; }\n",
        ),
        ("a.rb", "def f\n  1\nend\n\ndef g\n  2\nend\n"),
    ] {
        let (plain, marked) = (extract(file, text.as_bytes()), format!("\u{feff}{text}"));
        let read = extract(file, marked.as_bytes());
        assert!(read.clean, "{file}");
        assert_eq!(
            read.slices(marked.as_bytes()),
            plain.slices(text.as_bytes())
        );
        let proofs = |read: &Extraction| read.weakest_proof();
        assert_eq!(proofs(&read), proofs(&plain), "{file}");
    }
}
