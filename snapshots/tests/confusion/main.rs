//! What the gates do with faithful and damaging edits of real functions: the confusion table of docs/rules.md.
//!
//! `cargo test -p tslp-snapshots --test confusion -- --nocapture` prints it.
#![allow(clippy::print_stdout)]

mod dice;
mod lexer;
mod sources;

mod function;
mod healing;
mod margin;
mod statements;

mod by_lines;
mod case;
mod damaging;
mod edit;
mod faithful;
mod format;

mod asked;
mod measure;
mod releases;
mod structural;
mod trial;

mod report;
mod table;

use tslp_core::elision::is_placeholder;

use crate::case::Case;
use crate::edit::Worth;

/// What no structure can tell: one function's body moved into another, read as a change of that one alone. Counted and
/// shown, and promises nothing.
const BEYOND_STRUCTURE: &str = trial::MERGED_AS_FRAGMENT;

/// What is told by a share of the function, which is measured here otherwise than there.
const TOLD_BY_SHARE: [&str; 4] = [
    "a third dropped without a word",
    "half dropped without a word",
    "an else branch dropped",
    "a case dropped",
];

/// Most damaging edits of one kind that may become true, of this many.
const TOLD_APART: usize = 500;

/// Most edits that drop a part beside another change and may become true, in percent.
const DROPPED_PERCENT: usize = 2;

/// Least share of faithful edits that must become true, in percent, with the code of all packages.
const FAITHFUL_PERCENT: usize = 99;

/// The same where a package isn't there: among fewer functions an unusual one weighs more.
const FAITHFUL_PERCENT_OF_A_PART: usize = 98;

/// All functions of all packages: it is about unusual ones, and a share of 98 or 99 percent can't be
/// told from a hundred functions.
/// law 6 | Of 500 damaging edits of one kind at most one is promoted, and 99 of 100 faithful ones are
#[test]
fn damaging_and_faithful() {
    let (groups, missing) = sources::collect();
    for package in &missing {
        println!(
            "{package} isn't in the local registry: measured without it (`cargo fetch` brings it)"
        );
    }
    let cases: Vec<Case> = groups.iter().flat_map(case::cases).collect();
    assert!(!cases.is_empty(), "no function was found");
    let table = report::report(&cases, &measure::play_all(&cases));
    let is_told_by_share =
        |kind: &str| TOLD_BY_SHARE.contains(&kind) || structural::BY_SHARE.contains(&kind);
    let is_tellable = |kind: &str| kind != BEYOND_STRUCTURE && !is_told_by_share(kind);
    let everything = |_: &str| true;
    let (faithful, promoted) = table.score(Worth::Faithful, everything);
    let (damaging, kept_out) = table.score(Worth::Damaging, is_tellable);
    println!(
        "faithful: {promoted} of {faithful} promoted; damaging: {kept_out} of {damaging} kept out"
    );
    let too_often: Vec<&str> = (table.kinds(Worth::Damaging).into_iter())
        .filter(|kind| is_tellable(kind))
        .filter(|kind| {
            let (all, kept_out) = table.score(Worth::Damaging, |it| it == *kind);
            (all - kept_out) * TOLD_APART > all.max(TOLD_APART)
        })
        .collect();
    assert!(
        too_often.is_empty(),
        "damaging edits were promoted:\n{}",
        table.surprises(Worth::Damaging, |kind| too_often.contains(&kind))
    );
    let (dropped, kept_out) = table.score(Worth::Damaging, is_told_by_share);
    println!("dropped beside another change: {kept_out} of {dropped} kept out");
    assert!(
        (dropped - kept_out) * 100 <= dropped * DROPPED_PERCENT,
        "parts were dropped:\n{}",
        table.surprises(Worth::Damaging, is_told_by_share)
    );
    let least = if missing.is_empty() {
        FAITHFUL_PERCENT
    } else {
        FAITHFUL_PERCENT_OF_A_PART
    };
    assert!(
        promoted * 100 >= faithful * least,
        "{promoted} of {faithful} faithful edits were promoted:\n{}",
        table.surprises(Worth::Faithful, everything)
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
fn known_wordings() {
    let all = damaging::PLACEHOLDERS
        .iter()
        .chain(&damaging::PLACEHOLDERS_OF_FUNCTIONS);
    let unknown: Vec<&&str> = all
        .filter(|wording| wording.starts_with('/') && !is_placeholder(wording))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
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
