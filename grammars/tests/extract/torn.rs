//! Files that are torn in the middle, as real ones are for an hour: what stands before and after is found all the same.

use crate::shown::extract;

/// A file of three functions, the second of which is torn after its first line: by one of these lines, or as any file can be.
struct Case {
    file: &'static str,
    source: &'static str,
    tears: &'static [&'static str],
    /// All that is whole.
    whole: &'static [&'static str],
}

/// What tears a file in a language with braces.
const BRACES: [&str; 3] = ["}", "{", "if (a {"];

const HALF_A_MERGE: &str = "<<<<<<< HEAD\n";
const A_MERGE: &str = "<<<<<<< HEAD\n    one(1);\n=======\n    two(2);\n>>>>>>> other\n";

/// What is torn is put where the mark is.
const MARK: &str = "@@\n";

const CASES: [Case; 8] = [
    Case {
        file: "a.c",
        source: "int first(void)\n{\n    return 1;\n}\n\nint torn(int a)\n{\n    int b = a;\n@@\n    if (b) {\n        a++;\n    }\n    return b;\n}\n\nstruct pair {\n    int a;\n};\n\nstatic int last(void)\n{\n    return 3;\n}\n",
        tears: &["x[1;", "\"open;"],
        whole: &["first", "pair", "last"],
    },
    Case {
        file: "a.cpp",
        source: "namespace n {\n\nint first() {\n  return 1;\n}\n\nint torn(int a) {\n  int b = a;\n@@\n  return b;\n}\n\nclass Last {\n  int get() {\n    return 3;\n  }\n};\n\n}  // namespace n\n",
        tears: &["\"open;"],
        whole: &["n::first", "n::Last", "n::Last::get"],
    },
    Case {
        file: "a.py",
        source: "import os\n\ndef first():\n    return 1\n\n\ndef torn(a):\n    b = a\n@@\n    if b:\n        a += 1\n    return b\n\n\nclass Last:\n    def get(self):\n        return 3\n",
        tears: &[
            "x = (",
            "x = [1,",
            "x = }",
            "  x = 1",
            "x = 'open",
            "x = '''",
        ],
        whole: &["first", "Last", "Last.get"],
    },
    Case {
        file: "a.js",
        source: "export function first() {\n  return 1;\n}\n\nexport const torn = (a) => {\n  const b = a;\n@@\n  return b;\n};\n\nclass Last {\n  get() {\n    return 3;\n  }\n}\n",
        tears: &["x = [1;", "x = 'open;"],
        whole: &["first", "Last", "Last.get"],
    },
    Case {
        file: "a.ts",
        source: "export function first(): number {\n  return 1;\n}\n\nfunction torn(a: number): number {\n  const b = a;\n@@\n  return b;\n}\n\ninterface Shape {\n  area: number;\n}\n\nclass Last {\n  get(): number {\n    return 3;\n  }\n}\n",
        tears: &["x = [1;", "x = 'open;"],
        whole: &["first", "Shape", "Last", "Last.get"],
    },
    Case {
        file: "a.rs",
        source: "fn first() -> u8 {\n    1\n}\n\nfn torn(a: u8) -> u8 {\n    let b = a;\n@@\n    b\n}\n\nstruct Last;\n\nimpl Last {\n    fn get(&self) -> u8 {\n        3\n    }\n}\n",
        tears: &["x = [1;"],
        whole: &["first", "Last", "Last::get"],
    },
    Case {
        file: "a.go",
        source: "package p\n\nfunc first() int {\n\treturn 1\n}\n\nfunc torn(a int) int {\n\tb := a\n@@\n\treturn b\n}\n\ntype Last struct{}\n\nfunc (l Last) Get() int {\n\treturn 3\n}\n",
        tears: &["x = [1", "x = \"open"],
        whole: &["first", "Last", "Last.Get"],
    },
    Case {
        file: "a.java",
        source: "class A {\n    int first() {\n        return 1;\n    }\n\n    int torn(int a) {\n        int b = a;\n@@\n        return b;\n    }\n\n    int last() {\n        return 3;\n    }\n}\n",
        tears: &["x = [1;"],
        whole: &["A.first", "A.last"],
    },
];

impl Case {
    fn place(&self) -> usize {
        self.source.find(MARK).unwrap()
    }

    /// All lines that tear it, each as deep as the one above.
    fn all_tears(&self) -> Vec<String> {
        let above = self.source[..self.place()].lines().last().unwrap();
        let indentation = &above[..above.len() - above.trim_start().len()];
        let (braces, merges): (&[&str], &[&str]) = match self.file {
            "a.py" => (&[], &[HALF_A_MERGE]),
            _ => (&BRACES, &[HALF_A_MERGE, A_MERGE]),
        };
        let lines = braces.iter().chain(self.tears);
        let lines = lines.map(|tear| format!("{indentation}{tear}\n"));
        lines.chain(merges.iter().map(|&it| it.into())).collect()
    }
}

/// What stands before and after a torn place is confirmed in each language.
#[test]
fn around_the_tear() {
    for case in &CASES {
        let sound = extract(case.file, case.source.replace(MARK, "").as_bytes());
        assert!(sound.clean, "{}", case.file);
        for tear in case.all_tears() {
            let source = case.source.replace(MARK, &tear);
            let found = extract(case.file, source.as_bytes());
            let whole = found.definitions.iter().filter(|it| !it.damaged);
            let whole: Vec<&str> = whole.map(|it| it.symbol.as_str()).collect();
            assert_eq!(whole, case.whole, "{} with {tear:?}", case.file);
            let line = |at: usize| source[..at].matches('\n').count() + 1;
            let torn = line(case.place());
            let named = found
                .unread
                .iter()
                .any(|it| line(it.start as usize).abs_diff(torn) < 8);
            assert!(named, "{} with {tear:?}: {:?}", case.file, found.unread);
        }
    }
}

/// What stands for left-out code is seen in what is torn, too.
#[test]
fn elision_still_found() {
    let source = "int f(void)\n{\n    {\n    // ... existing code ...\n    return 1;\n}\n\nint g(void)\n{\n    return 2;\n}\n";
    assert_eq!(extract("a.c", source.as_bytes()).elisions.len(), 1);
}

/// Without a bracket in its column nothing says where a function ends.
#[test]
fn broken_off_text() {
    for (file, source) in [
        (
            "a.c",
            "int f(void)\n{\n    return 1;\n}\n\nint g(void)\n{\n    if (a) {\n",
        ),
        (
            "a.go",
            "package p\n\nfunc f() {\n\tg()\n}\n\nfunc g() {\n\tif a {\n",
        ),
        ("a.rs", "fn f() {\n    g();\n}\n\nfn g() {\n    if a {\n"),
    ] {
        assert!(extract(file, source.as_bytes()).breaks_off, "{file}");
    }
}

/// Closing brackets may be indented like what they close; an error elsewhere tears nothing of that.
#[test]
fn indented_brackets() {
    let source = "static int\nfirst(int a)\n{\n\tif (a) {\n\t\ta++;\n\t\t}\n\telse {\n\t\ta--;\n\t\t}\n\treturn a;\n\t}\n\n )\n\nint last(void)\n{\n\tif (b) {\n\t\tf();\n\t\t}\n\t}\n";
    let found = extract("a.c", source.as_bytes());
    let whole = found.definitions.iter().filter(|it| !it.damaged);
    let whole: Vec<&str> = whole.map(|it| it.symbol.as_str()).collect();
    assert_eq!(whole, ["first", "last"]);
    assert_eq!(found.errors, 1);
}
