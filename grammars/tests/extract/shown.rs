//! Extractions as text: one line a definition, with its place, its name and the text it spans.

use std::fmt::Write as _;

use tslp_core::extract::{Extraction, Grammars};
use tslp_core::path::RelPath;
use tslp_grammars::TreeSitterGrammars;

/// Extracts `source` as the file `name`.
pub(crate) fn extract(name: &str, source: &[u8]) -> Extraction {
    let grammars = TreeSitterGrammars::new();
    let language = grammars
        .language_of_path(&RelPath::from_normalised(name))
        .unwrap();
    grammars.extract(language, source).unwrap()
}

/// One line a definition: `top name "first line … last line"`.
pub(crate) fn shown(source: &str, extraction: &Extraction) -> String {
    let mut out = String::new();
    for definition in &extraction.definitions {
        let place = if definition.top_level { "top" } else { "in" };
        let damage = if definition.damaged { " damaged" } else { "" };
        let text = String::from_utf8_lossy(definition.span.of(source.as_bytes()));
        let text = match text.split_once('\n') {
            Some((first, rest)) => {
                format!("{first} ~ {}", rest.rsplit('\n').next().unwrap().trim())
            }
            None => text.into_owned(),
        };
        writeln!(out, "{place}{damage} {}: {text}", definition.symbol).unwrap();
    }
    for elision in &extraction.elisions {
        writeln!(
            out,
            "elision: {}",
            String::from_utf8_lossy(elision.of(source.as_bytes()))
        )
        .unwrap();
    }
    if !extraction.clean {
        out.push_str("not clean\n");
    }
    out
}

/// Compares what is found in `source`, read as a file of this name, with `expected`, whose lines may be indented.
#[track_caller]
pub(crate) fn check(name: &str, source: &str, expected: &str) {
    let found = shown(source, &extract(name, source.as_bytes()));
    let expected: String = expected
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(
        found, expected,
        "\n--- found ---\n{found}--- expected ---\n{expected}"
    );
}
