//! What the gates said, episode by episode, in a form that people can read.

use std::fmt::Write as _;

use tslp_core::artifact::Transition;
use tslp_core::event::{Event, Recorded};
use tslp_core::gate::GateReport;

/// One line for each capture, each resolution and each step of the state machine; under a judged version, each rule
/// with what it saw of what it needed. A rule that isn't met is marked with `!`.
#[must_use]
pub fn listing(ledger: &[Recorded]) -> String {
    let mut text = String::new();
    for recorded in ledger {
        line(&recorded.event, &mut text);
    }
    text
}

fn line(event: &Event, text: &mut String) {
    let _ = match event {
        Event::ArtifactCaptured(captured) => {
            let path = captured.path.as_ref().map_or("-", |path| path.as_str());
            write!(
                text,
                "{} {} by the {:?}: {} {:?} {path}, {:?}; ",
                captured.episode,
                captured.capture,
                captured.origin,
                captured.format.as_str(),
                captured.evidence,
                captured.completeness
            )
        }
        Event::ArtifactResolved(resolved) => {
            let _ = writeln!(
                text,
                "{} {} {:?}",
                resolved.level.as_str(),
                resolved.reason,
                resolved.extent
            );
            resolved.versions.iter().try_for_each(|version| {
                writeln!(
                    text,
                    "   {} {} {:.8}",
                    version.id, version.entity, version.slice
                )
            })
        }
        Event::Transitioned(moved) => {
            let _ = writeln!(
                text,
                "   {} {} {}",
                moved.version,
                arrow(moved.transition),
                moved.cause
            );
            rules(moved.report.as_ref(), text)
        }
        Event::PromotionRefused(refused) => {
            let conclusion = refused
                .report
                .conclusion
                .map_or("-", tslp_core::reason::Reason::code);
            let _ = write!(text, "   {} stays PROPOSED {conclusion}", refused.version);
            let _ = match &refused.rename_of {
                Some(known) => writeln!(text, ", {known}"),
                None => writeln!(text),
            };
            rules(Some(&refused.report), text)
        }
        Event::AuditAsked(asked) => {
            writeln!(
                text,
                "{} audit of {} versions",
                asked.episode,
                asked.about.len()
            )
        }
        Event::AuditAnswered(answered) => {
            let _ = writeln!(
                text,
                "{} audit {}",
                answered.episode,
                answered.outcome.as_str()
            );
            answered.verdicts.iter().try_for_each(|verdict| {
                writeln!(
                    text,
                    "   {} {} {}",
                    verdict.version,
                    verdict.entity,
                    verdict.status.as_str()
                )
            })
        }
        _ => Ok(()),
    };
}

const fn arrow(transition: Transition) -> &'static str {
    match transition {
        Transition::Promote => "PROPOSED -> AUTHORITATIVE",
        Transition::Discard => "PROPOSED -> TOMBSTONED",
        Transition::Supersede => "AUTHORITATIVE -> SUPERSEDED",
        Transition::Remove => "AUTHORITATIVE -> TOMBSTONED",
    }
}

fn rules(report: Option<&GateReport>, text: &mut String) -> std::fmt::Result {
    let Some(report) = report else {
        return Ok(());
    };
    write!(text, "     ")?;
    for verdict in &report.verdicts {
        let mark = if verdict.met { "" } else { "!" };
        write!(
            text,
            " {mark}{} {}/{}",
            verdict.rule, verdict.seen, verdict.needed
        )?;
    }
    writeln!(text)
}
