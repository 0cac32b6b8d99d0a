//! What a prompt asks to remove, and what it doesn't: removal words that mean something else open no gate, and a definition that the
//! user wants gone goes.

use tslp_core::entity::EntityId;
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::word_list;
use tslp_snapshots::script::{Ending, Step};
use tslp_snapshots::stage::Stage;

use crate::case::{self, Case};
use crate::edit::{Edit, Worth};
use crate::format::Format;
use crate::sources;
use crate::structural;
use crate::trial::{self, ReplayCheck, TrialStart, Verdict};

/// Prompts with words of removal that ask for something else; `NAME` is the function.
const EVERYDAY: &str = include_str!("prompts.txt");

/// Functions that each prompt is tried with.
const FUNCTIONS: usize = 4;

fn cases() -> Vec<Case> {
    let (groups, _) = sources::collect();
    let mut of_groups: Vec<Vec<Case>> = groups.iter().map(case::cases).collect();
    let mut cases = Vec::new();
    // One of each group in turn.
    while of_groups.iter().any(|group| !group.is_empty()) {
        cases.extend(of_groups.iter_mut().filter_map(Vec::pop));
    }
    cases
}

/// Every prompt with functions of every group: a gate reads a prompt's words together with a
/// function's own, so a few prompts with one function would miss the pairs that open it.
/// law 7 | Nothing is gone that nobody asked to take out and that is nowhere else in the reply: a check, a loop, a handler, a branch, the end, a decorator, a fifth of the code, a field, an import that is used | code_kept, removed_unasked
#[test]
fn removal_words() {
    let cases = cases();
    let damaged: Vec<(&Case, Vec<(&str, String)>)> = cases
        .iter()
        .map(|case| (case, structural::edits(case)))
        .filter(|(_, edits)| !edits.is_empty())
        .collect();
    let (mut trials, mut promoted) = (0, Vec::new());
    let mut never = 0;
    for (index, prompt) in word_list::entries(EVERYDAY).enumerate() {
        for (case, edits) in damaged
            .iter()
            .skip(index * FUNCTIONS % damaged.len())
            .take(FUNCTIONS)
        {
            let disk = trial::disk_of(&case.path, &case.file);
            let Ok(start) = TrialStart::asking(case, disk, &|name| prompt.replace("NAME", name))
            else {
                continue;
            };
            for (kind, function) in edits {
                let edit = Edit::of_function(case, Worth::Damaging, kind, prompt, function.clone());
                let Some((_, verdict)) = start.play(&edit, Format::Function, ReplayCheck::Skip)
                else {
                    continue;
                };
                trials += 1;
                if verdict == Verdict::Promoted {
                    never += usize::from(structural::NEVER.contains(kind));
                    promoted.push(format!(
                        "{prompt}: {kind}: {} {}",
                        case.path, case.function.name
                    ));
                }
            }
        }
    }
    println!("{} of {trials} damaging edits promoted", promoted.len());
    assert!(trials > 500, "{trials} trials");
    assert!(
        promoted.len() * 100 <= trials && never == 0,
        "{} of {trials}:\n{}",
        promoted.len(),
        promoted.join("\n")
    );
}

/// Prompts that ask for the removal of `NAME`, and the same functions' edits under prompts that ask for none.
const ASKED: [&str; 12] = [
    "Delete the function `NAME` from PATH.",
    "Please remove NAME() from PATH, nobody calls it.",
    "`NAME` in PATH isn't used any more; get rid of it.",
    "Rename `NAME` in PATH to `NEW`.",
    "Rename the function NAME() to NEW() in PATH and keep the rest.",
    "Move `NAME` from PATH to moved/PATH.",
    "Lösche die Funktion `NAME` aus PATH.",
    "Bitte `NAME` in PATH in `NEW` umbenennen.",
    "Supprime la fonction `NAME` de PATH.",
    "Renombra `NAME` a `NEW` en PATH.",
    "Удали `NAME` из PATH.",
    "请删除 `NAME`（PATH）",
];

const UNASKED: [&str; 5] = [
    "Please work on `NAME` in PATH.",
    "Don't delete `NAME` in PATH, make it faster.",
    "Remove the TODO comment from `NAME` in PATH.",
    "Simplify `NAME` in PATH.",
    "Delete `something_else` and look at `NAME` in PATH.",
];

/// The file is known and shown, the prompt names the function, and an edit takes it away or gives it another name.
fn goes(case: &Case, prompt: &str) -> Option<bool> {
    let name = case.function.last_name();
    let new = format!("{name}_renamed");
    let place = case.function.start..case.function.end(&case.file);
    let text = &case.file[place];
    let by = if prompt.contains("NEW") {
        text.replace(name, &new)
    } else {
        String::new()
    };
    let mut stage = Stage::new(Policy::default());
    stage.set_disk(trial::disk_of(&case.path, &case.file));
    stage.step(Step::User(format!("@tslp accept {}\n", case.path)));
    let path = RelPath::from_normalised(&case.path);
    let symbols = stage.view().state.state_map().symbols_of(&path);
    let mut own = symbols
        .into_iter()
        .filter(|symbol| symbol.last_component() == name);
    let (symbol, None) = (own.next()?, own.next()) else {
        return None;
    };
    if case.file.matches(text).count() != 1 {
        return None;
    }
    stage.step(Step::Model {
        text: "I see.\n".into(),
        ending: Ending::Whole,
    });
    let said = prompt
        .replace("NAME", name)
        .replace("NEW", &new)
        .replace("PATH", &case.path);
    stage.step(Step::User(format!("{said}\n")));
    let line_end = if text.ends_with('\n') { "" } else { "\n" };
    let mut reply = format!(
        "{}\n````\n<<<<<<< SEARCH\n{text}{line_end}=======\n{by}{}>>>>>>> REPLACE\n````\n",
        case.path,
        if by.is_empty() { "" } else { line_end }
    );
    if prompt.starts_with("Move") {
        reply += &format!("\nmoved/{}\n````\n{text}{line_end}````\n", case.path);
    }
    stage.step(Step::Model {
        text: reply,
        ending: Ending::Whole,
    });
    stage.check_replay();
    Some(
        stage
            .view()
            .current_version(&EntityId::symbol(path, symbol))
            .is_none(),
    )
}

/// What the user wants gone goes, and nothing else does.
#[test]
fn wanted_removals() {
    let mut cases = cases();
    cases.retain(|case| case.shows_the_whole_file() && case.function.class.is_none());
    let mut cases = cases.iter().cycle();
    let mut count = |prompts: &[&str], least: usize| {
        let (mut trials, mut gone) = (0, Vec::new());
        for prompt in prompts.iter().cycle() {
            if trials == least {
                break;
            }
            let case = cases.next().expect("there are functions");
            if let Some(is_gone) = goes(case, prompt) {
                trials += 1;
                gone.push((
                    is_gone,
                    format!("{prompt}: {} {}", case.path, case.function.name),
                ));
            }
        }
        gone
    };
    let kept: Vec<String> = count(&ASKED, 60)
        .into_iter()
        .filter(|(gone, _)| !gone)
        .map(|(_, what)| what)
        .collect();
    assert!(
        kept.len() <= 3,
        "{} of 60 stayed:\n{}",
        kept.len(),
        kept.join("\n")
    );
    let gone: Vec<String> = count(&UNASKED, 60)
        .into_iter()
        .filter(|(gone, _)| *gone)
        .map(|(_, what)| what)
        .collect();
    assert!(
        gone.is_empty(),
        "{} of 60 went:\n{}",
        gone.len(),
        gone.join("\n")
    );
}
