//! Files called `.h`, and the table of languages.

use tslp_core::extract::Grammars;
use tslp_core::path::RelPath;
use tslp_grammars::TreeSitterGrammars;

use crate::shown::extract;

#[track_caller]
fn check(source: &str, expected: &str) {
    assert_eq!(
        extract("a.h", source.as_bytes()).grammar.language,
        expected,
        "{source}"
    );
}

/// The grammar that reads a header better is used, and the answer names it.
#[test]
fn better_grammar() {
    check("int f(void);\n", "c");
    check(
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n#ifdef __cplusplus\n}\n#endif\n",
        "c",
    );
    check(
        "#ifdef __cplusplus\nclass A;\ntemplate <class T> class B;\n#else\nstruct A;\n#endif\n",
        "cpp",
    );
    check(
        "struct s { int class; int namespace; };\nint new(void);\n",
        "c",
    );
    check("class A { public: int x; };\n", "cpp");
    check("namespace a { int f(); }\n", "cpp");
    check("template <class T> T f(T t);\n", "cpp");
    check("namespace { int g; }\n", "cpp");
    check(
        "class A { public: int x( };\nint f(int a) { return a; }\n",
        "cpp",
    );
    check(
        "static int f(int *class) {\nclass[0] = 1;\nclass = 0;\nreturn 0;\n}\n",
        "c",
    );
    check("std::string f(const std::string &s);\n", "cpp");
}

/// Only a whole file has a preamble.
#[test]
fn whole_file_preamble() {
    for (source, expected) in [
        ("#include <a.h>\nint f(void) { return 1; }\n", true),
        ("#ifndef A_H\n#define A_H\nint f(void);\n#endif\n", true),
        ("int f(void) { return 1; }\n", false),
        ("#define A 1\n", false),
    ] {
        assert_eq!(
            extract("a.h", source.as_bytes()).preamble,
            expected,
            "{source}"
        );
    }
}

#[test]
fn languages_by_name() {
    let grammars = TreeSitterGrammars::new();
    let of_path = |path| grammars.language_of_path(&RelPath::from_normalised(path));
    assert_eq!(of_path("src/a.c"), grammars.language_of_tag("C"));
    assert_eq!(of_path("src/a.hpp"), grammars.language_of_tag("c++"));
    assert_eq!(of_path("src/a.C"), grammars.language_of_tag("cpp"));
    assert_ne!(of_path("src/a.c"), of_path("src/a.cc"));
    assert!(of_path("a.h").is_some());
    assert_eq!(of_path("a.txt"), None);
    assert_eq!(of_path("c"), None);
    assert_eq!(grammars.language_of_tag(""), None);
}

#[test]
fn locked_versions() {
    let lock = include_str!("../../../Cargo.lock");
    for (file, package) in [("a.c", "tree-sitter-c"), ("a.cpp", "tree-sitter-cpp")] {
        let (_, after) = lock
            .split_once(&format!("name = \"{package}\"\nversion = \""))
            .unwrap();
        let (locked, _) = after.split_once('"').unwrap();
        let version = extract(file, b"").grammar.version;
        assert_eq!(version.split_once('+').unwrap().0, locked, "{package}");
    }
}
