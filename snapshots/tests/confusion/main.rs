//! What the gates do with faithful and damaging edits of real functions: the confusion table of docs/gates.md.
//!
//! `cargo test -p tslp-snapshots --test confusion -- --nocapture` prints it.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

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

mod table;
mod trial;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::case::Case;
use crate::edit::{Edit, Worth};
use crate::format::Format;
use crate::table::Table;
use crate::trial::{Replay, Start, Verdict};

/// Formats that are measured.
const FORMATS: [Format; 2] = [Format::Function, Format::WholeText];

/// Formats whose parsers are still to come; one moves up once its parser is there.
#[allow(dead_code)]
const AWAITING_PARSER: [Format; 3] = [
    Format::SearchReplace,
    Format::UnifiedDiff,
    Format::ApplyPatch,
];

/// Kinds of edits, and circumstances, whose rule is still to come: they are counted and shown, and promise nothing yet.
const AWAITING_RULE: &[&str] = &[
    trial::WITH_ERRORS,
    trial::ONE_OF_SEVERAL,
    damaging::UNKNOWN_WORDING,
    "body emptied",
    "body replaced by TODO",
    "definition doubled",
    "function renamed",
    "path of another file",
    "qualification lost",
];

/// Least share of faithful edits that must become true, in percent.
const FAITHFUL_PERCENT: usize = 99;

/// One whole text in this many is played: they cost a parse of the whole each.
const WHOLE_TEXTS: usize = 2;

/// What became of one edit.
struct Outcome {
    worth: Worth,
    format: &'static str,
    kind: &'static str,
    variant: String,
    verdict: Verdict,
}

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
    let played = play_all(&cases);
    let mut table = Table::default();
    let mut without_base: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (case, outcomes) in cases.iter().zip(&played) {
        let name = format!("{} {}", case.path, case.function.name);
        match outcomes {
            Err(reason) => without_base.entry(reason.clone()).or_default().push(name),
            Ok(outcomes) => outcomes.iter().for_each(|outcome| {
                table.count(
                    outcome.worth,
                    outcome.format,
                    outcome.kind,
                    &outcome.verdict,
                    || format!("{name} ({}) `{}`", case.group, outcome.variant),
                );
            }),
        }
    }
    println!("{}", composition(&cases));
    println!("{}", table.markdown());
    for (reason, names) in &without_base {
        println!("without a base, {reason}: {} in all", names.len());
        names
            .iter()
            .take(10)
            .for_each(|name| println!("    {name}"));
    }
    let is_ruled = |words: &str| !AWAITING_RULE.contains(&words);
    let everything = |_: &str| true;
    println!(
        "placeholders that were taken for code: {:#?}",
        unknown_wordings(&played)
    );
    println!(
        "faithful, not promoted:\n{}",
        table.surprises(Worth::Faithful, everything)
    );
    println!(
        "damaging, promoted:\n{}",
        table.surprises(Worth::Damaging, everything)
    );
    let (faithful, promoted) = table.score(Worth::Faithful, is_ruled);
    let (damaging, kept_out) = table.score(Worth::Damaging, is_ruled);
    let (all_faithful, all_promoted) = table.score(Worth::Faithful, everything);
    let (all_damaging, all_kept_out) = table.score(Worth::Damaging, everything);
    println!(
        "faithful: {promoted} of {faithful} promoted; damaging: {kept_out} of {damaging} kept out\n\
         with what awaits its rule: {all_promoted} of {all_faithful} promoted; {all_kept_out} of {all_damaging} kept out"
    );
    assert_eq!(
        damaging - kept_out,
        0,
        "damaging edits were promoted:\n{}",
        table.surprises(Worth::Damaging, is_ruled)
    );
    assert!(
        promoted * 100 >= faithful * FAITHFUL_PERCENT,
        "{promoted} of {faithful} faithful edits were promoted:\n{}",
        table.surprises(Worth::Faithful, is_ruled)
    );
}

/// Placeholders that were promoted, and how often.
fn unknown_wordings(played: &[Played]) -> BTreeMap<&str, usize> {
    let mut wordings = BTreeMap::new();
    let outcomes = played.iter().flatten().flatten();
    for outcome in outcomes.filter(|outcome| outcome.kind.starts_with("lazy")) {
        if outcome.verdict == Verdict::Promoted {
            *wordings.entry(outcome.variant.as_str()).or_default() += 1;
        }
    }
    wordings
}

type Played = Result<Vec<Outcome>, String>;

/// Plays every case; the results are in the order of the cases.
fn play_all(cases: &[Case]) -> Vec<Played> {
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<usize, Played>> = Mutex::default();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else { return };
                    let played = play(case);
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    results.insert(index, played);
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(results.len(), cases.len(), "every case was played");
    results.into_values().collect()
}

fn play(case: &Case) -> Played {
    let start = Start::new(case, trial::disk_of(&case.path, &case.file))?;
    let mut edits = faithful::edits(case);
    edits.extend(damaging::edits(case));
    let mut outcomes = Vec::new();
    for (at, edit) in edits.iter().enumerate() {
        for format in FORMATS {
            let chosen = case.dice(edit.kind).below(WHOLE_TEXTS) == 0;
            if format == Format::WholeText && !chosen {
                continue;
            }
            let replay = if at == 0 { Replay::Check } else { Replay::Skip };
            if let Some(verdict) = start.play(edit, format, replay) {
                outcomes.push(Outcome {
                    worth: edit.worth,
                    format: format.name(),
                    kind: start.circumstance(edit, format).unwrap_or(edit.kind),
                    variant: variant(edit),
                    verdict,
                });
            }
        }
    }
    Ok(outcomes)
}

fn variant(edit: &Edit) -> String {
    match edit.variant.as_str() {
        "" => edit.kind.to_owned(),
        variant => variant.to_owned(),
    }
}

/// How many functions of each class, and of which sizes.
fn composition(cases: &[Case]) -> String {
    let mut classes: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for case in cases {
        let lines = classes
            .entry((case.group, case.function.class_of()))
            .or_default();
        lines.push(case.function.lines);
    }
    let mut text = String::from(
        "| source | class | functions | lines, least | median | most |\n|---|---|--:|--:|--:|--:|\n",
    );
    for ((group, class), mut lines) in classes {
        lines.sort_unstable();
        text.push_str(&format!(
            "| {group} | {class} | {} | {} | {} | {} |\n",
            lines.len(),
            lines[0],
            lines[lines.len() / 2],
            lines[lines.len() - 1]
        ));
    }
    let whole = cases
        .iter()
        .filter(|case| case.shows_the_whole_file())
        .count();
    text.push_str(&format!(
        "{} functions; {whole} shown with their whole file\n",
        cases.len()
    ));
    text
}
