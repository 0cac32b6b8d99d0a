//! C.

use crate::shown;

fn check(source: &str, expected: &str) {
    shown::check("a.c", source, expected);
}

#[test]
fn functions_and_variables() {
    check(
        "/* licence */\n\n// doc\n// more\nint f(void) { int x; return 1; }\nint g(void);\nextern int e;\nint x, *y = 0;\nint (*fp)(int);\n",
        "top f: // doc ~ int f(void) { int x; return 1; }
         top x: int x, *y = 0;
         top y: int x, *y = 0;
         top fp: int (*fp)(int);",
    );
}
