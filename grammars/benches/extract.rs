//! Extraction against the bare tree-sitter parse of the same bytes, in one run, for each language of the files that are given:
//! `cargo bench -p tslp-grammars -- FILE…`.
//!
//! Without files a generated C source is used. Both take their memory from the system's allocator. Rounds alternate between the two, and the ratio is that of the medians.
#![allow(clippy::print_stdout, missing_docs)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use tree_sitter::Parser;
use tslp_core::extract::Grammars;
use tslp_core::path::RelPath;
use tslp_grammars::TreeSitterGrammars;

const ROUNDS: usize = 7;

fn main() {
    let files: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"))
        .collect();
    let mut sources: Vec<(String, Vec<u8>)> = Vec::new();
    for file in files {
        if let Ok(source) = std::fs::read(&file) {
            sources.push((file, source));
        }
    }
    if sources.is_empty() {
        sources.push(("generated.c".to_owned(), generated()));
    }
    let mut by_language: BTreeMap<String, Vec<(String, Vec<u8>)>> = BTreeMap::new();
    for (name, source) in sources {
        let extension = Path::new(&name).extension().unwrap_or_default();
        let extension = extension.to_string_lossy().into_owned();
        by_language
            .entry(extension)
            .or_default()
            .push((name, source));
    }
    println!("language   files      bytes  bare MB/s  extraction MB/s  ratio");
    for (language, sources) in &by_language {
        compare(language, sources);
    }
}

/// One line: the bare parse of some files against extraction from them.
fn compare(language: &str, sources: &[(String, Vec<u8>)]) {
    let bytes: usize = sources.iter().map(|(_, source)| source.len()).sum();
    let mut bare = Vec::new();
    let mut full = Vec::new();
    for _ in 0..ROUNDS {
        bare.push(timed(|| {
            sources
                .iter()
                .for_each(|(name, source)| parse(name, source))
        }));
        full.push(timed(|| {
            sources
                .iter()
                .for_each(|(name, source)| extract(name, source))
        }));
    }
    let (bare, full) = (median(bare), median(full));
    println!(
        "{language:8} {:7} {bytes:10} {:10.2} {:16.2} {:6.2}",
        sources.len(),
        rate(bytes, bare),
        rate(bytes, full),
        full.as_secs_f64() / bare.as_secs_f64()
    );
}

fn parse(name: &str, source: &[u8]) {
    let extension = Path::new(name).extension();
    let grammar = match extension.and_then(|extension| extension.to_str()) {
        Some("c" | "h") => tree_sitter_c::LANGUAGE,
        Some("py") => tree_sitter_python::LANGUAGE,
        Some("js" | "mjs" | "cjs" | "jsx") => tree_sitter_javascript::LANGUAGE,
        Some("ts") => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        Some("tsx") => tree_sitter_typescript::LANGUAGE_TSX,
        Some("rs") => tree_sitter_rust::LANGUAGE,
        Some("go") => tree_sitter_go::LANGUAGE,
        Some("java") => tree_sitter_java::LANGUAGE,
        _ => tree_sitter_cpp::LANGUAGE,
    };
    let mut parser = Parser::new();
    if parser.set_language(&grammar.into()).is_ok() {
        black_box(parser.parse(source, None));
    }
}

fn extract(name: &str, source: &[u8]) {
    let grammars = TreeSitterGrammars::new();
    if let Some(language) = grammars.language_of_path(&RelPath::from_normalised(name)) {
        let _ = black_box(grammars.extract(language, source));
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn rate(bytes: usize, time: Duration) -> f64 {
    #[allow(clippy::cast_precision_loss)]
    let megabytes = bytes as f64 / 1e6;
    megabytes / time.as_secs_f64()
}

/// About half a megabyte of plain C.
fn generated() -> Vec<u8> {
    (0..2000)
        .flat_map(|n| {
            format!(
                "/* Adds what is due to item {n}. */\nstatic int item_{n}(struct item *p, int due)\n{{\n    \
                 int sum = 0;\n    for (int i = 0; i < due; i++) {{\n        if (p->parts[i] != {n})\n            \
                 sum += p->parts[i] * (i + 1);\n    }}\n    return sum;\n}}\n\n"
            )
            .into_bytes()
        })
        .collect()
}
