//! The list of rules in `docs/rules.md` is made of the headers of stories and tests; `INSTA_UPDATE=always` writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use tslp_core::reason::Reason;
use tslp_snapshots::law::Law;

use crate::stories::files;
use crate::stories::headers::{Story, root, stories, tests};

/// Every rule of the specification, in its order: each is shown by a header with these very words.
const RULES: &[(&str, &str)] = &[
    (
        "1",
        "No access to the inside of an editor: only what crosses the proxy",
    ),
    ("1", "No write to the file system"),
    ("1", "No access to Git metadata"),
    ("1", "What tools print grants no authority"),
    ("2", "The model is stateless: what it needs is put there"),
    ("2", "The proxy is authoritative"),
    ("2", "State advances by structural proof alone"),
    ("2", "It materialises reality or refuses to act"),
    ("3", "One SQLite database"),
    ("3.1", "Deduplicated by hash"),
    ("3.1", "Never modified"),
    ("3.1", "Never deleted automatically"),
    ("3.2", "Append-only"),
    (
        "3.2",
        "Holds times, prompts, replies, audits and transitions",
    ),
    ("3.2", "Never injected into prompts"),
    ("3.3", "Exactly one authoritative artifact of an entity"),
    ("3.3", "Rebuilt from Vault and ledger"),
    ("3.3", "Nothing outside of it is real"),
    ("4", "CONFIRMED may update the State Map"),
    ("4", "INFERRED is PROPOSED only"),
    ("4", "UNRESOLVED is logged only"),
    ("4.1", "The syntax tree first"),
    (
        "4.1",
        "Then the patterns of `symbols.json`: unique and exact, or in part",
    ),
    ("4.1", "Then overlap with one known entity"),
    ("4.1", "Else UNRESOLVED"),
    ("4.1", "No embeddings and no fuzzy search"),
    ("5", "Four arrows and no others"),
    ("5", "PROPOSED is the default"),
    ("5", "TOMBSTONED is what an authoritative update took out"),
    ("6", "Gate A: resolution is CONFIRMED"),
    ("6", "Gate A: the full definition is there"),
    ("6", "Gate A: structural parity"),
    ("6", "Gate B: the same or an expanded symbol set"),
    ("6", "Gate B: an audit says completed"),
    (
        "6",
        "Gate B: hydrated in the turn before, and the user goes on without replacement content",
    ),
    ("6", "Gate B: the user's code is true at once"),
    ("7", "No loss of top-level symbols"),
    ("7", "The node count may not collapse"),
    ("7", "A collapse of the token count means PROPOSED"),
    (
        "8.1",
        "Names that stand in the State Map are looked for in every prompt",
    ),
    ("8.1", "Their full content is injected"),
    ("8.2", "The template, to the letter"),
    ("8.3", "The notice after what was INFERRED or UNRESOLVED"),
    ("8.4", "The last four pairs"),
    ("8.4", "4 KB of a message, cut hard"),
    ("8.4", "System, code, recent context, prompt"),
    ("8.4", "Strict delimiters"),
    ("8.4", "It never affects the State Map"),
    ("8.5", "Tool calls and results are on record"),
    (
        "8.5",
        "A closed tool block is executed, its result injected, and the model goes on",
    ),
    ("8.5", "They never advance state"),
    ("9.1", "The user's code is resolved and true at once"),
    ("9.1", "What the model made before is superseded"),
    ("9.1", "The user always wins"),
    ("9.2", "An omitted symbol is TOMBSTONED"),
    ("9.2", "Removed from hydration"),
    ("9.2", "Kept for N episodes, 10 by default"),
    (
        "10",
        "The user's stream comes at once, the audit after it, in one turn",
    ),
    (
        "10",
        "The answer is an entity and completed, partial or discussion",
    ),
    ("10", "Its result is on record; a late one only takes away"),
    ("10", "It never blocks the user"),
    ("11", "Likeness is asked of known entities alone"),
    ("11", "It introduces none"),
    ("11", "It advances nothing by itself"),
    ("12", "Resolution fails: nothing changes"),
    ("12", "A base that isn't acknowledged: PROPOSED"),
    (
        "12",
        "A rename without confirmation: the old name stays, and it is said",
    ),
    ("13", "SQLite with a WAL, and syntax trees"),
    ("13", "The first chunk isn't held up"),
    ("13", "Memory is bounded"),
    ("14.1", "Never visible to the model"),
    ("14.2", "Read-only: no state, no artifact, no event"),
    ("14.2", "No call of the model"),
    ("14.2", "Deterministic"),
    ("14.3", "`/health`: the process lives"),
    (
        "14.3",
        "`/doctor`: integrity, WAL, migrations, disk space, grammars, model; it fixes nothing",
    ),
    (
        "14.3",
        "`/recent`: the last N episodes, their entities and states; metadata",
    ),
    (
        "14.3",
        "`/state`: the whole State Map, no history and nothing inferred",
    ),
    (
        "14.3",
        "`/debug/last-prompt`: exactly what the model saw, with debug alone",
    ),
    ("14.4", "Six endpoints that must not exist"),
    ("14.5", "No endpoint changes what the model sees"),
    ("15.1", "Never unaware of divergence"),
    (
        "15.2",
        "The user's paste, the disk, the State Map, the model: in this order",
    ),
    (
        "15.2",
        "Disk verifies and never changes the state by itself",
    ),
    (
        "15.3",
        "Files may be read, hashed and parsed; nothing is written, applied or synced",
    ),
    (
        "15.4",
        "STALE where the file exists and differs; derived, not stored",
    ),
    ("15.4", "Not hydrated"),
    ("15.4", "No base of a promotion"),
    ("15.4", "A STATE NOTICE"),
    ("15.4", "Blocks the model's promotions"),
    ("15.5", "Before each promotion: resolution, parity, disk"),
    ("15.5", "The user alone ends STALE"),
    ("15.6", "What refers to a STALE base is invalid"),
    (
        "15.6",
        "The model never sees stale code, in older messages neither",
    ),
    ("15.7", "`/state`: artifact, last_updated, stale"),
    (
        "15.7",
        "`/doctor`: how many are STALE, and what can't be read",
    ),
    (
        "15.8",
        "A contradiction stops the proxy until the user says what holds",
    ),
    (
        "15.8",
        "No guessing and no silent repair: nothing is written over a record that nobody verified",
    ),
];

/// A rule with all that shows it.
#[derive(Default)]
struct Row {
    reasons: BTreeSet<String>,
    stories: BTreeSet<String>,
    tests: BTreeSet<String>,
}

/// The rules by section and sentence.
fn rows() -> BTreeMap<(String, String), Row> {
    let mut rows: BTreeMap<(String, String), Row> = BTreeMap::new();
    let mut add = |law: &Law, story: Option<&str>, test: Option<String>| {
        let key = (law.section.clone(), law.rule.clone());
        let row = rows.entry(key).or_default();
        row.reasons.extend(law.reasons.iter().cloned());
        row.stories.extend(story.map(String::from));
        row.tests.extend(test);
    };
    for Story { name, laws, .. } in &stories() {
        laws.iter().for_each(|law| add(law, Some(name), None));
    }
    for test in &tests() {
        let place = format!("{}::{}", test.file, test.name);
        test.laws
            .iter()
            .for_each(|law| add(law, None, Some(place.clone())));
    }
    rows
}

/// Where a rule's section is: those of the specification in their order, then those of the engine.
fn place(section: &str) -> (bool, Vec<u32>, &str) {
    let number = section.strip_prefix("engine ");
    let digits = number.unwrap_or(section);
    let end = digits.find([' ', ',']).unwrap_or(digits.len());
    let parts = digits[..end].split('.');
    let parts = parts.map(|part| part.parse().unwrap_or_else(|_| panic!("section {section}")));
    (number.is_some(), parts.collect(), &digits[end..])
}

/// A rule with its reasons and one proof; how many more there are.
fn line(rule: &str, row: &Row) -> String {
    let reasons: Vec<String> = row.reasons.iter().map(|code| format!("`{code}`")).collect();
    let reasons = if reasons.is_empty() {
        String::new()
    } else {
        format!(" ({})", reasons.join(", "))
    };
    let mut proofs = row.stories.iter().chain(&row.tests);
    let proof = proofs.next().expect("a header shows the rule");
    let others = match proofs.count() {
        0 => String::new(),
        count => format!(" +{count}"),
    };
    format!("* {rule}{reasons}: `{proof}`{others}\n")
}

/// All rules, each section under a line of its own.
fn list() -> String {
    let rows = rows();
    let mut sorted: Vec<_> = rows.iter().collect();
    sorted.sort_by_key(|((section, rule), _)| (place(section), rule));
    let (mut list, mut last) = (String::new(), "");
    for ((section, rule), row) in sorted {
        if section != last {
            let _ = write!(list, "\n**{section}**\n\n");
            last = section;
        }
        list += &line(rule, row);
    }
    list
}

#[test]
fn each_specified_rule_is_shown() {
    let rows = rows();
    for (section, rule) in RULES {
        let key = (String::from(*section), String::from(*rule));
        assert!(rows.contains_key(&key), "nothing shows {section} | {rule}");
    }
}

#[test]
fn the_page_is_up_to_date() {
    let path = root().join("docs/rules.md");
    let page = fs::read_to_string(&path).expect("docs/rules.md is there");
    let (open, close) = ("<!-- rules -->\n", "\n<!-- end of rules -->");
    let (before, rest) = page.split_once(open).expect("the list begins");
    let (_, after) = rest.split_once(close).expect("the list ends");
    let made = format!("{before}{open}{}{close}{after}", list());
    if std::env::var("INSTA_UPDATE").is_ok_and(|it| it == "always") {
        fs::write(&path, made).expect("the page can be written");
        return;
    }
    let mut difference = String::new();
    let lines = |text: &str| text.lines().map(String::from).collect::<BTreeSet<_>>();
    let (is, shall) = (lines(&page), lines(&made));
    for (mark, changed) in [('-', is.difference(&shall)), ('+', shall.difference(&is))] {
        changed.for_each(|line| _ = writeln!(difference, "{mark} {line}"));
    }
    assert!(
        page == made,
        "docs/rules.md isn't up to date, INSTA_UPDATE=always writes it:\n{difference}"
    );
}

#[test]
fn all_reasons_listed() {
    let named: BTreeSet<String> = rows().into_values().flat_map(|row| row.reasons).collect();
    let known: BTreeSet<String> = Reason::ALL
        .iter()
        .map(|reason| String::from(reason.code()))
        .collect();
    let missing: Vec<_> = known.difference(&named).collect();
    let unknown: Vec<_> = named.difference(&known).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "without a row: {missing:?}; no reasons: {unknown:?}"
    );
}

#[test]
fn a_story_shows_the_reasons_of_its_header() {
    let mut flaws = Vec::new();
    for Story { name, laws, golden } in stories() {
        let words = golden.split(|c: char| !c.is_ascii_lowercase() && c != '_');
        let words: BTreeSet<&str> = words.collect();
        let reasons = laws.iter().flat_map(|law| &law.reasons);
        let absent = reasons.filter(|reason| !words.contains(reason.as_str()));
        flaws.extend(absent.map(|reason| format!("{name} doesn't show {reason}")));
    }
    assert!(flaws.is_empty(), "{}", flaws.join("\n"));
}

/// Names like `gates/collapse` in any page.
#[test]
fn pages_name_stories_that_exist() {
    let known: BTreeSet<String> = stories().into_iter().map(|story| story.name).collect();
    let topics: BTreeSet<&str> = known
        .iter()
        .filter_map(|name| Some(name.split_once('/')?.0))
        .collect();
    for page in files(&root().join("docs")) {
        let text = fs::read_to_string(&page).unwrap_or_default();
        for line in text.lines() {
            for name in line.split('`').skip(1).step_by(2) {
                let topic = name.split_once('/').map(|(topic, _)| topic);
                let is_story = topic.is_some_and(|topic| topics.contains(topic));
                assert!(
                    !is_story || known.contains(name),
                    "{}: no story {name}",
                    page.display()
                );
            }
        }
    }
}
