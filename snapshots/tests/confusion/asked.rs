//! Definitions that go: deliberately, one that nothing names any more; never one that is still used or was only left out.

use tslp_core::entity::EntityId;
use tslp_core::extract::Grammars as _;
use tslp_core::measure;
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_grammars::TreeSitterGrammars;
use tslp_snapshots::script::{Ending, Step};
use tslp_snapshots::stage::Stage;

use crate::case::{self, Case};
use crate::sources;
use crate::trial;

/// Removals of each kind.
const TRIALS: usize = 60;

/// How a reply takes a function away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Removal {
    /// An edit quotes it whole.
    Quoted,
    /// An edit quotes it whole and puts it back under another name.
    Renamed,
    /// The whole file is listed without it.
    Listed,
    /// The whole file is listed without it, and with another line.
    ListedChanged,
}

fn cases() -> Vec<Case> {
    let (groups, _) = sources::collect();
    let mut of_groups: Vec<Vec<Case>> = groups.iter().map(case::cases).collect();
    let mut cases = Vec::new();
    // One of each group in turn.
    while of_groups.iter().any(|group| !group.is_empty()) {
        cases.extend(of_groups.iter_mut().filter_map(Vec::pop));
    }
    cases.retain(|case| case.shows_the_whole_file() && case.function.class.is_none());
    cases
}

fn text_of(case: &Case) -> &str {
    &case.file[case.function.start..case.function.end(&case.file)]
}

/// Whether the code of a text has a name, comments apart.
pub(crate) fn is_named(path: &str, text: &str, name: &str) -> bool {
    let grammars = TreeSitterGrammars;
    let path = RelPath::from_normalised(path);
    let language = grammars.language_of_path(&path).expect("it was parsed");
    let read = grammars.extract(language, text.as_bytes());
    let remarks = read.map(|read| read.remarks).unwrap_or_default();
    let code = measure::blanked(text, remarks.iter());
    let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| word == name)
}

fn is_unused(case: &Case) -> bool {
    let rest = case.file.replacen(text_of(case), "", 1);
    !is_named(&case.path, &rest, case.function.last_name())
}

/// Whether the function is gone after the reply; `None` if the case doesn't fit.
fn goes(case: &Case, prompt: &str, removal: Removal) -> Option<bool> {
    let name = case.function.last_name();
    let text = text_of(case);
    let mut stage = Stage::new(Policy::default());
    stage.set_disk(trial::disk_of(&case.path, &case.file));
    stage.step(Step::User(format!("@tslp accept {}\n", case.path)));
    let path = RelPath::from_normalised(&case.path);
    let symbols = stage.view().state.state_map().symbols_of(&path);
    let mut own = symbols.into_iter().filter(|it| it.last_component() == name);
    let (symbol, None) = (own.next()?, own.next()) else {
        return None;
    };
    if case.file.matches(text).count() != 1 {
        return None;
    }
    let model = |text: String| Step::Model {
        text,
        ending: Ending::Whole,
    };
    stage.step(model("I see.\n".into()));
    let said = prompt.replace("NAME", name).replace("PATH", &case.path);
    stage.step(Step::User(format!("{said}\n")));
    let renamed = text.replace(name, &format!("{name}_renamed"));
    let rest = case.file.replacen(text, "", 1);
    let line_end = if text.ends_with('\n') { "" } else { "\n" };
    let edit = |by: &str| {
        let by = if by.is_empty() {
            String::new()
        } else {
            format!("{by}{line_end}")
        };
        format!("<<<<<<< SEARCH\n{text}{line_end}=======\n{by}>>>>>>> REPLACE\n")
    };
    let added = match case.style().map(|style| style.language) {
        Some("Python") => "added = 1\n",
        Some("Rust") => "const ADDED: u8 = 1;\n",
        Some("Go") => "var added = 1\n",
        Some("Java") => "class Added { }\n",
        Some(_) => "const added = 1;\n",
        None => "static int added = 1;\n",
    };
    let code = match removal {
        Removal::Quoted => edit(""),
        Removal::Renamed => edit(&renamed),
        Removal::Listed => rest,
        Removal::ListedChanged => format!("{rest}\n{added}"),
    };
    stage.step(model(format!("{}\n````\n{code}\n````\n", case.path)));
    stage.check_replay();
    let entity = EntityId::symbol(path, symbol);
    Some(stage.view().current_version(&entity).is_none())
}

/// law 7 | A definition goes that an edit quotes whole, or whose deletion is all that a listing does and that the user's text names, if nothing known names it afterwards | symbols_lost
/// law 12 | A definition gets another name if the user's text names it | rename_suspected
#[test]
fn removals() {
    let cases = cases();
    let count = |prompt: &str, removal: Removal, is_fit: &dyn Fn(&Case) -> bool| {
        let fitting = cases.iter().filter(|case| is_fit(case));
        let played = fitting.filter_map(|case| {
            let is_gone = goes(case, prompt, removal)?;
            Some((is_gone, format!("{} {}", case.path, case.function.name)))
        });
        let played: Vec<(bool, String)> = played.take(TRIALS).collect();
        let gone = played.iter().filter(|(is_gone, _)| *is_gone).count();
        let of = |wanted: bool| {
            let such = played.iter().filter(|(is_gone, _)| *is_gone == wanted);
            such.map(|(_, name)| name.as_str())
                .collect::<Vec<_>>()
                .join("\n")
        };
        println!("{gone} of {} gone: {prompt}", played.len());
        (gone, played.len(), of(true), of(false))
    };
    let is_used = |case: &Case| !is_unused(case);
    for (prompt, removal) in [
        ("Delete `NAME` from PATH.", Removal::Quoted),
        ("Clean up PATH.", Removal::Quoted),
        ("`NAME` in PATH は使われていません。", Removal::Listed),
    ] {
        let (gone, all, _, kept) = count(prompt, removal, &is_unused);
        assert!(
            all >= TRIALS / 2 && gone * 20 >= all * 19,
            "{gone} of {all}: {prompt}\n{kept}"
        );
    }
    let (gone, all, _, kept) = count("Call `NAME` in PATH otherwise.", Removal::Renamed, &|_| {
        true
    });
    assert!(gone * 20 >= all * 19, "{gone} of {all} renamed\n{kept}");
    for (prompt, removal) in [
        ("Please work on PATH.", Removal::ListedChanged),
        ("Delete `NAME` from PATH.", Removal::ListedChanged),
        ("Please work on PATH.", Removal::Listed),
    ] {
        let (gone, _, which, _) = count(prompt, removal, &is_unused);
        assert_eq!(gone, 0, "{prompt}\n{which}");
    }
    for (prompt, removal) in [
        ("Delete `NAME` from PATH.", Removal::Quoted),
        ("Improve `NAME` in PATH.", Removal::Quoted),
        ("Don't delete `NAME` in PATH, explain it.", Removal::Listed),
    ] {
        let (gone, _, which, _) = count(prompt, removal, &is_used);
        assert_eq!(gone, 0, "{prompt}\n{which}");
    }
}
