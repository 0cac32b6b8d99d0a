//! Bytes that nobody would write, which must cost little and never panic.

use tslp_core::extract::{ExtractError, Extraction, Grammars};
use tslp_core::limits::{DEFINITIONS_PER_BLOCK_MAX, PARSE_BYTES_MAX};
use tslp_core::path::RelPath;
use tslp_grammars::TreeSitterGrammars;

fn try_extract(name: &str, source: &[u8]) -> Result<Extraction, ExtractError> {
    let grammars = TreeSitterGrammars::new();
    let language = grammars
        .language_of_path(&RelPath::from_normalised(name))
        .unwrap();
    grammars.extract(language, source)
}

/// Any answer will do, as long as there is one.
fn check_survives(source: &[u8]) {
    for name in ["a.c", "a.cpp", "a.h"] {
        if let Ok(extraction) = try_extract(name, source) {
            for definition in &extraction.definitions {
                assert!(definition.span.end as usize <= source.len());
            }
        }
    }
}

fn repeated(text: &str, bytes: usize) -> Vec<u8> {
    text.repeat(bytes / text.len()).into_bytes()
}

#[test]
fn repetition() {
    for text in [
        "{",
        "}",
        "(",
        ")",
        "[",
        "FOO(",
        "FOO ",
        "*",
        "a<",
        "a::",
        "a: ",
        "\"",
        "'",
        "/*",
        "#if A\n",
        "#else\n",
        "#endif\n",
        "...\n",
        "\\\n",
        "a?b:",
        "(a)",
        "R\"x(",
        "extern \"C\" ",
        "template<class T> ",
        "__attribute__((x)) ",
        "struct a{",
        "namespace a{",
        "int (*",
        "if(a){}else ",
        "case 1:",
        "#define A \\\n",
        "TEST(a){}\n",
        "enum{A(",
    ] {
        check_survives(&repeated(text, 1 << 16));
    }
}

#[test]
fn stray_type_parameters() {
    for text in ["a<", "a<in ", "<in/*", "<T>\n", "*/\n<T>\n", "`"] {
        let _ = try_extract("a.ts", &repeated(text, 1 << 18));
    }
}

/// Quotes whose ends are searched for in vain are given up.
#[test]
fn endless_quotes() {
    // Each of them had the scanner read all that follows: a megabyte took a minute.
    let source = repeated("r#\"", 1 << 16);
    assert_eq!(
        try_extract("a.rs", &source).unwrap_err(),
        ExtractError::Unparsable
    );
}

/// A text that a parser can only guess at is given up.
#[test]
fn guesswork_given_up() {
    // Sixteen kilobytes of the first took a parser sixteen seconds, and twice as many four times as long.
    for (name, text) in [
        ("a.js", "->"),
        ("a.ts", "->"),
        ("a.rs", "@a "),
        ("a.go", "@a "),
        ("a.c", "a::"),
        ("a.js", "a::"),
        ("a.ts", "#[a] "),
    ] {
        let refused = try_extract(name, &repeated(text, 1 << 14));
        assert_eq!(refused, Err(ExtractError::Unparsable), "{name} {text}");
    }
}

#[test]
fn deep_nesting() {
    let nested = |depth: usize| {
        [
            "void f(void)".to_owned(),
            "{".repeat(depth),
            "}".repeat(depth),
        ]
        .concat()
    };
    assert!(try_extract("a.c", nested(100).as_bytes()).unwrap().clean);
    assert!(try_extract("a.c", nested(5_000).as_bytes()).unwrap().clean);
    let refused = |depth| try_extract("a.c", nested(depth).as_bytes()).unwrap_err();
    assert_eq!(refused(50_000), ExtractError::Unparsable);
    assert_eq!(refused(100_000), ExtractError::TooDense);
}

#[test]
fn binary_input() {
    check_survives(b"");
    check_survives(&[0; 4096]);
    check_survives(&[0xff; 4096]);
    check_survives(b"int f\0(void) { return \xff; }\n\0\0int g(void) { }");
    check_survives(b"\xef\xbb\xbfint f(void) { return 1; }\r\n");
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
fn random_tokens() {
    let tokens = [
        "{",
        "}",
        "(",
        ")",
        ";",
        ",",
        "\n#if X\n",
        "\n#else\n",
        "\n#endif\n",
        "FOO",
        "FOO(",
        "int ",
        "x",
        "class ",
        "template<",
        ">",
        "::",
        "*",
        "\n",
        "\n...\n",
        "=",
        "0",
        "struct ",
        "enum ",
        "namespace a ",
        "// unchanged\n",
        "\n#define A ",
        "/*",
        "*/",
        "\"a\"",
    ];
    let mut state = 362_436_069_u64;
    for _ in 0..300 {
        let source: String = (0..200)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                tokens[usize::from(state.to_le_bytes()[4]) % tokens.len()]
            })
            .collect();
        check_survives(source.as_bytes());
    }
}

#[test]
fn sizes_over_the_bounds() {
    let large = vec![b' '; PARSE_BYTES_MAX + 1];
    assert_eq!(try_extract("a.c", &large), Err(ExtractError::TooLarge));
    let many = repeated("int a;\n", 7 * (DEFINITIONS_PER_BLOCK_MAX + 5));
    assert_eq!(
        try_extract("a.c", &many).unwrap().definitions.len(),
        DEFINITIONS_PER_BLOCK_MAX
    );
    assert_eq!(
        try_extract("a.c", &repeated("0,", PARSE_BYTES_MAX)),
        Err(ExtractError::TooDense)
    );
}
