//! What is particular to one of the languages with a grammar.

use crate::shown::{self, check};

#[test]
fn javascript_members() {
    check(
        "a.js",
        "const api = {\n  get() { return 1 },\n  deep: { put: (a) => a },\n  size: 1,\n};\n\
         module.exports = { run() {} };\nexport default { start: function () {} };\n\
         (function () {\n  function inner() {}\n  if (a) { var hidden = 1 }\n})();\n\
         for (let i = 0; i < 1; i++) {}\nvar n = 1;\nn = 2;\nvar n = 3;\n",
        "top api: const api = { ~ };
         in api.get: get() { return 1 }
         in api.deep.put: put: (a) => a
         top module.exports: module.exports = { run() {} };
         in module.exports.run: run() {}
         top default: export default { start: function () {} };
         in default.start: start: function () {}
         top inner: function inner() {}
         top n: var n = 1;",
    );
}

#[test]
fn typescript_gaps() {
    check(
        "a.ts",
        "export interface Box<in out A, /* yes */ out B> { a: A }\nexport const Box: Box = make()\n\
         export const map: {\n  <A>(a: A): B<A>\n  /** Data last. */\n  <A, C>(a: A, c: C): B<A>\n} = dual(2)\n\
         type T = `a \\`b\\` ${C}`\ndeclare global {\n  interface Error { a: 1 }\n}\n\
         type U<type extends A = A> = (type extends 'x' ? B : never)\ntype V = import('a').C<D> | E\n",
        "top Box: export interface Box<in out A, /* yes */ out B> { a: A }
         top Box: export const Box: Box = make()
         top map: export const map: { ~ } = dual(2)
         top T: type T = `a \\`b\\` ${C}`
         top Error: interface Error { a: 1 }
         top U: type U<type extends A = A> = (type extends 'x' ? B : never)
         top V: type V = import('a').C<D> | E",
    );
    check(
        "a.tsx",
        "const View = () => (\n  <p>\n    <b>(x): y</b>\n  </p>\n);\n",
        "top View: const View = () => ( ~ );",
    );
}

#[test]
fn java_enum_members() {
    check(
        "a.java",
        "enum Op {\n  PLUS { int of(int a) { return a; } };\n  abstract int of(int a);\n}\n",
        "top Op: enum Op { ~ }
         in Op.PLUS.of: int of(int a) { return a; }",
    );
}

/// Python wants the statements of a block in one column.
#[test]
fn python_columns() {
    let source = "def f():\n    a = 1\n      b = 2\n\ndef g():\n    return 1\n";
    let extraction = shown::extract("a.py", source.as_bytes());
    let damaged: Vec<bool> = extraction.definitions.iter().map(|it| it.damaged).collect();
    assert_eq!(damaged, [true, false]);
    assert_eq!(extraction.unread.len(), 1);
}

#[test]
fn errors_stay_local() {
    for (name, source, names) in [
        (
            "a.py",
            "def f():\n    return 1 +\n\ndef g():\n    return 2\n",
            ["g"],
        ),
        ("a.rs", "fn f() { let = ; }\nfn g() {}\n", ["g"]),
        ("a.go", "package p\nfunc f() { a := }\nfunc g() {}\n", ["g"]),
        (
            "a.js",
            "function f() { return (1; }\nfunction g() {}\n",
            ["g"],
        ),
        (
            "a.ts",
            "function f(): number { return (1; }\nfunction g() {}\n",
            ["g"],
        ),
    ] {
        let extraction = shown::extract(name, source.as_bytes());
        let sound = extraction.definitions.iter().filter(|it| !it.damaged);
        let sound: Vec<&str> = sound.map(|it| it.symbol.as_str()).collect();
        assert!(!extraction.clean, "{name}");
        assert_eq!(sound, names, "{name}");
        let line = |at: u32| source[..at as usize].matches('\n').count() + 1;
        assert!(
            extraction.unread.iter().all(|it| line(it.start) < 5),
            "{name}"
        );
    }
}
