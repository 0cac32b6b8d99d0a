//! Texts over the parser's bound, which are read in pieces.

use tslp_core::extract::{ExtractError, Extraction, Grammars as _};
use tslp_core::limits::PARSE_BYTES_MAX;
use tslp_core::path::RelPath;
use tslp_grammars::TreeSitterGrammars;

fn extract(file: &str, source: &str) -> Result<Extraction, ExtractError> {
    let path = RelPath::from_normalised(file);
    let language = TreeSitterGrammars.language_of_path(&path).unwrap();
    TreeSitterGrammars.extract(language, source.as_bytes())
}

/// As many numbered functions as make a text over the bound: `$` stands for the number, and the body is made long.
fn numbered(function: &str, line: &str) -> (String, usize) {
    let mut text = String::new();
    let mut count = 0;
    while text.len() <= PARSE_BYTES_MAX {
        let number = count.to_string();
        let body = line.repeat(40 + count % 7);
        text.push_str(&function.replace('$', &number).replace("BODY", &body));
        count += 1;
    }
    (text, count)
}

/// Every function is found whole, with the comment above it, and nothing else is.
fn check(file: &str, function: &str, line: &str) {
    let (text, count) = numbered(function, line);
    let extraction = extract(file, &text).unwrap();
    let errors = (extraction.errors, extraction.clean, extraction.breaks_off);
    assert_eq!(errors, (0, true, false), "{file}");
    assert_eq!(extraction.definitions.len(), count, "{file}");
    let functions = function.replace("BODY", "");
    let opens = functions.trim_start().split('$').next().unwrap();
    for (number, definition) in extraction.definitions.iter().enumerate() {
        assert_eq!(definition.symbol.as_str(), format!("f{number}"), "{file}");
        assert!(!definition.damaged && definition.top_level, "{file}");
        let slice = String::from_utf8_lossy(definition.span.of(text.as_bytes()));
        assert!(slice.starts_with(&format!("{opens}{number}.")), "{slice}");
    }
}

/// Functions of files over the bound are found in each language.
#[test]
fn over_the_bound() {
    let in_c = "/* No $. */\nint f$(void)\n{\nBODY    return $;\n}\n\n";
    let line = "    x = \"}\" + '{'; // }{\n";
    check("a.c", in_c, line);
    check("a.cpp", in_c, line);
    check("a.h", in_c, line);
    check(
        "a.py",
        "# No $.\n@cached\ndef f$():\nBODY    return $\n\n",
        "    x = '''\ny) + ('''\n",
    );
    let script = "// No $.\nexport function f$() {\nBODY  return $;\n}\n";
    check("a.js", script, "  x = `${y}\n}` + /[{]/;\n");
    check("a.ts", script, "  x = `${y}\n}` + /[{]/;\n");
    check(
        "a.rs",
        "/// No $.\n#[inline]\nfn f$() -> u8 {\nBODY    $\n}\n",
        "    x = r#\"\n}{\"#;\n",
    );
    check(
        "a.go",
        "// No $.\nfunc f$() int {\nBODY\treturn $\n}\n",
        "\tx = `\n}{`\n",
    );
}

#[test]
fn long_conditionals() {
    let (inner, count) = numbered(
        "int f$(void)\n{\n#ifdef B\nBODY#endif\n    return $;\n}\n",
        "    x();\n",
    );
    let text =
        format!("#ifndef A\n#define A\n{inner}#else\nint other(void) {{ return 0; }}\n#endif\n");
    let extraction = extract("a.c", &text).unwrap();
    assert!(extraction.clean, "{:?}", extraction.unread);
    // Where the guard can't be told, it is a macro.
    assert_eq!(extraction.definitions.len(), count + 2);
}

#[test]
fn function_over_a_window() {
    let (before, count) = numbered("int f$(void)\n{\nBODY    return $;\n}\n", "    x();\n");
    let body = "#define M 1\n    if (a) {\n        b();\n    }\n".repeat(9_000);
    let text = format!("{before}int long_one(void)\n{{\n{body}}}\n{before}");
    let extraction = extract("a.c", &text).unwrap();
    assert!(extraction.clean, "{:?}", extraction.unread);
    let functions = extraction.definitions.iter().filter(|it| it.top_level);
    assert_eq!(
        functions.filter(|it| it.symbol.as_str() != "M").count(),
        2 * count + 1
    );
}

/// What a namespace over the bound holds would be named without it.
#[test]
fn oversized_bracket() {
    let (inner, _) = numbered("int f$(void)\n{\nBODY    return $;\n}\n", "    x();\n");
    let text = format!("namespace outer {{\n{inner}}}\n");
    if let Ok(extraction) = extract("a.cpp", &text) {
        assert!(!extraction.clean);
        let wrong = extraction
            .definitions
            .iter()
            .find(|it| !it.damaged && !it.symbol.as_str().starts_with("outer::"));
        assert_eq!(wrong, None);
    }
    let (inner, _) = numbered(
        "    int f$() {\nBODY        return $;\n    }\n",
        "        x();\n",
    );
    let text = format!("class Outer {{\n{inner}}}\n");
    assert_eq!(extract("A.java", &text), Err(ExtractError::TooLarge));
}

/// Only the first assignment to a variable counts, across all pieces.
#[test]
fn first_assignment() {
    let (inner, count) = numbered("def f$():\nBODY    return $\n\n", "    x()\n");
    let text = format!("LIMIT = 1\n{inner}LIMIT = 2\n");
    let extraction = extract("a.py", &text).unwrap();
    assert_eq!(extraction.definitions.len(), count + 1);
}

/// Each piece has its own remarks and imports.
#[test]
fn remarks_and_imports() {
    let (text, count) = numbered(
        "# No $.\nimport m$\n\n\ndef f$():\nBODY    return $\n\n\n",
        "    a = [1, 2, 3]\n",
    );
    let extraction = extract("a.py", &text).unwrap();
    let last_of =
        |spans: &[tslp_core::slice::Span]| spans[spans.len() - 1].of(text.as_bytes()).to_vec();
    assert_eq!(extraction.remarks.len(), count);
    assert_eq!(extraction.imports.len(), count);
    let last = count - 1;
    assert_eq!(
        last_of(&extraction.remarks),
        format!("# No {last}.").into_bytes()
    );
    assert_eq!(
        last_of(&extraction.imports),
        format!("import m{last}").into_bytes()
    );
}
