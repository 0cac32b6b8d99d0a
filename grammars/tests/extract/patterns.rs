//! Languages that are read by patterns: one realistic file each, then what breaks off, is left out or does nothing.

use std::fmt::Write as _;

use tslp_core::extract::{Body, Extraction, Grammars, Proof};
use tslp_core::path::RelPath;
use tslp_grammars::TreeSitterGrammars;

use crate::shown::extract;

macro_rules! example {
    ($source:literal, $expected:literal) => {
        (
            $source,
            include_str!(concat!("../corpus/", $source)),
            include_str!(concat!("../corpus/", $expected)),
        )
    };
}

/// The files of `corpus` with what is expected of them, as [`shown`] writes it.
const FILES: [(&str, &str, &str); 16] = [
    example!("python.py", "python.txt"),
    example!("javascript.js", "javascript.txt"),
    example!("typescript.ts", "typescript.txt"),
    example!("rust.rs", "rust.txt"),
    example!("go.go", "go.txt"),
    example!("java.java", "java.txt"),
    example!("csharp.cs", "csharp.txt"),
    example!("ruby.rb", "ruby.txt"),
    example!("php.php", "php.txt"),
    example!("kotlin.kt", "kotlin.txt"),
    example!("swift.swift", "swift.txt"),
    example!("lua.lua", "lua.txt"),
    example!("shell.sh", "shell.txt"),
    example!("sql.sql", "sql.txt"),
    example!("zig.zig", "zig.txt"),
    example!("makefile.mk", "makefile.txt"),
];

/// The line in which a byte stands, from 1.
fn line_of(source: &str, at: u32) -> usize {
    source.as_bytes()[..at as usize]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}

/// One line a definition: `12-15 top Pattern Code symbol: first line ~ last line | head`.
fn shown(source: &str, extraction: &Extraction) -> String {
    let mut out = String::new();
    for definition in &extraction.definitions {
        let text = |span: tslp_core::slice::Span| {
            String::from_utf8_lossy(span.of(source.as_bytes())).into_owned()
        };
        let slice = text(definition.span);
        let ends = match slice.split_once('\n') {
            Some((first, rest)) => {
                format!("{first} ~ {}", rest.rsplit('\n').next().unwrap().trim())
            }
            None => slice.clone(),
        };
        let head = text(definition.head);
        let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
        let place = if definition.top_level { "top" } else { "in" };
        writeln!(
            out,
            "{}-{} {place} {:?} {:?} {}: {ends} | {head}",
            line_of(source, definition.span.start),
            line_of(source, definition.span.end),
            definition.proof,
            definition.body,
            definition.symbol,
        )
        .unwrap();
    }
    out
}

#[test]
fn realistic_files() {
    for (name, source, expected) in FILES {
        let extraction = extract(name, source.as_bytes());
        let found = shown(source, &extraction);
        assert_eq!(found, expected, "{name}\n--- found ---\n{found}");
        assert!(extraction.clean, "{name}");
        assert!(!extraction.breaks_off, "{name}");
        assert!(extraction.elisions.is_empty(), "{name}");
        assert!(extraction.preamble, "{name}");
        assert!(
            extraction
                .definitions
                .iter()
                .all(|definition| !definition.damaged),
            "{name}"
        );
    }
}

/// Slices contain what belongs to them and nothing else.
#[test]
fn exact_slices() {
    let slice = |name: &str, symbol: &str| {
        let (_, source, _) = FILES.iter().find(|file| file.0 == name).unwrap();
        let extraction = extract(name, source.as_bytes());
        let definition = extraction
            .definitions
            .iter()
            .find(|definition| definition.symbol.as_str() == symbol)
            .unwrap_or_else(|| panic!("{name}: no {symbol}"));
        String::from_utf8(definition.span.of(source.as_bytes()).to_vec()).unwrap()
    };
    for (name, symbol, expected) in [
        (
            "python.py",
            "Note.size.setter",
            "@size.setter\n    def size(self, value: int) -> None:\n        raise NotImplementedError",
        ),
        (
            "python.py",
            "todo",
            "def todo():\n    # TODO: write this\n    pass",
        ),
        (
            "javascript.js",
            "Router.#find",
            "#find(path) {\n    return this.#routes.get(path) / 2 / 1;\n  }",
        ),
        ("javascript.js", "add", "const add = (a, b) => a + b"),
        (
            "typescript.ts",
            "App.onClick",
            "@HostListener(\"click\", [\"$event\"])\n  onClick(event: Event): void {\n    // TODO: implement\n  }",
        ),
        (
            "typescript.ts",
            "Pair",
            "export type Pair<T> = {\n  left: T;\n  right: T;\n};",
        ),
        (
            "rust.rs",
            "Ring",
            "#[derive(Clone, Debug)]\npub struct Ring<'a, T: Into<Vec<u8>>> {\n    items: Vec<T>,\n    name: &'a str,\n}",
        ),
        ("rust.rs", "Pair", "pub(crate) struct Pair(u32, [u8; 2]);"),
        (
            "go.go",
            "ErrFull",
            "// ErrFull says that nothing more fits.\nvar ErrFull = errors.New(\"full { \")",
        ),
        (
            "go.go",
            "Point.Area",
            "func (Point) Area() float64 {\n\tpanic(\"not implemented\")\n}",
        ),
        (
            "java.java",
            "Store.Color.Color",
            "Color(int code) { this.code = code; }",
        ),
        (
            "java.java",
            "Store.later",
            "private void later() {\n        throw new UnsupportedOperationException(\"later\");\n    }",
        ),
        (
            "csharp.cs",
            "Store.operator==",
            "public static bool operator ==(Store<TKey, TValue> a, Store<TKey, TValue> b) => true;",
        ),
        ("csharp.cs", "Point", "public record Point(int X, int Y);"),
        (
            "ruby.rb",
            "Store::Notes.build",
            "def build(...)\n        new(...)\n      end",
        ),
        ("ruby.rb", "Store::Notes#empty?", "def empty? = @size.zero?"),
        (
            "php.php",
            "Store::count",
            "// Counts.\n    public function count(): int\n    {\n        return count($this->notes);\n    }",
        ),
        ("php.php", "LIMIT", "const LIMIT = 10;"),
        (
            "kotlin.kt",
            "Shape.norm",
            "fun norm(x: Double, y: Double): Double = sqrt(x * x + y * y)",
        ),
        (
            "kotlin.kt",
            "does what it says",
            "fun `does what it says`() {\n    // TODO\n}",
        ),
        (
            "swift.swift",
            "Store.deinit",
            "deinit {\n        print(#\"raw \"} \\\"#, \"\"\"\n        func fake() {\n        \"\"\")\n    }",
        ),
        ("swift.swift", "limit", "let limit = 10"),
        (
            "lua.lua",
            "M.each",
            "M.each = function(self, visit)\n  for _, item in ipairs(self) do visit(item) end\nend",
        ),
        ("lua.lua", "M.todo", "function M.todo() --[[ TODO ]] end"),
        (
            "shell.sh",
            "fail",
            "# Says what is wrong.\nfail() {\n  echo \"deploy: $* }\" >&2\n  exit 1\n}",
        ),
        ("shell.sh", "NAMES", "NAMES=(\n  \"one }\"\n  two\n)"),
        ("sql.sql", "mood", "CREATE TYPE mood AS ENUM ('sad', 'ok');"),
        (
            "sql.sql",
            "notes_touched",
            "CREATE TRIGGER notes_touched AFTER UPDATE ON notes\nBEGIN\n    UPDATE notes SET text = CASE WHEN 1 THEN 'a' ELSE 'b' END WHERE id = NEW.id;\n    DELETE FROM log;\nEND;",
        ),
        (
            "zig.zig",
            "later",
            "export fn later() callconv(.C) void {\n    @panic(\"not implemented\");\n}",
        ),
        ("zig.zig", "Kind", "const Kind = enum(u8) { round, flat };"),
        (
            "makefile.mk",
            "program",
            "program: $(OBJECTS) | build\n\t$(CC) $(CFLAGS) -o $@ $^ # link: all\n\n\t@echo \"done: $@\"",
        ),
        ("makefile.mk", "CFLAGS", "CFLAGS := -O2 \\\n    -Wall"),
    ] {
        assert_eq!(slice(name, symbol), expected, "{name} {symbol}");
    }
}

/// A small definition of `f` in each language with this body, and how its lines are commented.
fn with_body(name: &str, body: &str) -> String {
    match name.rsplit('.').next().unwrap() {
        "py" => format!("def f(a):\n    {body}\n"),
        "rb" => format!("def f(a)\n  {body}\nend\n"),
        "lua" => format!("function f(a)\n  {body}\nend\n"),
        "sh" => format!("f() {{\n  {body}\n}}\n"),
        "mk" => format!("f: a\n\t{body}\n"),
        "sql" => format!("CREATE PROCEDURE f(a INT)\nBEGIN\n  {body}\nEND;\n"),
        "rs" | "zig" => format!("fn f(a: u8) u8 {{\n  {body}\n}}\n"),
        "go" | "swift" => format!("func f(a int) {{\n  {body}\n}}\n"),
        "kt" => format!("fun f(a: Int) {{\n  {body}\n}}\n"),
        "js" | "ts" => format!("function f(a) {{\n  {body}\n}}\n"),
        "php" => format!("function f($a) {{\n  {body}\n}}\n"),
        "java" | "cs" => format!("class C {{\n  int f(int a) {{\n    {body}\n  }}\n}}\n"),
        other => panic!("{other}"),
    }
}

/// The comment of a language.
fn comment(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap() {
        "py" | "rb" | "sh" | "mk" => "#",
        "lua" | "sql" => "--",
        _ => "//",
    }
}

fn definition_of_f(name: &str, source: &str) -> (Extraction, usize) {
    let extraction = extract(name, source.as_bytes());
    let at = extraction
        .definitions
        .iter()
        .position(|definition| matches!(definition.symbol.as_str(), "f" | "C.f"))
        .unwrap_or_else(|| panic!("{name}: {source}: {extraction:?}"));
    (extraction, at)
}

#[track_caller]
fn check_body(name: &str, body: &str, expected: Body) {
    let source = with_body(name, body);
    let (extraction, at) = definition_of_f(name, &source);
    assert_eq!(
        extraction.definitions[at].body, expected,
        "{name}: {source}"
    );
}

#[test]
fn stub_bodies() {
    for (name, _, _) in FILES {
        let mark = comment(name);
        if name == "makefile.mk" {
            continue;
        }
        check_body(name, &format!("{mark} TODO: write this"), Body::Stub);
    }
    for (name, body) in [
        ("a.py", "pass"),
        ("a.py", "..."),
        ("a.py", "\"\"\"Says what it does.\"\"\""),
        (
            "a.py",
            "\"\"\"Doc.\"\"\"\n    raise NotImplementedError(\"later\")",
        ),
        ("a.py", "return None  # TODO"),
        ("a.js", "throw new Error(\"Not implemented\");"),
        ("a.ts", "// TODO\n  return null;"),
        ("a.rs", "todo!()"),
        ("a.rs", "unimplemented!(\"later\");"),
        ("a.go", "panic(\"not implemented\")"),
        ("a.java", "throw new UnsupportedOperationException();"),
        ("a.cs", "throw new NotImplementedException();"),
        ("a.rb", "raise NotImplementedError, \"later\""),
        ("a.php", "throw new \\Exception('Not implemented');"),
        ("a.kt", "TODO(\"later\")"),
        ("a.swift", "fatalError(\"not implemented\")"),
        ("a.lua", "error(\"not implemented\")"),
        ("a.sh", ":"),
        ("a.zig", "@panic(\"TODO\");"),
        ("a.mk", "@true"),
    ] {
        check_body(name, body, Body::Stub);
    }
}

#[test]
fn real_bodies() {
    for (name, body) in [
        ("a.py", "return None"),
        ("a.py", "pass\n    g()"),
        ("a.py", "\"\"\"TODO\"\"\"\n    return a"),
        ("a.js", "return null;"),
        ("a.js", "throw new Error(\"bad input\");"),
        ("a.rs", "a // TODO: faster"),
        ("a.go", "return nil"),
        ("a.java", "return 0;"),
        ("a.cs", "return a; // TODO"),
        ("a.rb", "raise ArgumentError, \"bad\""),
        ("a.php", "return null;"),
        ("a.kt", "println(\"TODO\")"),
        ("a.swift", "return nil"),
        ("a.lua", "return nil"),
        ("a.sh", "return 1"),
        ("a.sql", "DELETE FROM notes;"),
        ("a.zig", "return a;"),
        ("a.mk", "cc -o $@ $<"),
    ] {
        check_body(name, body, Body::Code);
    }
}

/// Left-out code is found in comments, and never in literals.
#[test]
fn elided_comments() {
    for (name, _, _) in FILES {
        let mark = comment(name);
        let elided = with_body(
            name,
            &format!("{mark} ... existing code ...\n    {mark} end"),
        );
        let extraction = extract(name, elided.as_bytes());
        let found: Vec<&[u8]> = extraction
            .elisions
            .iter()
            .map(|elision| elision.of(elided.as_bytes()))
            .collect();
        let expected = format!("{mark} ... existing code ...");
        assert_eq!(found, [expected.as_bytes()], "{name}: {elided}");
        let quoted = with_body(name, &format!("g(\"{mark} ... existing code ...\")"));
        if !name.ends_with(".mk") {
            assert!(
                extract(name, quoted.as_bytes()).elisions.is_empty(),
                "{name}: {quoted}"
            );
        }
    }
}

/// Bare dots stand for code where they mean nothing else.
#[test]
fn bare_dots() {
    let count = |name: &str, source: &str| extract(name, source.as_bytes()).elisions.len();
    assert_eq!(count("a.js", "function f() {\n  ...\n}\n...\n"), 2);
    assert_eq!(
        count("a.rs", "fn f() {\n  ... rest of the code ...\n}\n⋮...\n"),
        2
    );
    assert_eq!(count("a.js", "f(\n  ...args,\n  ...more\n);\n"), 0);
    assert_eq!(count("a.rs", "fn f(\n  a: u8,\n  ...\n);\n"), 0);
    let nested = "const a = `${b.replace(/'/g, `'${c}'`)}`;\n// ...\n";
    assert_eq!(count("a.js", nested), 1);
    assert_eq!(count("a.jsx", "const v = <p>\n  {/* ... */}\n</p>;\n"), 1);
    assert_eq!(count("a.py", "def f(): ...\n\ndef g():\n    ...\n"), 0);
    assert_eq!(
        count("a.py", "class A:\n    \"\"\"Doc.\"\"\"\n    ...\n"),
        0
    );
    assert_eq!(
        count("a.py", "def f():\n    x = 1\n    ...\n    return x\n"),
        1
    );
    assert_eq!(
        count("a.py", "import a\n...\n\ndef f():\n    return 1\n"),
        1
    );
    assert_eq!(count("a.py", "x = [\n    ...\n]\ny = a[..., 1]\n"), 0);
}

#[test]
fn cut_texts() {
    for (name, source, _) in FILES {
        if matches!(name, "python.py" | "sql.sql" | "makefile.mk") {
            continue;
        }
        let extraction = extract(name, source.as_bytes());
        let deep = extraction
            .definitions
            .iter()
            .filter(|definition| definition.body == Body::Code)
            .max_by_key(|definition| definition.span.len())
            .unwrap();
        // Before what closes the largest definition.
        let cut = &source.as_bytes()[..deep.span.end as usize - 4];
        let broken = extract(name, cut);
        assert!(broken.breaks_off, "{name}");
        assert!(!broken.clean, "{name}");
    }
    for (name, source) in [
        ("a.py", "def f(a,\n"),
        ("a.py", "def f(a):\n"),
        (
            "a.py",
            "class A:\n    def f(self):\n        x = \"\"\"text\n",
        ),
        ("a.js", "const text = `one ${two}\n"),
        ("a.go", "/* never closed\n"),
        ("a.rb", "def f\n  if x\n    1\n  end\n"),
        ("a.lua", "function f()\n  return 1\n"),
        ("a.sh", "f() {\n  cat <<EOF\ntext\n"),
        ("a.sql", "CREATE TABLE a (\n  id INT,\n"),
        ("a.rs", "fn f() { r#\"text\"\n"),
        ("a.mk", "define A\ntext\n"),
    ] {
        assert!(extract(name, source.as_bytes()).breaks_off, "{source}");
    }
}

#[test]
fn damaged_by_errors() {
    let found = extract(
        "a.js",
        b"function f() { return (1; }\nfunction g() { return 2; }\n",
    );
    assert!(!found.clean && !found.breaks_off);
    let damaged: Vec<bool> = found
        .definitions
        .iter()
        .map(|found| found.damaged)
        .collect();
    assert_eq!(damaged, [true, false]);
    let found = extract(
        "a.py",
        b"def f():\n    a = 1\n      b = 2\n\ndef g():\n    return 1\n",
    );
    let damaged: Vec<bool> = found
        .definitions
        .iter()
        .map(|found| found.damaged)
        .collect();
    assert!(!found.clean);
    assert_eq!(damaged, [true, false]);
}

/// Definitions of the same name and those with doubtful ends are partial proofs.
#[test]
fn partial_proofs() {
    let proofs = |name: &str, source: &str| -> Vec<(String, Proof)> {
        extract(name, source.as_bytes())
            .definitions
            .iter()
            .map(|found| (found.symbol.to_string(), found.proof))
            .collect()
    };
    let one = |symbol: &str, proof| (symbol.to_owned(), proof);
    let twice = "def f; 1; end\n\ndef f; 2; end\n\ndef g; 3; end\n";
    assert_eq!(
        proofs("a.rb", twice),
        [
            one("f", Proof::PartialPattern),
            one("f", Proof::PartialPattern),
            one("g", Proof::Pattern)
        ]
    );
    assert_eq!(
        proofs("a.rb", "def f\n  1\n    end\n"),
        [one("f", Proof::PartialPattern)],
        "an end out of line"
    );
    assert_eq!(
        proofs("a.cs", "class C\n{\n    int F() {\n        return 1;\n"),
        [
            one("C", Proof::PartialPattern),
            one("C.F", Proof::PartialPattern)
        ]
    );
    assert_eq!(
        proofs("a.py", "def f(): return 1\ndef f(): return 2\n"),
        [one("f", Proof::Ast), one("f", Proof::Ast)],
        "a grammar knows of each where it ends"
    );
    assert_eq!(
        proofs("a.py", "    def f(self):\n        return 1\n"),
        [one("f", Proof::PartialPattern)],
        "a method without its class"
    );
}

#[test]
fn bare_declarations() {
    for (name, source) in [
        (
            "a.ts",
            "function f(a: string): void;\ndeclare function f(): void\n",
        ),
        (
            "a.ts",
            "abstract class C { abstract f(): void; g?: string }\n",
        ),
        ("a.java", "interface C { int f(int a); }\n"),
        (
            "a.cs",
            "abstract class C { protected abstract int f(); extern int f(); }\n",
        ),
        ("a.go", "func f(a int) int\n"),
        (
            "a.rs",
            "trait C { fn f(&self); }\nextern \"C\" { fn f(); }\n",
        ),
        ("a.php", "interface C { public function f(): int; }\n"),
        (
            "a.kt",
            "interface C {\n  fun f(): Int\n  fun f(a: Int)\n}\n",
        ),
        (
            "a.swift",
            "protocol C {\n  func f() -> Int\n  init(f: Int)\n}\n",
        ),
        ("a.zig", "extern fn f(a: u8) u8;\n"),
        (
            "a.py",
            "from typing import overload\n@overload\ndef f(a: int) -> int: ...\n",
        ),
    ] {
        let symbols: Vec<String> = extract(name, source.as_bytes())
            .definitions
            .iter()
            .map(|found| found.symbol.to_string())
            .filter(|symbol| symbol != "C")
            .collect();
        assert!(symbols.is_empty(), "{name}: {source}: {symbols:?}");
    }
}

#[test]
fn languages_found() {
    let grammars = TreeSitterGrammars::new();
    let of_path = |path| grammars.language_of_path(&RelPath::from_normalised(path));
    for (path, tag) in [
        ("a/b.py", "python"),
        ("a.tsx", "tsx"),
        ("a.mts", "ts"),
        ("a.mjs", "JavaScript"),
        ("src/lib.rs", "rust"),
        ("main.go", "golang"),
        ("A.java", "java"),
        ("A.cs", "c#"),
        ("a.rb", "ruby"),
        ("Rakefile", "rb"),
        ("a.php", "php"),
        ("a.kts", "kotlin"),
        ("a.swift", "swift"),
        ("a.lua", "lua"),
        ("a.sh", "bash"),
        ("a.SQL", "sql"),
        ("a.zig", "zig"),
        ("sub/Makefile", "make"),
        ("rules.mk", "makefile"),
    ] {
        assert!(of_path(path).is_some(), "{path}");
        assert_eq!(of_path(path), grammars.language_of_tag(tag), "{path} {tag}");
    }
    assert_eq!(of_path("a.c").map(|id| id.0), Some(0));
    assert_eq!(of_path("a.h").map(|id| id.0), Some(2));
    assert_eq!(of_path("makefile.txt"), None);
    assert_eq!(grammars.language_of_tag("text"), None);
}

#[test]
fn kin_languages() {
    let grammars = TreeSitterGrammars::new();
    let kin = |one: &str, other: &str| {
        let of = |tag| grammars.language_of_tag(tag).unwrap();
        grammars.are_kin(of(one), of(other))
    };
    assert!(kin("c", "cpp") && kin("h", "c++") && kin("js", "tsx") && kin("python", "py"));
    assert!(!kin("c", "bash") && !kin("bash", "python") && !kin("ts", "java"));
}

/// Documentation may quote what stands for left-out code.
#[test]
fn quoted_placeholders() {
    let source = "/// ```\n/// // ...\n/// ```\nfn f() { g() }\n";
    assert!(extract("a.rs", source.as_bytes()).elisions.is_empty());
}

#[test]
fn pattern_version() {
    let tag = extract("a.rb", b"").grammar;
    let hash = TreeSitterGrammars::new().patterns().to_string();
    assert_eq!(tag.language, "ruby");
    assert_eq!(tag.version, format!("patterns+3:{}", &hash[..16]));
}

#[test]
fn grammar_version() {
    let names: Vec<String> = ["a.py", "a.js", "a.ts", "a.tsx", "a.rs", "a.go", "a.java"]
        .iter()
        .map(|name| extract(name, b"").grammar.language)
        .collect();
    assert_eq!(
        names,
        [
            "python",
            "javascript",
            "typescript",
            "tsx",
            "rust",
            "go",
            "java"
        ]
    );
}
