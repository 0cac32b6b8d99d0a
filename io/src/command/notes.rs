//! `tslp notes`: the working memory that spec 003 keeps in a file NOTES.md, printed from the ledger; nothing is written.

use tslp_core::goal::GoalChange;
use tslp_core::record::RecordKind;

use super::{CommandFailure, ledger_subject, need_ledger, read_config};
use crate::config::layers::WrittenFlags;
use crate::diagnostics::records::{RecordNow, read_records};
use crate::diagnostics::status::{self, Status};
use crate::evidence::moments::utc_moment;
use crate::exit::Exit;
use crate::out::Out;

pub(super) fn run_notes(flags: &WrittenFlags) -> Result<Exit, CommandFailure> {
    let (config, _) = read_config(flags)?;
    need_ledger(&config)?;
    let subject = ledger_subject(&config);
    let status = status::read_status(&subject)?;
    let records = read_records(&subject)?;
    let mut lines = notes_lines(&status.page, &records);
    lines.extend(
        status
            .flaw
            .map(|flaw| format!("\n<!-- not verified: {flaw} -->")),
    );
    let mut out = Out::stdout();
    // Blank lines between the parts, and the lines of what is quoted.
    for line in lines.iter().flat_map(|line| line.split('\n')) {
        out.line(line)?;
    }
    Ok(Exit::Ok)
}

/// The notes in the headings and the order of spec 003.
fn notes_lines(status: &Status, records: &[RecordNow]) -> Vec<String> {
    let mut lines = vec![
        "# Agent Working Memory (NOTES.md)".to_owned(),
        "\n## Session Continuity".to_owned(),
        "\n### Active Context".to_owned(),
    ];
    let said = |what| status.goal.iter().filter(move |row| row.what == what);
    lines.extend(said(GoalChange::Set).map(|row| format!("- **Current Goal**: {}", row.text)));
    if let Some((asked, words, _)) = &status.work.asked {
        let at = utc_moment(asked.at_ms.0);
        lines.push(format!("- **Asked last**: {words} ({at})"));
    }
    let in_flight = status.work.in_flight.iter();
    lines.extend(in_flight.map(|(entity, reason)| {
        format!("- **In flight**: {entity} was refused ({})", reason.code())
    }));
    lines.push("\n### Lightweight Identifiers".to_owned());
    if !status.changed.is_empty() {
        lines.push("| Identifier | Purpose |\n|------------|---------|".to_owned());
    }
    let changed = status.changed.iter();
    lines.extend(changed.map(|(_, place)| format!("| {place} | changed |")));
    lines.push("\n### Decision Log".to_owned());
    let decided = |it: &&RecordNow| it.is_kept() && it.said().1.kind == RecordKind::Decision;
    let mut decided: Vec<&RecordNow> = records.iter().filter(decided).collect();
    // Those of the current goal first.
    let current = said(GoalChange::Set).map(|row| &row.text).next();
    decided.sort_by_key(|it| (it.goal.as_ref() != current, &it.goal));
    for record in decided {
        let (at, decision) = record.said();
        lines.push(format!("\n#### {} - {}", utc_moment(at.0), decision.key));
        let goal = record.goal.iter().map(|goal| format!("**Goal**: {goal}"));
        lines.extend(goal);
        lines.push(format!("**Decision**: {}", decision.statement));
        if !decision.path.is_empty() {
            lines.push(format!(
                "**Evidence**:\n- `{}` [{}]{}",
                decision.quotation,
                decision.path,
                record.doubt()
            ));
        }
    }
    lines.push("\n### Pending Questions".to_owned());
    lines.extend(said(GoalChange::Question).map(|row| format!("- [ ] {}", row.text)));
    lines.push("\n## Active Sub-Goals".to_owned());
    lines.extend(said(GoalChange::Next).map(|row| format!("- [ ] {}", row.text)));
    lines.push("\n## Discovered Technical Debt".to_owned());
    let stale = status.stale.iter();
    lines.extend(
        stale.map(|entity| format!("- {entity} is STALE: disk holds what nobody was shown")),
    );
    lines.push("\n## Blockers & Dependencies".to_owned());
    let runs = [
        ("Test run", &status.work.test),
        ("Build", &status.work.build),
    ];
    for (what, run) in runs {
        let failed = run.as_ref().filter(|run| run.result.passed == Some(false));
        lines.extend(failed.map(|run| format!("- {what} `{}` failed", run.command)));
    }
    lines
}
