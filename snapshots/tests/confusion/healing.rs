//! Real files that break and are mended: merges with conflict markers, and slips of a bracket, an indent or a quote. However a
//! file broke, its next sound state makes all of it true, and nothing that the break did is charged to the edit that mends it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::json;
use tslp_core::entity::EntityId;
use tslp_core::event::Event;
use tslp_core::extract::Grammars as _;
use tslp_core::hash::SliceHash;
use tslp_core::message::Role;
use tslp_core::message::Tools;
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_grammars::TreeSitterGrammars;
use tslp_snapshots::disk::extraction_of;
use tslp_snapshots::script::{Ending, Step};
use tslp_snapshots::stage::Stage;

use crate::dice::Dice;
use crate::sources::{Group, Source};

/// How many files of each language break, and how often each.
const FILES: usize = 2;
const BREAKS: usize = 3;

/// Lengths of files in bytes: long enough for several functions, short enough to be read in full.
const BYTES: std::ops::Range<usize> = 1_500..16_000;

/// A file as it was, as it broke, and as it is once it is mended.
struct Broken {
    kind: &'static str,
    path: String,
    before: String,
    broken: String,
    mended: String,
}

/// Who breaks the file, and who mends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hand {
    Agent,
    User,
}

/// The files of a group that are read without an error, and have several definitions.
fn sound_files(group: &Group) -> Vec<&Source> {
    let is_sound = |source: &&Source| {
        let read = extraction_of(
            &RelPath::from_normalised(&source.path),
            source.text.as_bytes(),
        );
        BYTES.contains(&source.text.len())
            && read.is_some_and(|it| it.clean && it.top_level().len() >= 3)
    };
    group.sources.iter().filter(is_sound).take(FILES).collect()
}

/// The indented lines of code of a text that aren't the last of their block, by number.
fn body_lines(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let is_code = |line: &str| {
        let words = line.trim();
        words.len() > 4 && !words.starts_with(['/', '*', '#', '"', '\'', '@', '}'])
    };
    let is_inner = |at: &usize| {
        let indent = |at: usize| lines[at].len() - lines[at].trim_start().len();
        let is_indented = lines[*at].starts_with([' ', '\t']);
        is_indented && is_code(lines[*at]) && indent(*at) == indent(*at + 1)
    };
    let numbers = 1..lines.len().saturating_sub(1);
    numbers.filter(is_inner).collect()
}

/// A text with some of its lines replaced.
fn with_lines(text: &str, at: std::ops::Range<usize>, new: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines[..at.start].concat() + new + &lines[at.end..].concat()
}

/// A conflict in a line of a body, about several lines, or about what both sides add at the same place.
fn merge(source: &Source, dice: &mut Dice) -> Option<Broken> {
    let text = &source.text;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = *dice.of(&body_lines(text))?;
    let length = 1 + dice.below(3);
    let end = (at + length).min(lines.len() - 1);
    let ours = lines[at..end].concat();
    let theirs = match dice.below(3) {
        // The other side has the same lines and one more, in front or behind.
        0 => format!("{ours}{}", lines[at]),
        1 => ours.replacen(char::is_alphanumeric, "x", 1),
        _ => String::new(),
    };
    let conflict = format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> topic\n");
    let broken = with_lines(text, at..end, &conflict);
    Some(Broken {
        kind: "merge",
        path: source.path.clone(),
        before: text.clone(),
        broken,
        mended: text.clone(),
    })
}

/// A bracket or quote that is lost or doubled, or a line that is indented otherwise.
fn slip(source: &Source, dice: &mut Dice) -> Option<Broken> {
    let text = &source.text;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let kind = ["bracket", "bracket", "quote", "indent"][dice.below(4)];
    let (at, new) = if kind == "indent" {
        let at = *dice.of(&body_lines(text))?;
        let words = lines[at].trim_start();
        (
            at,
            if dice.below(3) > 0 {
                words.to_owned()
            } else {
                format!("    {}", lines[at])
            },
        )
    } else {
        let marks: &[char] = match kind {
            "bracket" => &['(', ')', '[', ']', '{', '}'],
            _ => &['"', '\''],
        };
        let has = |at: &usize| {
            let words = lines[*at].trim();
            words.contains(marks) && !words.starts_with(['/', '*', '#'])
        };
        let with: Vec<usize> = (1..lines.len() - 1).filter(has).collect();
        let at = *dice.of(&with)?;
        let places: Vec<(usize, &str)> = lines[at].match_indices(marks).collect();
        let (place, mark) = *dice.of(&places)?;
        let mut new = lines[at].to_owned();
        match dice.below(4) {
            0 => new.insert_str(place, mark),
            _ => drop(new.remove(place)),
        }
        (at, new)
    };
    let broken = with_lines(text, at..at + 1, &new);
    Some(Broken {
        kind,
        path: source.path.clone(),
        before: text.clone(),
        broken,
        mended: text.clone(),
    })
}

/// The lines in which two texts differ, as the old and the new text of an edit: with so many lines around them that the old text is
/// there once.
fn edit_between(from: &str, to: &str) -> (String, String) {
    let (old, new): (Vec<&str>, Vec<&str>) = (
        from.split_inclusive('\n').collect(),
        to.split_inclusive('\n').collect(),
    );
    let same = |(a, b): &(&&str, &&str)| a == b;
    let front = old.iter().zip(&new).take_while(same).count();
    let most = old.len().min(new.len()) - front;
    let back = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(most)
        .take_while(same)
        .count();
    for around in 1.. {
        let start = front.saturating_sub(around);
        let kept = back.saturating_sub(around);
        let old = old[start..old.len() - kept].concat();
        if from.matches(&old).count() == 1 {
            return (old, new[start..new.len() - kept].concat());
        }
    }
    unreachable!("the whole text is there once")
}

/// An agent's conversation about one file.
struct Play {
    stage: Stage,
    path: String,
}

impl Play {
    fn new(path: &str) -> Self {
        let mut stage = Stage::new(Policy::default());
        stage.step(Step::Touch);
        stage.step(Step::Tools(Tools::Reading));
        Self {
            stage,
            path: path.to_owned(),
        }
    }

    fn write(&mut self, text: &str) {
        self.stage.step(Step::Disk {
            path: self.path.clone(),
            text: text.to_owned(),
        });
    }

    fn say(&mut self, text: &str) {
        self.stage.step(Step::User(text.to_owned()));
    }

    fn call(
        &mut self,
        name: &str,
        arguments: &serde_json::Value,
        result: &str,
        written: Option<&str>,
    ) {
        self.stage.step(Step::Call {
            name: name.to_owned(),
            arguments: arguments.to_string(),
        });
        self.reply("I do it.");
        if let Some(text) = written {
            self.write(text);
        }
        self.stage.step(Step::Context {
            role: Role::Tool,
            text: result.to_owned(),
        });
        self.stage.step(Step::Again);
    }

    fn reply(&mut self, text: &str) {
        self.stage.step(Step::Model {
            text: text.to_owned(),
            ending: Ending::Whole,
        });
    }

    /// The agent reads the file.
    fn read(&mut self, text: &str) {
        let lines = text.lines().enumerate();
        let shown: Vec<String> = lines
            .map(|(at, line)| format!("{}: {line}", at + 1))
            .collect();
        self.call("read", &json!({"path": self.path}), &shown.join("\n"), None);
    }

    /// The agent makes one text of another.
    fn edit(&mut self, from: &str, to: &str) {
        let (old, new) = edit_between(from, to);
        let edit = json!({"path": self.path, "old_string": old, "new_string": new});
        self.call("edit", &edit, "Edit applied.", Some(to));
    }

    /// What is true of the file.
    fn truth(&self) -> BTreeMap<EntityId, SliceHash> {
        let view = self.stage.view();
        let entities = view
            .state
            .state_map()
            .entities_in(&RelPath::from_normalised(&self.path));
        let slices = entities.into_iter().map(|it| {
            let slice = view.current_version(&it).expect("it is true").slice;
            (it, slice)
        });
        slices.collect()
    }

    fn differing(&self) -> BTreeSet<EntityId> {
        let stale = self.stage.state().stale();
        stale
            .iter()
            .map(|(it, _)| it.clone())
            .filter(|it| it.symbol.is_some())
            .collect()
    }

    /// What was refused since an event, by name.
    fn refused_since(&self, from: usize) -> Vec<String> {
        let new = self.stage.ledger()[from..].iter();
        let refused = new.filter_map(|it| match &it.event {
            Event::PromotionRefused(refused) => Some(format!(
                "{} {:?}",
                refused.entity, refused.report.conclusion
            )),
            _ => None,
        });
        refused.collect()
    }
}

/// What is wrong after the file broke and was mended; empty if nothing is.
fn faults(broken: &Broken, breaks: Hand, mends: Hand) -> String {
    let mut play = Play::new(&broken.path);
    let mut faults = String::new();
    play.write(&broken.before);
    play.say(&format!("Look at {}, please.", broken.path));
    play.read(&broken.before);
    play.reply("I read it.");
    let before = play.truth();
    match breaks {
        Hand::Agent => {
            play.say("Make it better.");
            play.edit(&broken.before, &broken.broken);
            play.reply("I changed it.");
            play.say("Something is wrong with it.");
        }
        Hand::User => {
            play.write(&broken.broken);
            play.say(&format!(
                "I merged something into {}. Mend it.",
                broken.path
            ));
        }
    }
    play.read(&broken.broken);
    let made = play.truth();
    let created = made.keys().filter(|it| !before.contains_key(*it));
    for entity in created {
        let _ = write!(faults, " created {entity};");
    }
    let gone = before.keys().filter(|it| !made.contains_key(*it));
    for entity in gone {
        let _ = write!(faults, " gone {entity};");
    }
    let at = play.stage.ledger().len();
    match mends {
        Hand::Agent => {
            play.edit(&broken.broken, &broken.mended);
            play.reply("I mended it.");
        }
        Hand::User => {
            play.reply("I don't know how.");
            play.write(&broken.mended);
        }
    }
    play.say(&format!("What does {} do now?", broken.path));
    play.read(&broken.mended);
    play.reply("A lot.");
    for refused in play.refused_since(at) {
        let _ = write!(faults, " refused {refused};");
    }
    let extraction = extraction_of(
        &RelPath::from_normalised(&broken.path),
        broken.mended.as_bytes(),
    )
    .expect("it was read before");
    let sound: BTreeMap<EntityId, SliceHash> = extraction
        .slices(broken.mended.as_bytes())
        .into_iter()
        .map(|(symbol, slice)| {
            let path = RelPath::from_normalised(&broken.path);
            (EntityId::symbol(path, symbol.clone()), slice)
        })
        .collect();
    let after = play.truth();
    for (entity, slice) in &sound {
        if after.get(entity) != Some(slice) {
            let _ = write!(faults, " not true: {entity};");
        }
    }
    for entity in after.keys().filter(|it| !sound.contains_key(*it)) {
        let _ = write!(faults, " still true: {entity};");
    }
    for entity in play.differing() {
        let _ = write!(faults, " stale: {entity};");
    }
    faults
}

/// Every file of every language, broken in several ways.
fn broken_files(groups: &[Group]) -> Vec<Broken> {
    let mut all = Vec::new();
    for group in groups {
        for source in sound_files(group) {
            for number in 0..BREAKS {
                let mut dice = Dice::about(&[group.name, &source.path, &number.to_string()]);
                all.extend(merge(source, &mut dice));
                all.extend(slip(source, &mut dice));
            }
        }
    }
    let grammars = TreeSitterGrammars;
    all.retain(|it| {
        let path = RelPath::from_normalised(&it.path);
        let language = grammars
            .language_of_path(&path)
            .expect("its language is read");
        // A slip that leaves a sound text is a change like any other.
        let read = grammars.extract(language, it.broken.as_bytes());
        read.is_ok_and(|read| !read.clean)
    });
    all
}

/// law 9.2 | A broken file takes symbols away and creates none; its next sound state is true, and nobody is blamed for the break
#[test]
fn broken_files_heal() {
    let (groups, _) = crate::sources::collect();
    let (mut played, mut bad) = (0, String::new());
    let others = [
        (Hand::User, Hand::Agent),
        (Hand::User, Hand::User),
        (Hand::Agent, Hand::User),
    ];
    for (number, broken) in broken_files(&groups).into_iter().enumerate() {
        for hands in [(Hand::Agent, Hand::Agent), others[number % 3]] {
            let faults = faults(&broken, hands.0, hands.1);
            played += 1;
            if !faults.is_empty() {
                let (old, new) = edit_between(&broken.before, &broken.broken);
                let (kind, path) = (broken.kind, &broken.path);
                bad += &format!("{kind} {path} {hands:?}:{faults}\n--- {old}+++ {new}\n");
            }
        }
    }
    assert!(played >= 150, "{played} plays");
    assert!(bad.is_empty(), "{bad}");
}
