//! What the gates do with faithful and damaging edits of real functions: the confusion table of docs/gates.md.
//!
//! `cargo test -p tslp-snapshots --test confusion -- --nocapture` prints it.
#![allow(clippy::print_stdout)]

mod dice;
mod lexer;
mod sources;

mod function;
mod statements;

mod case;
mod damaging;
mod edit;
mod faithful;
mod format;

mod measure;
mod trial;

mod report;
mod table;

use tslp_core::elision::is_placeholder;

use crate::case::Case;
use crate::edit::Worth;

/// Kinds of edits, and circumstances, whose rule is still to come: they are counted and shown, and promise nothing yet.
const AWAITING_RULE: &[&str] = &[
    trial::WITH_ERRORS,
    trial::ONE_OF_SEVERAL,
    damaging::UNKNOWN_WORDING,
    trial::MERGED_AS_FRAGMENT,
    "body emptied",
    "body replaced by TODO",
    "definition doubled",
    "function renamed",
    "path of another file",
    "qualification lost",
];

/// Least share of faithful edits that must become true, in percent.
const FAITHFUL_PERCENT: usize = 99;

#[test]
fn no_damage_is_promoted_and_faithful_edits_are() {
    let (groups, missing) = sources::collect();
    for package in &missing {
        println!(
            "{package} isn't in the local registry: measured without it (`cargo fetch` brings it)"
        );
    }
    let cases: Vec<Case> = groups.iter().flat_map(case::cases).collect();
    assert!(!cases.is_empty(), "no function was found");
    let table = report::report(&cases, &measure::play_all(&cases));
    let is_ruled = |kind: &str| !AWAITING_RULE.contains(&kind);
    let everything = |_: &str| true;
    let (faithful, promoted) = table.score(Worth::Faithful, is_ruled);
    let (damaging, kept_out) = table.score(Worth::Damaging, is_ruled);
    let (all_faithful, all_promoted) = table.score(Worth::Faithful, everything);
    let (all_damaging, all_kept_out) = table.score(Worth::Damaging, everything);
    println!(
        "faithful: {promoted} of {faithful} promoted; damaging: {kept_out} of {damaging} kept out\n\
         with what awaits its rule: {all_promoted} of {all_faithful} promoted; {all_kept_out} of {all_damaging} kept out"
    );
    assert_eq!(
        kept_out,
        damaging,
        "damaging edits were promoted:\n{}",
        table.surprises(Worth::Damaging, is_ruled)
    );
    assert!(
        promoted * 100 >= faithful * FAITHFUL_PERCENT,
        "{promoted} of {faithful} faithful edits were promoted:\n{}",
        table.surprises(Worth::Faithful, is_ruled)
    );
}

/// Sources of one's own, measured and reported; they promise nothing.
#[test]
fn more_sources() {
    let Some(group) = sources::more() else {
        return;
    };
    let cases = case::cases(&group);
    report::report(&cases, &measure::play_all(&cases));
}

#[test]
fn wordings_to_be_learnt_are_those_that_are_unknown() {
    let all = damaging::PLACEHOLDERS
        .iter()
        .chain(&damaging::PLACEHOLDERS_OF_FUNCTIONS);
    let mut unknown: Vec<&str> = all
        .copied()
        .filter(|wording| wording.starts_with('/') && !is_placeholder(wording))
        .collect();
    let mut awaited = damaging::AWAITING_WORDING.to_vec();
    unknown.sort_unstable();
    awaited.sort_unstable();
    assert_eq!(unknown, awaited, "left: unknown, right: on the list");
}

#[test]
fn formats_say_the_edit() {
    let (groups, _) = sources::collect();
    for case in groups.iter().flat_map(case::cases) {
        for edit in faithful::edits(&case) {
            format::check(&case.path, &case.shown, &edit.text);
        }
    }
}
