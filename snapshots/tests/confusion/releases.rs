//! What maintainers changed from one release of a package to the next, and the same functions damaged: both sides of what
//! the gates decide, in every language that a grammar reads. By hand; see docs/rules.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tslp_core::artifact::Transition;
use tslp_core::event::Event;
use tslp_core::extract::{Body, Definition};
use tslp_core::measure::{Effect, MeasuredCode, PartCounts, measure};
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::slice::{Span, within_joined};
use tslp_snapshots::disk::{Disk, DiskEntry, extraction_of};
use tslp_snapshots::script::{Ending, Step};
use tslp_snapshots::stage::Stage;

use crate::damaging;
use crate::dice::Dice;
use crate::margin::{self, is_remark, lines, style};
use crate::structural;
use crate::trial::refusal;

/// Names a folder that `snapshots/releases/fetch.py` has filled.
const FOLDER: &str = "TSLP_RELEASES";

/// Changed functions taken of one package.
const PER_PACKAGE: usize = 200;

/// Longest file that is taken.
const FILE_BYTES_MAX: usize = 64 << 10;

/// Lines of a function that is taken.
const LINES: std::ops::RangeInclusive<usize> = 4..=300;

/// A function in two releases.
struct ReleasedChange {
    package: String,
    path: String,
    symbol: String,
    top_level: bool,
    old_file: String,
    new_file: String,
    old: String,
    new: String,
    /// Where the head ends in `old`.
    old_head: usize,
}

impl ReleasedChange {
    fn dice(&self, about: &str) -> Dice {
        Dice::about(&[&self.package, &self.path, &self.symbol, about])
    }

    fn language(&self) -> &'static str {
        match (style(&self.path), self.path.rsplit('.').next()) {
            (Some(style), _) => style.language,
            (None, Some("c" | "h")) => "C",
            (None, Some("cc" | "cpp")) => "C++",
            _ => "other",
        }
    }
}

/// How a reply shows a changed function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ReplyForm {
    Function,
    /// A method out of its class, or of a type that it names itself, in a fence that names nothing.
    BareMethod,
    Edit,
    File,
}

/// Prints both tables, where sources are named.
#[test]
fn releases() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let changes = changes_under(Path::new(&folder));
    println!("{} changed functions", changes.len());
    let mut table: BTreeMap<(&str, String), BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for change in &changes {
        let starts = [start(change), start_with_file(change)];
        let start = |shown: ReplyForm| &starts[usize::from(shown == ReplyForm::File)];
        let mut count = |kind: &str, shown: ReplyForm, outcome: String| {
            let name = format!("{} {} {}", change.package, change.path, change.symbol);
            let row = table
                .entry((change.language(), format!("{kind}, {shown:?}")))
                .or_default();
            row.entry(outcome).or_default().push(name);
        };
        let mut as_edit = String::new();
        for shown in [
            ReplyForm::Edit,
            ReplyForm::Function,
            ReplyForm::BareMethod,
            ReplyForm::File,
        ] {
            if let Some(reply) = reply(change, shown, &change.new, &change.new_file) {
                let mut outcome = outcome(start(shown), reply);
                if shown == ReplyForm::Edit {
                    as_edit.clone_from(&outcome);
                } else if shown == ReplyForm::BareMethod
                    && outcome == as_edit
                    && outcome != "promoted"
                {
                    // What the same edit is refused for is no fault of the form.
                    outcome.push_str(" as the edit");
                }
                count("faithful", shown, outcome);
            }
        }
        if let Some(extracted) = helper_extracted(change) {
            let file = change.old_file.replacen(&change.old, &extracted, 1);
            for shown in [ReplyForm::Function, ReplyForm::Edit] {
                if let Some(reply) = reply(change, shown, &extracted, &file) {
                    count("faithful helper", shown, outcome(start(shown), reply));
                }
            }
        }
        for (kind, damaged) in damaged(change) {
            let file = change.old_file.replacen(&change.old, &damaged, 1);
            let shown = [ReplyForm::Function, ReplyForm::Edit, ReplyForm::File];
            let shown = change
                .dice(kind)
                .of(&shown)
                .copied()
                .unwrap_or(ReplyForm::Edit);
            if let Some(reply) = reply(change, shown, &damaged, &file) {
                count(kind, shown, outcome(start(shown), reply));
            }
        }
    }
    print(&table);
}

/// Prints of each kind of change what the measure alone lets pass, where sources are named.
#[test]
fn measure_alone() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let mut table: BTreeMap<&str, BTreeMap<Effect, usize>> = BTreeMap::new();
    for change in &changes_under(Path::new(&folder)) {
        let path = RelPath::from_normalised(&change.path);
        let base = read(&path, &change.old_file, &change.symbol);
        let all = [("faithful", change.new.clone())].into_iter();
        for (kind, new) in all.chain(damaged(change)) {
            let file = change.old_file.replacen(&change.old, &new, 1);
            let new = read(&path, &file, &change.symbol);
            if let Some((base, new)) = base.as_ref().zip(new) {
                let measure = measure(base.code(), new.code(), PartCounts::default());
                *table
                    .entry(kind)
                    .or_default()
                    .entry(measure.effect)
                    .or_default() += 1;
            }
        }
    }
    for (kind, effects) in &table {
        let all: usize = effects.values().sum();
        let whole = effects.get(&Effect::Whole).copied().unwrap_or_default();
        let share = whole as f64 * 100.0 / all as f64;
        println!("| {kind} | {all} | {share:.1} % | {effects:?} |");
    }
}

/// A definition of a file.
struct ReadDefinition {
    text: String,
    remarks: Vec<Span>,
    parts: PartCounts,
}

impl ReadDefinition {
    fn code(&self) -> MeasuredCode<'_> {
        MeasuredCode {
            text: &self.text,
            remarks: &self.remarks,
            nested: &[],
            parts: self.parts,
        }
    }
}

fn read(path: &RelPath, file: &str, symbol: &str) -> Option<ReadDefinition> {
    let extraction = extraction_of(path, file.as_bytes())?;
    let mut definitions = extraction.definitions.iter();
    let own = definitions.find(|it| it.symbol.as_str() == symbol)?;
    Some(ReadDefinition {
        text: String::from_utf8_lossy(own.span.of(file.as_bytes())).into_owned(),
        remarks: within_joined(&extraction.remarks, &[own.span]),
        parts: own.parts,
    })
}

fn print(table: &BTreeMap<(&str, String), BTreeMap<String, Vec<String>>>) {
    let mut totals: BTreeMap<(String, &str), (usize, usize)> = BTreeMap::new();
    for ((language, kind), outcomes) in table {
        let trials: usize = outcomes.values().map(Vec::len).sum();
        let promoted = outcomes.get("promoted").map_or(0, Vec::len);
        let mut refused: Vec<(&str, usize)> = outcomes
            .iter()
            .filter(|(outcome, _)| *outcome != "promoted")
            .map(|(outcome, names)| (outcome.as_str(), names.len()))
            .collect();
        refused.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let refused: Vec<String> = refused
            .into_iter()
            .map(|(outcome, count)| format!("{outcome} {count}"))
            .collect();
        println!(
            "| {language} | {kind} | {trials} | {promoted} | {:.1} % | {} |",
            promoted as f64 * 100.0 / trials as f64,
            refused.join(", ")
        );
        let class = kind.split(',').next().unwrap_or_default();
        for language in [*language, "all"] {
            let total = totals.entry((class.to_owned(), language)).or_default();
            *total = (total.0 + trials, total.1 + promoted);
        }
    }
    for ((kind, language), (trials, promoted)) in totals {
        println!(
            "TOTAL {kind}, {language}: {promoted} of {trials} promoted, {:.2} %",
            promoted as f64 * 100.0 / trials as f64
        );
    }
    for ((language, kind), outcomes) in table {
        for (outcome, names) in outcomes {
            let is_surprise = (outcome == "promoted") != kind.starts_with("faithful");
            if is_surprise {
                println!("{language} {kind} {outcome}: {}", names.len());
                names
                    .iter()
                    .take(12)
                    .for_each(|name| println!("    {name}"));
            }
        }
    }
}

fn changes_under(folder: &Path) -> Vec<ReleasedChange> {
    let mut changes = Vec::new();
    let mut packages: Vec<PathBuf> = entries(folder);
    packages.sort();
    for package in packages {
        let name = package.file_name().unwrap_or_default().to_string_lossy();
        let mut found = Vec::new();
        let mut releases = entries(&package);
        releases.sort();
        let pairs = releases.windows(2).flat_map(|pair| {
            let mut files = Vec::new();
            files_under(&pair[0], &mut files);
            files.sort();
            files.into_iter().map(|file| (file, &pair[0], &pair[1]))
        });
        for (file, old, new) in pairs {
            let below = file.strip_prefix(old).unwrap_or(&file);
            let new = fs::read_to_string(new.join(below));
            let (Ok(old), Ok(new)) = (fs::read_to_string(&file), new) else {
                continue;
            };
            if old != new && old.len().max(new.len()) <= FILE_BYTES_MAX && !new.contains("```") {
                found.extend(changes_of(&name, &below.to_string_lossy(), &old, &new));
            }
        }
        Dice::about(&[&name]).shuffle(&mut found);
        found.truncate(PER_PACKAGE);
        changes.extend(found);
    }
    changes
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn files_under(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        let skipped = ["node_modules", "dist", "build", "vendor", "min.js"];
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if skipped.iter().any(|skipped| name.ends_with(skipped)) {
            continue;
        }
        // A link may lead back to where it is.
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            files_under(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// Functions that are in both texts once and differ.
fn changes_of(package: &str, path: &str, old: &str, new: &str) -> Vec<ReleasedChange> {
    let at = RelPath::from_normalised(path);
    let (Some(before), Some(after)) = (
        extraction_of(&at, old.as_bytes()),
        extraction_of(&at, new.as_bytes()),
    ) else {
        return Vec::new();
    };
    fn singles(all: &[Definition]) -> BTreeMap<&str, &Definition> {
        let mut singles: BTreeMap<&str, &Definition> = BTreeMap::new();
        let mut several = BTreeSet::new();
        for definition in all {
            let name = definition.symbol.as_str();
            if singles.insert(name, definition).is_some() {
                several.insert(name);
            }
        }
        singles.retain(|name, _| !several.contains(name));
        singles
    }
    let (olds, news) = (singles(&before.definitions), singles(&after.definitions));
    let holds_another = |outer: &Definition| {
        let mut all = before.definitions.iter();
        all.any(|it| {
            it.span != outer.span
                && outer.span.start <= it.span.start
                && it.span.end <= outer.span.end
        })
    };
    let mut changes = Vec::new();
    for (name, one) in olds {
        let Some(other) = news.get(name) else {
            continue;
        };
        let (Ok(old_text), Ok(new_text)) = (
            std::str::from_utf8(one.span.of(old.as_bytes())),
            std::str::from_utf8(other.span.of(new.as_bytes())),
        ) else {
            continue;
        };
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        let is_function = one.body == Body::Code && other.body == Body::Code && !holds_another(one);
        if is_function
            && !one.damaged
            && !other.damaged
            && LINES.contains(&old_text.lines().count())
            && squeezed(old_text) != squeezed(new_text)
            && old.matches(old_text).count() == 1
        {
            changes.push(ReleasedChange {
                package: package.into(),
                path: path.into(),
                symbol: name.into(),
                top_level: one.top_level,
                old_file: old.into(),
                new_file: new.into(),
                old: old_text.into(),
                new: new_text.into(),
                old_head: (one.head.end - one.span.start) as usize,
            });
        }
    }
    changes
}

/// How many words of code there are.
fn words(text: &str) -> usize {
    let lines = text.lines().filter(|line| !is_remark(line));
    let words = lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.filter(|word| !word.is_empty()).count()
}

/// The file is true, and the prompt that asks for the change has gone out with the function.
fn start(change: &ReleasedChange) -> Stage {
    let mut stage = stage(change);
    stage.step(Step::User(format!("@tslp accept {}\n", change.path)));
    stage.step(model("I see.\n".into()));
    stage.step(Step::User(format!(
        "Please work on `{}` in {} for me.\n",
        change.symbol, change.path
    )));
    stage
}

/// The file is true, and the prompt that asks for the change has gone out with all of it: what a model hasn't seen it can't
/// replace.
fn start_with_file(change: &ReleasedChange) -> Stage {
    let mut stage = stage(change);
    let ReleasedChange {
        path,
        symbol,
        old_file,
        ..
    } = change;
    stage.step(Step::User(format!(
        "{path}\n````\n{old_file}{}````\nPlease work on `{symbol}` in it for me.\n",
        line_end(old_file)
    )));
    stage
}

fn stage(change: &ReleasedChange) -> Stage {
    let mut disk = Disk::default();
    let path = RelPath::from_normalised(&change.path);
    disk.put(path, DiskEntry::File(change.old_file.clone()));
    let mut stage = Stage::new(Policy::default());
    stage.set_disk(disk);
    stage
}

/// What a text lacks to end with a line's end.
fn line_end(text: &str) -> &'static str {
    if text.ends_with('\n') { "" } else { "\n" }
}

fn model(text: String) -> Step {
    Step::Model {
        text,
        ending: Ending::Whole,
    }
}

fn reply(change: &ReleasedChange, shown: ReplyForm, function: &str, file: &str) -> Option<String> {
    let ReleasedChange { path, old, .. } = change;
    Some(match shown {
        // What belongs to something else can't be shown without it.
        ReplyForm::Function if !change.top_level || change.symbol.contains(['.', ':']) => {
            return None;
        }
        ReplyForm::BareMethod if change.top_level && !change.symbol.contains(['.', ':']) => {
            return None;
        }
        ReplyForm::BareMethod => format!("```\n{function}{}```\n", line_end(function)),
        ReplyForm::Function => format!("{path}\n```\n{function}{}```\n", line_end(function)),
        ReplyForm::Edit => {
            // Whole lines, as such an edit has them.
            let at = change.old_file.find(old.as_str())?;
            let begin = change.old_file[..at].rfind('\n').map_or(0, |line| line + 1);
            let end = at + old.len();
            let end = change.old_file[end..]
                .find('\n')
                .map_or(change.old_file.len(), |line| end + line + 1);
            let lines = &change.old_file[begin..end];
            let new = lines.replacen(old.as_str(), function, 1);
            format!(
                "{path}\n```\n<<<<<<< SEARCH\n{lines}{}=======\n{new}{}>>>>>>> REPLACE\n```\n",
                line_end(lines),
                line_end(&new)
            )
        }
        ReplyForm::File => format!("{path}\n```\n{file}{}```\n", line_end(file)),
    })
}

/// What becomes of a reply, played on a fork.
fn outcome(start: &Stage, reply: String) -> String {
    let mut stage = start.fork();
    let before = stage.ledger().len();
    stage.step(model(reply));
    let events = &stage.ledger()[before..];
    let is_promoted = events.iter().any(|recorded| {
        matches!(&recorded.event, Event::Transitioned(moved) if moved.transition == Transition::Promote)
    });
    if is_promoted {
        "promoted".into()
    } else {
        refusal(events)
    }
}

/// The old function damaged in several ways, each with its kind.
fn damaged(change: &ReleasedChange) -> Vec<(&'static str, String)> {
    let pieces = statements(change);
    let mut damaged = Vec::new();
    let text = &change.old;
    // Lines of a long string look like statements, and are none.
    let has_long_string = ["\"\"\"", "'''", "r#", "`"]
        .iter()
        .any(|mark| text.contains(mark));
    if pieces.len() < 3 || has_long_string {
        return damaged;
    }
    let mut dice = change.dice("damage");
    let indent: String = text[pieces[0].clone()]
        .chars()
        .take_while(|c| *c == ' ' || *c == '\t')
        .collect();
    let style = style(&change.path);
    let marker = style.map_or("//", |style| style.comment);
    let wordings: Vec<&str> = damaging::WORDINGS.lines().collect();
    let replace = |place: Range<usize>, new: &str| {
        let mut whole = text.clone();
        whole.replace_range(place, new);
        whole
    };
    let count = 1 + dice.below(pieces.len() / 2);
    let first = dice.below(pieces.len() - count + 1);
    let place = pieces[first].start..pieces[first + count - 1].end;
    if words(&text[place.clone()]) > 0 {
        let wording = dice.of(&wordings).copied().unwrap_or_default();
        let remark = format!("{indent}{marker} {wording}\n");
        damaged.push(("placeholder", replace(place, &remark)));
    }
    let first = 1 + dice.below(pieces.len() - 2);
    let place = pieces[first].start..pieces[pieces.len() - 1].end;
    let stub = match style {
        Some(style) => style.stub,
        None if change.language() == "C++" => "throw std::logic_error(\"not implemented\");",
        None => "abort();",
    };
    if words(&text[place.clone()]) > 6 {
        damaged.push(("stub", replace(place, &format!("{indent}{stub}\n"))));
    }
    let whole = words(text);
    let runs = (0..pieces.len())
        .flat_map(|first| (first + 2..=pieces.len()).map(move |past| (first, past)));
    let fitting: Vec<Range<usize>> = runs
        .map(|(first, past)| pieces[first].start..pieces[past - 1].end)
        .filter(|place| (25..=50).contains(&(words(&text[place.clone()]) * 100 / whole)))
        .collect();
    if let Some(place) = dice.of(&fitting) {
        damaged.push(("dropped", replace(place.clone(), "")));
    }
    let structural =
        structural::damaged(text, change.old_head, change.language(), marker, &mut dice);
    damaged.extend(structural);
    damaged
}

/// The old function with all statements but the first and the last one in a helper above it.
fn helper_extracted(change: &ReleasedChange) -> Option<String> {
    let pieces = statements(change);
    let text = &change.old;
    if !change.top_level || change.symbol.contains(['.', ':']) || pieces.len() < 4 {
        return None;
    }
    let (head, close, call) = match (style(&change.path), change.language()) {
        (Some(style), _) => {
            let template = style.helper.replace("NAME", "do_most_of_it");
            let head = template.lines().next()?.to_owned();
            let close = template.trim_end().lines().last()?;
            let close = if close.trim() == "}" { "}\n" } else { "" };
            let mark = if style.language == "Python" { "" } else { ";" };
            (head, close, format!("do_most_of_it(value){mark}"))
        }
        (None, "C" | "C++") => (
            "static void do_most_of_it(int value)\n{".into(),
            "}\n",
            "do_most_of_it(value);".into(),
        ),
        (None, _) => return None,
    };
    let moved = pieces[1].start..pieces[pieces.len() - 2].end;
    let body = &text[moved.clone()];
    let indent: String = body.chars().take_while(|c| c.is_whitespace()).collect();
    let mut rest = text.clone();
    rest.replace_range(moved, &format!("{indent}{call}\n"));
    let both = format!("{head}\n{body}{close}\n\n{rest}");
    // What was cut in the middle of a statement isn't code.
    let path = RelPath::from_normalised(&change.path);
    let read = extraction_of(&path, both.as_bytes())?;
    (read.definitions.len() >= 2 && !read.definitions.iter().any(|it| it.damaged)).then_some(both)
}

/// The statements of a body, whole lines each.
fn statements(change: &ReleasedChange) -> Vec<Range<usize>> {
    let text = &change.old;
    let mut inside = lines(text)
        .filter(|(at, line)| at + line.len() > change.old_head)
        .skip(1);
    // The body's brace may be on a line of its own.
    let first = inside.find(|(_, line)| line.trim() != "{");
    let Some((start, _)) = first else {
        return Vec::new();
    };
    let is_closed = !text
        .trim_end()
        .ends_with(|c: char| c.is_alphanumeric() || c == ')')
        && change.language() != "Python";
    let last = lines(text).last().filter(|_| is_closed);
    let end = last.map_or(text.len(), |(at, _)| at);
    margin::statements(text, start..end)
}
