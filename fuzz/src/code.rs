//! Extraction of definitions from any bytes.

use tslp_core::extract::{Extraction, Grammars};
use tslp_core::slice::Span;
use tslp_grammars::TreeSitterGrammars;

/// Any bytes taken for C.
pub(crate) fn extract_c(data: &[u8]) {
    check_extraction("c", data);
}

/// Any bytes taken for C++.
pub(crate) fn extract_cpp(data: &[u8]) {
    check_extraction("cpp", data);
}

/// Any bytes taken for one of the other languages that have a grammar; the first byte says which.
pub(crate) fn extract_grammars(data: &[u8]) {
    const TAGS: [&str; 7] = [
        "python",
        "javascript",
        "typescript",
        "tsx",
        "rust",
        "go",
        "java",
    ];
    extract_one_of(&TAGS, data);
}

/// Any bytes taken for one of the languages that patterns read; the first byte says which.
pub(crate) fn extract_patterns(data: &[u8]) {
    const TAGS: [&str; 10] = [
        "csharp", "ruby", "php", "kotlin", "swift", "lua", "shell", "sql", "zig", "makefile",
    ];
    extract_one_of(&TAGS, data);
}

fn extract_one_of(tags: &[&str], data: &[u8]) {
    if let Some((first, source)) = data.split_first() {
        check_extraction(tags[usize::from(*first) % tags.len()], source);
    }
}

/// Definitions lie inside the source, in order, and a second look finds the same.
fn check_extraction(language: &str, source: &[u8]) {
    let Some(language) = TreeSitterGrammars.language_of_tag(language) else {
        panic!("no grammar for {language}");
    };
    let Ok(extraction) = TreeSitterGrammars.extract(language, source) else {
        return;
    };
    check_definitions(&extraction, source);
    assert_eq!(
        TreeSitterGrammars.extract(language, source).as_ref(),
        Ok(&extraction)
    );
}

fn check_definitions(extraction: &Extraction, source: &[u8]) {
    let is_inside = |span: &Span| {
        span.start <= span.end && usize::try_from(span.end).is_ok_and(|end| end <= source.len())
    };
    for definition in &extraction.definitions {
        assert!(is_inside(&definition.span), "{definition:?}");
        assert!(!definition.span.is_empty(), "{definition:?}");
        let (span, head) = (definition.span, definition.head);
        assert!(
            span.start <= head.start && head.start < head.end && head.end <= span.end,
            "{definition:?}"
        );
        assert!(
            definition.damaged || !definition.symbol.as_str().is_empty(),
            "{definition:?}"
        );
    }
    assert!(
        extraction
            .definitions
            .is_sorted_by_key(|definition| definition.span.start),
        "{:?}",
        extraction.definitions
    );
    assert!(extraction.elisions.iter().all(is_inside));
    if extraction.clean {
        assert!(
            extraction
                .definitions
                .iter()
                .all(|definition| !definition.damaged)
        );
    }
    let slices = extraction.slices(source);
    assert!(slices.len() <= extraction.definitions.len());
}
