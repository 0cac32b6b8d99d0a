//! Bytes that nobody would write, read by patterns: they must cost little and never panic.

use tslp_core::extract::{ExtractError, Extraction, Grammars};
use tslp_core::limits::{DEFINITIONS_PER_BLOCK_MAX, PARSE_BYTES_MAX};
use tslp_core::path::RelPath;
use tslp_grammars::TreeSitterGrammars;

const NAMES: [&str; 16] = [
    "a.py", "a.js", "a.ts", "a.rs", "a.go", "a.java", "a.cs", "a.rb", "a.php", "a.kt", "a.swift",
    "a.lua", "a.sh", "a.sql", "a.zig", "a.mk",
];

fn try_extract(name: &str, source: &[u8]) -> Result<Extraction, ExtractError> {
    let grammars = TreeSitterGrammars::new();
    let language = grammars
        .language_of_path(&RelPath::from_normalised(name))
        .unwrap();
    grammars.extract(language, source)
}

/// Any answer will do that makes sense by itself.
fn check_survives(source: &[u8]) {
    for name in NAMES {
        let Ok(extraction) = try_extract(name, source) else {
            continue;
        };
        for definition in &extraction.definitions {
            let (span, head) = (definition.span, definition.head);
            assert!(
                span.start < span.end && span.end as usize <= source.len(),
                "{name}: {definition:?}"
            );
            assert!(
                span.start <= head.start && head.start < head.end && head.end <= span.end,
                "{name}: {definition:?} in {:?}",
                String::from_utf8_lossy(&source[..source.len().min(400)])
            );
        }
    }
}

fn repeated(text: &str, bytes: usize) -> Vec<u8> {
    text.repeat(bytes / text.len()).into_bytes()
}

const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "\"",
    "'",
    "`",
    "\"\"\"",
    "'''",
    "/*",
    "*/",
    "//",
    "#",
    "--",
    "--[[",
    "[[",
    "/",
    "\\",
    "\\\n",
    ";",
    ":",
    ",",
    "=",
    "=>",
    "@a",
    "@a(",
    "#[",
    "#[x]\n",
    "<<EOF\n",
    "<<<EOF\n",
    "EOF\n",
    "$$",
    "$a$",
    "${",
    "#{",
    "\\(",
    "$(",
    "r#\"",
    "r###",
    "'a",
    "'a'",
    "...\n",
    "... rest\n",
    "\n",
    "\t",
    " ",
    "    ",
    "a",
    "a\n",
    "a b ",
    "f(",
    "f() {",
    "f() {\n",
    "}\n",
    "def f(a):\n",
    "    pass\n",
    "class A:\n",
    "class A {\n",
    "class A\n",
    "end\n",
    "end ",
    "do\n",
    "if x\n",
    "while x do\n",
    "function f()\n",
    "fn f() {",
    "impl A for B {\n",
    "impl<T<",
    "func (a) f(",
    "type (\n",
    "const (\n",
    "A = 1\n",
    "public int f(",
    "namespace a {\n",
    "@Override\n",
    "<?php\n",
    "?>",
    "=begin\n",
    "CREATE TABLE a (",
    "BEGIN\n",
    "a: b\n",
    "\tc\n",
    "define A\n",
    "endef\n",
    "%w[",
    "// ...\n",
    "pub ",
    "static ",
    "private ",
    "a.b.",
    "A<",
    "{ {",
    "\0",
    "é",
    "x = function() {\n",
    "=> {",
];

#[test]
fn repetition() {
    for piece in PIECES {
        check_survives(&repeated(piece, 1 << 14));
    }
}

#[test]
fn pieces_in_any_order() {
    let mut state = 2_463_534_242_u64;
    for _ in 0..400 {
        let source: String = (0..60)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                PIECES[usize::try_from(state >> 33).unwrap() % PIECES.len()]
            })
            .collect();
        check_survives(source.as_bytes());
    }
}

#[test]
fn nesting() {
    for (open, close) in [("{", "}"), ("(", ")"), ("class A {", "}")] {
        let nested = [open.repeat(100_000), close.repeat(100_000)].concat();
        check_survives(nested.as_bytes());
    }
    let deep = |depth: usize| ["{".repeat(depth), "}".repeat(depth)].concat();
    assert!(try_extract("a.rs", deep(5_000).as_bytes()).unwrap().clean);
    assert_eq!(
        try_extract("a.rs", deep(100_000).as_bytes()),
        Err(ExtractError::Unparsable)
    );
    let indented: String = (0..1_000)
        .map(|depth| format!("{}class A{depth}:\n", " ".repeat(depth)))
        .collect();
    check_survives(indented.as_bytes());
}

#[test]
fn oversized_input() {
    let line = |bytes| repeated("x = \"y\" + (z); ", bytes);
    for name in NAMES {
        assert!(try_extract(name, &line(10 << 20)).is_err(), "{name}");
    }
    check_survives(&line(PARSE_BYTES_MAX));
    let many = repeated("def f(): pass\n", 14 * (DEFINITIONS_PER_BLOCK_MAX + 5));
    assert_eq!(
        try_extract("a.py", &many).unwrap().definitions.len(),
        DEFINITIONS_PER_BLOCK_MAX
    );
    assert!(try_extract("a.go", &repeated("a\n", PARSE_BYTES_MAX)).is_err());
}

#[test]
fn binary_input() {
    check_survives(b"");
    check_survives(b"\n\n\n");
    // Found by fuzzing: a head that reached further than its definition.
    check_survives(b"CREATE FUNCTION f x, y)\nRETURNS z AS $$\n$$;\n");
    check_survives(&[0; 4096]);
    check_survives(&[0xff; 4096]);
    check_survives(b"\xef\xbb\xbfdef f():\r\n    return 1\r\n");
    check_survives(b"fn f\0() { return \xff; }\n\0\0def g(): \xfe\n");
    let mut state = 88_172_645_463_325_252_u64;
    for _ in 0..50 {
        let bytes: Vec<u8> = (0..2_000)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state.to_le_bytes()[3]
            })
            .collect();
        check_survives(&bytes);
    }
}

#[test]
fn line_endings() {
    for (name, source) in [
        ("a.py", include_str!("../corpus/python.py")),
        ("a.rs", include_str!("../corpus/rust.rs")),
        ("a.rb", include_str!("../corpus/ruby.rb")),
        ("a.js", include_str!("../corpus/javascript.js")),
        ("a.mk", include_str!("../corpus/makefile.mk")),
    ] {
        let names = |source: &str| -> Vec<String> {
            let extraction = try_extract(name, source.as_bytes()).unwrap();
            assert!(extraction.clean, "{name}");
            let found = extraction.definitions.iter();
            found.map(|found| found.symbol.to_string()).collect()
        };
        assert_eq!(
            names(source),
            names(&source.replace('\n', "\r\n")),
            "{name}"
        );
    }
}

#[test]
fn every_prefix_survives() {
    for (name, source) in [
        ("a.py", include_str!("../corpus/python.py")),
        ("a.ts", include_str!("../corpus/typescript.ts")),
        ("a.rb", include_str!("../corpus/ruby.rb")),
        ("a.sql", include_str!("../corpus/sql.sql")),
    ] {
        for end in 0..source.len() {
            let source = &source.as_bytes()[..end];
            let extraction = try_extract(name, source).unwrap();
            for definition in &extraction.definitions {
                assert!(definition.span.end as usize <= source.len());
                assert!(definition.head.start < definition.head.end);
            }
        }
    }
}
