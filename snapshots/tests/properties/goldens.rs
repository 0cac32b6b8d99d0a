//! What the short golden ends leave out is in full ones.

use std::collections::BTreeSet;

use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{DiskFinding, NoticeIssued, ReadFailure};
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_decide::wording::notice;

use crate::stories::headers::{Story, stories};

/// The kinds of parts that a golden end's lines on prompts name: where it is, and what it is.
fn kinds_of(golden: &str) -> BTreeSet<String> {
    let mut kinds = BTreeSet::new();
    for line in golden.lines() {
        let Some((place, parts)) = line.trim_start().split_once(": ") else {
            continue;
        };
        let place = place.split(' ').next().unwrap_or(place);
        let is_place = ["system", "before", "message", "thought", "call", "after"].contains(&place);
        if !is_place || !line.starts_with("   ") {
            continue;
        }
        for part in parts.split("; ") {
            let word = part.split([' ', ',']).next().unwrap_or(part);
            if !["code", "notice", "recent", "own", "directives"].contains(&word) {
                // The rest of a changed line that holds a semicolon.
                continue;
            }
            kinds.insert(format!("{word} in {place}"));
            let marks = [(" \"", "changed line"), ("directives only", "directives")];
            let marks = marks.into_iter().filter(|(mark, _)| part.contains(mark));
            kinds.extend(marks.map(|(_, kind)| format!("{kind} in {word} in {place}")));
            // Those of a refused confirmation are in `notices__wording.snap`.
            let forms = [" by pattern", " of the user's code", " on what is missing"];
            let forms = forms.into_iter().filter(|form| part.contains(form));
            kinds.extend(forms.map(|form| format!("{word}{form}")));
        }
    }
    kinds
}

/// Each kind of text is in a full golden.
#[test]
fn each_kind_shown() {
    let (mut shown, mut all) = (BTreeSet::new(), BTreeSet::new());
    let (mut tables_shown, mut full) = (BTreeSet::new(), 0);
    for Story { golden, .. } in stories() {
        let kinds = kinds_of(&golden);
        if golden.contains("\n[sessions]\n") {
            let tables = golden.lines().filter(|line| line.starts_with('['));
            tables_shown.extend(tables.map(String::from));
            shown.extend(kinds.iter().cloned());
            full += 1;
        }
        all.extend(kinds);
    }
    let missing: Vec<_> = all.difference(&shown).collect();
    assert!(missing.is_empty(), "in no full golden: {missing:?}");
    for table in [
        "vault",
        "state map",
        "proposals",
        "tombstones",
        "disk",
        "stale",
        "sessions",
        "episodes",
        "audits",
        "outdated",
        "edits",
    ] {
        let is_shown = tables_shown.contains(&format!("[{table}]"));
        assert!(is_shown, "{table} is in no full golden");
    }
    assert!(
        full < 52,
        "{full} full goldens: the others are there to be read"
    );
}

/// The short golden ends name a notice by its reason.
#[test]
fn wording_of_notices() {
    let path = RelPath::from_normalised("src/a.c");
    let entity = EntityId::symbol(path.clone(), Symbol::new("f"));
    let other = EntityId::symbol(path, Symbol::new("g"));
    let mut wording = String::new();
    for reason in Reason::ALL {
        let notice = |other| NoticeIssued {
            episode: EpisodeId(1),
            session: SessionId(1),
            reason: *reason,
            entity: Some(entity.clone()),
            other,
        };
        let alone = notice(None);
        let unreadable = DiskFinding::Unreadable(ReadFailure::Denied);
        let missing = DiskFinding::Missing;
        let mut forms = vec![notice::block(&alone, Some((&missing).into()), None)];
        for form in [
            notice::block(&alone, Some((&unreadable).into()), None),
            notice::block(&notice(Some(other.clone())), Some((&missing).into()), None),
        ] {
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        forms.extend(notice::users_code_notice(&alone));
        if *reason == Reason::NotConfirmable {
            forms.extend([false, true].map(|is_edit| notice::not_linked_notice(&entity, is_edit)));
        }
        // A reason that leads to no notice has no words of its own.
        let code = format!(": {reason}.");
        for form in forms.iter().filter(|form| !form.contains(&code)) {
            let lines: Vec<&str> = form.lines().collect();
            let said = lines[1..lines.len() - 1].join("\n    ");
            wording += &format!("{reason}\n    {said}\n");
        }
    }
    insta::with_settings!({
        omit_expression => true,
        description => "The words of each notice.",
        snapshot_path => "../../golden",
        prepend_module_to_snapshot => false,
    }, {
        insta::assert_snapshot!("notices__wording", wording);
    });
}
