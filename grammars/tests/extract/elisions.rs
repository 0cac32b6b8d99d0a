//! What stands for code left out.

use crate::shown;

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    for file in ["a.c", "a.cpp"] {
        let extraction = shown::extract(file, source.as_bytes());
        let found: Vec<&str> = extraction
            .elisions
            .iter()
            .map(|span| std::str::from_utf8(span.of(source.as_bytes())).unwrap())
            .collect();
        assert_eq!(found, expected, "{file}: {source}");
    }
}

#[test]
fn comments_anywhere() {
    check(
        "int f(void) {\n  // ... existing code ...\n  return 1; /* unchanged */\n}\n// rest of the file\n",
        &[
            "// ... existing code ...",
            "/* unchanged */",
            "// rest of the file",
        ],
    );
    check(
        "#ifdef X\nif (a) {\n#else\n// ... existing code ...\nif (b) {\n#endif\n}\n",
        &["// ... existing code ..."],
    );
}

#[test]
fn dots_on_own_line() {
    check(
        "int f(void) {\n  int x;\n  ...\n  return x;\n}\n...\n",
        &["...", "..."],
    );
    check("int t[] = {\n  1,\n  …\n};\n", &["…"]);
    check(
        "int a;\n⋮...\nint f(void) {\n  ... existing code ...\n  return 1;\n}\n... (rest of the file)\n",
        &["⋮...", "... existing code ...", "... (rest of the file)"],
    );
}

#[test]
fn other_dots_are_none() {
    check(
        "int f(const char *s, ...) {\n  return g(s, \"...\");\n}\n",
        &[],
    );
    check("int f(const char *s,\n  ...\n);\n", &[]);
    check("/* Loop over a, b, c, ... and free each */\nint x;\n", &[]);
}
