//! A file of real-looking C, as a whole.

use crate::shown::extract;

#[test]
fn every_name_found() {
    let source = include_str!("../corpus/store.c");
    let extraction = extract("store.c", source.as_bytes());
    let names: Vec<String> = extraction
        .definitions
        .iter()
        .map(|definition| definition.symbol.to_string())
        .collect();
    let expected: Vec<&str> = source
        .lines()
        .filter_map(|line| line.split_once("defines: "))
        .flat_map(|(_, names)| names.trim_end_matches("*/").split_whitespace())
        .collect();
    assert_eq!(names, expected);
    assert!(extraction.clean);
    assert!(extraction.preamble);
}
