#![allow(clippy::all, missing_docs, clippy::print_stdout, clippy::unwrap_used)]
use tslp_core::extract::Grammars;
use tslp_core::path::RelPath;
fn grammar(n: &str) -> tree_sitter::Language {
    match n.rsplit('.').next().unwrap() {
        "py" => tree_sitter_python::LANGUAGE.into(),
        "js" | "jsx" => tree_sitter_javascript::LANGUAGE.into(),
        "ts" => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        "tsx" => tree_sitter_typescript::LANGUAGE_TSX.into(),
        "rs" => tree_sitter_rust::LANGUAGE.into(),
        "go" => tree_sitter_go::LANGUAGE.into(),
        "java" => tree_sitter_java::LANGUAGE.into(),
        "c" => tree_sitter_c::LANGUAGE.into(),
        _ => tree_sitter_cpp::LANGUAGE.into(),
    }
}
fn main() {
    let name = std::env::args().nth(1).unwrap();
    let src = std::fs::read(&name).unwrap();
    let base = name.rsplit('/').next().unwrap();
    let mut p = tree_sitter::Parser::new();
    p.set_language(&grammar(base)).unwrap();
    if std::env::args().nth(2).is_some() {
        let t = p.parse(&src, None).unwrap();
        println!("{}", t.root_node().to_sexp());
    }
    let t0 = std::time::Instant::now();
    let tr = p.parse(&src, None);
    println!("bare {:?}", t0.elapsed());
    drop(tr);
    let g = tslp_grammars::TreeSitterGrammars::new();
    let l = g.language_of_path(&RelPath::from_normalised(base)).unwrap();
    let start = std::time::Instant::now();
    match g.extract(l, &src) {
        Ok(e) => {
            for d in &e.definitions {
                let line = |at: u32| src[..at as usize].iter().filter(|b| **b == b'\n').count() + 1;
                println!(
                    "{}-{} {:?} {:?} {}{} | {}",
                    line(d.span.start),
                    line(d.span.end),
                    d.proof,
                    d.body,
                    d.symbol,
                    if d.damaged { " DAMAGED" } else { "" },
                    String::from_utf8_lossy(d.head.of(&src))
                        .split_whitespace()
                        .collect::<Vec<_>>()
                        .join(" ")
                );
            }
            println!(
                "clean {} errors {} breaks_off {} elisions {} preamble {}",
                e.clean,
                e.errors,
                e.breaks_off,
                e.elisions.len(),
                e.preamble
            );
        }
        Err(e) => println!("{e:?}"),
    }
    println!("{:?}", start.elapsed());
}
