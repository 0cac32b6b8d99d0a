//! Imports, calls and definitions of a text with their kinds, for the project's rules for code.

use tree_sitter::Node;
use tslp_core::extract::{CodePart, CodePartKind, LanguageId};

use crate::colours::visit_nodes;

/// The parts of `source`, in source order.
pub(crate) fn parts(language: LanguageId, source: &[u8]) -> Vec<CodePart> {
    let mut parts: Vec<CodePart> = Vec::new();
    // The definitions around a node: where each ends, and which part it is.
    let mut around: Vec<(usize, usize)> = Vec::new();
    visit_nodes(Some(language), source, &mut |node| {
        around.retain(|(end, _)| node.start_byte() < *end);
        let text = |from: Node<'_>, to: Node<'_>| {
            let bytes = source
                .get(from.start_byte()..to.end_byte())
                .unwrap_or_default();
            String::from_utf8_lossy(bytes).into_owned()
        };
        let Some((kind, from, to)) = part_of(node, &text) else {
            return true;
        };
        let outer = around.last().map(|(_, outer)| &parts[*outer]);
        let is_local = outer.is_some_and(|it| {
            it.kind == CodePartKind::Function || node.kind() == "expression_statement"
        });
        if kind == CodePartKind::Constant && is_local {
            return true;
        }
        let mut name = text(from, to);
        let qualified = source.get(..from.start_byte()).unwrap_or_default();
        let is_types = qualified.ends_with(format!("{name}::").as_bytes())
            || outer.is_some_and(|it| it.kind == CodePartKind::Type && it.name == name);
        if kind == CodePartKind::Function && is_types {
            name.push_str("()");
        }
        if kind != CodePartKind::Call && kind != CodePartKind::Import {
            around.push((node.end_byte(), parts.len()));
        }
        let (line, top_level) = (from.start_position().row + 1, outer.is_none());
        parts.push(CodePart {
            kind,
            line,
            name,
            top_level,
        });
        kind != CodePartKind::Import
    });
    parts
}

/// What a node is, with the first and the last node of its name. Grammars name their nodes alike: a rule for each word, not for each
/// language.
fn part_of<'t>(
    node: Node<'t>,
    text: &dyn Fn(Node<'_>, Node<'_>) -> String,
) -> Option<(CodePartKind, Node<'t>, Node<'t>)> {
    let kind = node.kind();
    let (first, last) = (kind.split('_').next()?, kind.rsplit('_').next()?);
    let field = |name: &str| node.child_by_field_name(name);
    let named = |kind| name_of(node).map(|name| (kind, name, name));
    let defines = [
        "definition",
        "declaration",
        "specifier",
        "item",
        "spec",
        "alias",
        "statement",
    ];
    match kind {
        "import_declaration" if node.named_child(0)?.kind().starts_with("import_spec") => None,
        "export_statement" if field("source").is_none() => None,
        "import_statement"
        | "import_from_statement"
        | "import_declaration"
        | "import_spec"
        | "preproc_include"
        | "use_declaration"
        | "extern_crate_declaration"
        | "export_statement" => Some((CodePartKind::Import, node, node)),
        "call"
        | "call_expression"
        | "method_invocation"
        | "macro_invocation"
        | "new_expression"
        | "object_creation_expression" => {
            let called = ["function", "macro", "constructor", "type"]
                .into_iter()
                .find_map(field);
            let (from, to) = (called.unwrap_or(node), called.or(field("name"))?);
            let name = text(from, to);
            let imports = ["require", "import", "__import__", "import_module"];
            match field("arguments").filter(|_| {
                name.rsplit('.')
                    .next()
                    .is_some_and(|it| imports.contains(&it))
            }) {
                Some(arguments) => Some((CodePartKind::Import, arguments, arguments)),
                None => Some((CodePartKind::Call, from, to)),
            }
        }
        "const_item" | "static_item" | "const_spec" => named(CodePartKind::Constant),
        "preproc_def" if field("value").is_some() => named(CodePartKind::Constant),
        "expression_statement" => {
            let assigned = node.named_child(0).filter(|it| it.kind() == "assignment")?;
            let left = assigned.child_by_field_name("left");
            let left = left.filter(|it| it.kind() == "identifier")?;
            Some((CodePartKind::Constant, left, left))
        }
        "lexical_declaration" | "declaration" | "field_declaration" => {
            let mut cursor = node.walk();
            let mut inner = node.named_children(&mut cursor);
            let value = inner.find_map(|it| it.child_by_field_name("value"))?;
            let head = text(node, node);
            let head = head.split('=').next()?;
            match kind {
                _ if value.kind().contains("function") => named(CodePartKind::Function),
                "field_declaration" if !head.contains("final") => None,
                _ if head.contains("static") || head.contains("const") => {
                    named(CodePartKind::Constant)
                }
                _ => None,
            }
        }
        _ if !defines.contains(&last) || kind.contains("parameter") => None,
        _ if ["function", "method", "constructor"]
            .iter()
            .any(|it| kind.contains(it)) =>
        {
            named(CodePartKind::Function)
        }
        _ if last == "specifier" && field("body").is_none() => None,
        _ => {
            let types = [
                "class",
                "struct",
                "enum",
                "union",
                "interface",
                "trait",
                "type",
                "record",
                "abstract",
            ];
            named(CodePartKind::Type).filter(|_| types.contains(&first))
        }
    }
}

/// The name of a definition: its own, or that of what it declares.
fn name_of(node: Node<'_>) -> Option<Node<'_>> {
    let field = |name: &str| node.child_by_field_name(name);
    let declared = node
        .named_child(0)
        .filter(|_| node.kind() == "lexical_declaration");
    match field("name").or(field("declarator")).or(declared) {
        Some(inner) => name_of(inner),
        None => (node.named_child_count() == 0).then_some(node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TreeSitterGrammars;
    use tslp_core::code_spec::CodeSpec;
    use tslp_core::extract::Grammars as _;
    use tslp_core::path::RelPath;

    /// The lines of `code` that break the rules, each with what it does.
    fn broken(path: &str, rules: &[&str], code: &str) -> Vec<(usize, String)> {
        let rules: String = rules.iter().map(|rule| format!("- {rule}\n")).collect();
        let spec = CodeSpec::parse(&rules).unwrap();
        let path = RelPath::from_normalised(path);
        let language = TreeSitterGrammars.language_of_path(&path).unwrap();
        let parts = parts(language, code.as_bytes());
        let breaches = spec.breaches(&path, &parts, 1).into_iter();
        let breaches = breaches.map(|it| {
            let what = it.what.split(" (").next().unwrap_or_default();
            (it.line, what.to_owned())
        });
        breaches.collect()
    }

    #[track_caller]
    fn check(path: &str, rules: &[&str], code: &str, expected: &[(usize, &str)]) {
        let broken = broken(path, rules, code);
        let broken: Vec<(usize, &str)> = broken.iter().map(|(at, it)| (*at, &**it)).collect();
        assert_eq!(broken, expected, "{path}: {rules:?}\n{code}");
    }

    /// What a text imports is found in each language, under each of its names.
    #[test]
    fn imports_found() {
        let python = "import math, os.path as p\nfrom os import (\n    system as run,\n    getcwd,\n)\nfrom .os import x\ndef f():\n    import subprocess\n    os = __import__('os')\n    \"import os\"  # import os\n";
        let denied = ["deny import: os, subprocess"];
        check(
            "a.py",
            &denied,
            python,
            &[
                (1, "imports `os`"),
                (2, "imports `os`"),
                (8, "imports `subprocess`"),
                (9, "imports `os`"),
            ],
        );
        let javascript = "import fs from 'node:fs';\nimport { readFile as r, writeFile } from \"fs/promises\";\nimport * as cp from 'child_process';\nimport './local.js';\nexport { a } from 'fs';\nconst net = require('net'), x = await import('os');\n";
        let denied = ["deny import: fs, child_process, net, os"];
        let found = [
            (1, "imports `fs`"),
            (2, "imports `fs`"),
            (3, "imports `child_process`"),
            (5, "imports `fs`"),
            (6, "imports `net`"),
            (6, "imports `os`"),
        ];
        check("a.js", &denied, javascript, &found);
        check("a.ts", &denied, javascript, &found);
        check(
            "a.ts",
            &denied,
            "import type { Stats } from 'fs';\n",
            &[(1, "imports `fs`")],
        );
        check(
            "a.rs",
            &["deny import: std::process, std::fs, libc"],
            "use std::{collections::HashMap, fs::{self, File}, process::Command as C};\nextern crate libc;\npub(crate) use crate::fs::x;\nuse std::io::*;\n",
            &[
                (1, "imports `std::process`"),
                (1, "imports `std::fs`"),
                (2, "imports `libc`"),
            ],
        );
        check(
            "a.go",
            &["deny import: os, net"],
            "package a\nimport (\n\t\"fmt\"\n\to \"os/exec\"\n\t. \"net\"\n)\nimport \"os\"\n",
            &[
                (4, "imports `os`"),
                (5, "imports `net`"),
                (7, "imports `os`"),
            ],
        );
        check(
            "A.java",
            &["deny import: java.io, java.util.Random.next"],
            "import java.util.List;\nimport java.io.File;\nimport static java.util.Random.next;\nimport java.io.*;\nclass A {}\n",
            &[
                (2, "imports `java.io`"),
                (3, "imports `java.util.Random.next`"),
                (4, "imports `java.io`"),
            ],
        );
        let c = "#include <stdio.h>\n#include \"sys/socket.h\"\n#include \"ring.h\"\n";
        for path in ["a.c", "a.h", "a.cpp"] {
            let rules = ["deny import: sys, stdio.h"];
            let found = [(1, "imports `stdio.h`"), (2, "imports `sys`")];
            check(path, &rules, c, &found);
        }
        // Several lists of what is allowed are one.
        let allowed = ["allow import: math", "allow import: os.path"];
        let python = "import math\nimport os.path\nfrom os import path, sep\nimport re\n";
        check(
            "a.py",
            &allowed,
            python,
            &[(3, "imports `os`"), (4, "imports `re`")],
        );
    }

    /// A call is known by its whole name, by what was imported, and as a method.
    #[test]
    fn calls_known() {
        let rules = ["forbid call: eval, os.system, numpy.load, .unsafe_all"];
        check(
            "a.py",
            &rules,
            "import numpy as np, builtins\nfrom os import system as run\neval('x')\nmodel.eval()\nbuiltins.eval('x')\nos.system('ls')\nrun('ls')\nnp.load('f')\nq.z.unsafe_all()\nprint('eval(x)')  # eval(x)\nevaluate(1)\n",
            &[
                (3, "calls `eval`"),
                (5, "calls `builtins.eval`"),
                (6, "calls `os.system`"),
                (7, "calls `run`"),
                (8, "calls `np.load`"),
                (9, "calls `q.z.unsafe_all`"),
            ],
        );
        check(
            "a.rs",
            &["forbid call: .unwrap, panic!, std::process::exit, transmute"],
            "use std::process;\nfn f() { g().unwrap(); panic!(\"no\"); process::exit(1); unsafe { std::mem::transmute::<u8, i8>(1) }; exit(1); unwrap() }\n",
            &[
                (2, "calls `g().unwrap`"),
                (2, "calls `panic`"),
                (2, "calls `process::exit`"),
                (2, "calls `std::mem::transmute::<u8, i8>`"),
            ],
        );
        check(
            "a.ts",
            &["forbid call: eval, Function, child_process.exec, .innerHTML"],
            "import { exec as e } from 'child_process';\nfunction f() { eval('1'); new Function('a'); e('ls'); x.exec(); }\n",
            &[
                (2, "calls `eval`"),
                (2, "calls `Function`"),
                (2, "calls `e`"),
            ],
        );
        check(
            "a.go",
            &["forbid call: panic, os/exec.Command"],
            "package a\nimport x \"os/exec\"\nfunc f() {\n\tpanic(1)\n\tx.Command(\"ls\")\n\ty.Command()\n}\n",
            &[(4, "calls `panic`"), (5, "calls `x.Command`")],
        );
        check(
            "A.java",
            &["forbid call: System.exit, .exec, Thread"],
            "class A { void f() { System.exit(1); r.exec(\"ls\"); new Thread(); exit(1); } }\n",
            &[
                (1, "calls `System.exit`"),
                (1, "calls `r.exec`"),
                (1, "calls `Thread`"),
            ],
        );
        for path in ["a.c", "a.cpp"] {
            let code = "void f(char *s) { gets(s); my_gets(s); p->gets(s); }\n";
            check(path, &["forbid call: gets"], code, &[(1, "calls `gets`")]);
        }
        check(
            "a.cpp",
            &["forbid call: system, Raw"],
            "void f() { std::system(\"ls\"); auto p = new Raw(1); }\n",
            &[(1, "calls `std::system`"), (1, "calls `Raw`")],
        );
    }

    #[test]
    fn name_styles() {
        let rules = [
            "names: snake_case",
            "type names: PascalCase",
            "constant names: UPPER_CASE",
        ];
        let names = |path: &str, code: &str, expected: &[&str]| {
            let broken = broken(path, &rules, code);
            let broken: Vec<&str> = broken.iter().map(|(_, it)| &**it).collect();
            assert_eq!(broken, expected, "{code}");
        };
        names(
            "a.py",
            "Max = 3\nLIMIT = 4\n__all__ = []\nclass ring:\n    Size = 1\n    def __init__(self): self.X = 1\n    def putItem(self):\n        Local = 1\ndef _ok(): pass\n",
            &["names `Max`", "names `ring`", "names `putItem`"],
        );
        names(
            "a.rs",
            "const max: u8 = 1;\nstruct ring;\nimpl Ring { fn putItem() {} fn get(&self) {} }\nenum E { a }\ntrait t {}\ntype u = u8;\n",
            &[
                "names `max`",
                "names `ring`",
                "names `putItem`",
                "names `t`",
                "names `u`",
            ],
        );
        names(
            "a.cpp",
            "#define max 1\n#define RING_H\nstatic const int Low = 1;\nint counter = 2;\nclass Ring { public: Ring(); void put(); };\nRing::Ring() {}\nRing::~Ring() {}\nvoid Ring::putItem() {}\nbool operator==(int a, Ring b) { return true; }\nstruct node *next(struct node *n) { return n; }\ntypedef struct { int a; } item;\n",
            &[
                "names `max`",
                "names `Low`",
                "names `putItem`",
                "names `item`",
            ],
        );
        names(
            "A.java",
            "class A { static final int max = 1; int Field; A() {} void PutItem() {} interface b {} }\n",
            &["names `PutItem`", "names `b`", "names `max`"],
        );
        let camel = ["names: camelCase", "constant names: UPPER_CASE"];
        check(
            "a.js",
            &camel,
            "const limit = 1;\nexport const LIMIT = 2;\nconst add_one = (a) => a + 1;\nfunction Sub() { const inner = 1; }\nclass A { constructor() {} put_item() {} }\nlet x = 1;\n",
            &[
                (1, "names `limit`"),
                (3, "names `add_one`"),
                (4, "names `Sub`"),
                (5, "names `put_item`"),
            ],
        );
        check(
            "a.go",
            &["names: camelCase", "type names: PascalCase"],
            "package a\ntype ring struct{}\nfunc (r *Ring) Put_all() {}\nfunc ok() {}\nfunc g[T any]() {}\n",
            &[(2, "names `ring`"), (3, "names `Put_all`")],
        );
    }

    #[test]
    fn order_of_parts() {
        let order = ["order: imports, constants, types, functions"];
        check(
            "a.py",
            &order,
            "import os\nA = 1\nclass C:\n    x = 1\n    def f(self):\n        import re\nB = 2\ndef g(): pass\nimport sys\nclass D: pass\n",
            &[
                (7, "is one of the constants after types"),
                (9, "is one of the imports after functions"),
                (10, "is one of the types after functions"),
            ],
        );
        check(
            "a.c",
            &order,
            "#include <stdio.h>\n#define MAX 3\nstruct ring { int a; };\nint f(void) { return 1; }\n#include \"late.h\"\n",
            &[(5, "is one of the imports after functions")],
        );
        check(
            "a.rs",
            &["order: types, functions"],
            "fn f() {}\nuse std::fs;\nstruct S;\nimpl S { fn g() {} }\n",
            &[(3, "is one of the types after functions")],
        );
        let javascript = "const f = () => 1;\nconst A = 1;\nimport x from 'x';\n";
        let found = [
            (2, "is one of the constants after functions"),
            (3, "is one of the imports after functions"),
        ];
        check("a.ts", &order, javascript, &found);
    }

    #[test]
    fn without_grammar() {
        let path = RelPath::from_normalised("a.lua");
        let language = TreeSitterGrammars.language_of_path(&path);
        assert!(language.is_none_or(|it| parts(it, b"os.execute('x')").is_empty()));
    }
}
