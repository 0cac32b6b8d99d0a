//! Calls that change files, judged by gate A before their client has them: those that lose code are asked for once more
//! (docs/repair.md).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use tslp_projections::state::StateView;

use crate::Recorder;
use crate::judge::code_spec;
use crate::judge::found_code::FoundCode;
use crate::judge::lost::LostCode;
use crate::judge::promote::MessagePieces;
use crate::judge::propose::{self, JudgingContext};
use crate::prompt::naming;
use crate::wording::notice;
use tslp_core::delimiter;
use tslp_core::entity::{EntityId, last_component};
use tslp_core::event::{
    ContentKind, DraftFault, DraftRefused, Event, NoticeIssued, PromotionRefused, ToolCallRef,
};
use tslp_core::gate::GateReport;
use tslp_core::reason::{Reason, ReasonClass};
use tslp_core::slice;

/// Code that is shown whole to be put back, in bytes; of longer code a few lines are named.
const SHOWN_CODE_BYTES_MAX: usize = 4096;

/// What calls would do to code, judged by gate A before anything of it is recorded as code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgedDraft {
    /// What keeps the code out.
    faults: Vec<Fault>,
}

/// What keeps the code of an entity out.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    fault: DraftFault,
    /// What the model is told.
    told: String,
    /// What stands in the place of code, if that is a remark.
    placeholder: Option<String>,
    /// The number of lines that are missing.
    lines: usize,
}

impl JudgedDraft {
    /// Judges each block by itself, on the state as it is. Nothing of it is kept.
    #[must_use]
    pub fn of(judging: JudgingContext<'_>, found: &[FoundCode]) -> Self {
        let mut draft = Self::default();
        for found in found {
            let events = propose::propose(judging, found, &MessagePieces::default());
            let versions = events.iter().filter_map(|event| match event {
                Event::ArtifactResolved(resolved) => Some(&resolved.versions),
                _ => None,
            });
            let versions: Vec<_> = versions.flatten().collect();
            let refused = events.iter().filter_map(|event| match event {
                Event::PromotionRefused(refused) => Some((fault_of(refused)?, &refused.report)),
                _ => None,
            });
            let faults: Vec<(DraftFault, &GateReport)> = refused.collect();
            // What a whole file lacks is the file's.
            let is_files =
                |it: &DraftFault| it.reason == Reason::SymbolsLost && it.entity.symbol.is_none();
            let lacks_symbols = faults.iter().any(|(fault, _)| is_files(fault));
            // Each of a block's versions breaks the rules that the block does.
            let mut broken = faults.first().map_or_else(Vec::new, |(fault, report)| {
                let code = (&fault.entity.path, &*found.code);
                let (view, spec) = (judging.view, &judging.policy.code_spec);
                let blocks = report.seen_by(Reason::OneBlock);
                code_spec::broken_rules(view, judging.grammars, spec, code, blocks)
            });
            let is_broken = |it: &DraftFault| it.reason == Reason::SpecBroken;
            for (fault, _) in faults {
                let is_other = fault.reason == Reason::SymbolsLost && !is_files(&fault);
                if is_broken(&fault) && broken.is_empty() || lacks_symbols && is_other {
                    continue;
                }
                let spans = versions.iter().find(|it| it.entity == fault.entity);
                let spans = spans.map_or(&[][..], |it| &it.spans);
                let proposed = slice::joined(found.code.as_bytes(), spans);
                let broken = core::mem::take(&mut broken);
                let code = (&*found.code, &*proposed);
                draft.faults.extend(fault_in(judging, fault, broken, code));
            }
        }
        draft
    }

    /// Whether the model is asked for the calls once more.
    #[must_use]
    pub const fn is_faulty(&self) -> bool {
        !self.faults.is_empty()
    }

    /// The first entity that would get a placeholder, a stub or an end in its middle in the place of code, which nobody can mean; with what
    /// the user is told where its file isn't changed for that.
    #[must_use]
    pub fn meaningless(&self) -> Option<(&EntityId, String)> {
        let mut faults = self.faults.iter();
        let fault = faults.find(|it| cannot_be_meant(it.fault.reason))?;
        let entity = &fault.fault.entity;
        let name = entity.symbol_str().unwrap_or("it");
        let lines = match fault.lines {
            1 => format!("a line of {name}"),
            lines => format!("{lines} lines of {name}"),
        };
        let wrote = match &fault.placeholder {
            Some(placeholder) => format!("wrote \"{placeholder}\" for {lines}"),
            None => format!("left out {lines}"),
        };
        let path = &entity.path;
        let said =
            format!("{path} was not changed: twice the model {wrote}. Ask for a smaller edit.");
        Some((entity, delimiter::defused(&said).into_owned()))
    }

    /// What the model is told of the calls when it is asked for them once more.
    #[must_use]
    pub fn complaint(&self) -> String {
        let mut text = String::new();
        for fault in &self.faults {
            text.push_str(&format!("{}\n\n", fault.told));
        }
        let can_be_meant = |it: &Fault| !cannot_be_meant(it.fault.reason);
        text.push_str(match self.faults.iter().any(can_be_meant) {
            true => "Nothing was changed. If the user asked to remove it, send the same call again; otherwise send a call that keeps it.",
            false => "Nothing was changed. Send the call again with every definition whole, or a smaller edit.",
        });
        text
    }

    /// Records that the calls are refused. The first ones are asked for once more.
    #[must_use]
    pub fn refuse(
        &self,
        view: &StateView<'_>,
        tool_calls: Vec<ToolCallRef>,
        attempt: DraftAttempt,
    ) -> Vec<Event> {
        let mut recorder = Recorder::new(view);
        let told = (attempt == DraftAttempt::First)
            .then(|| recorder.store(ContentKind::Injection, self.complaint().as_bytes()));
        let refused = self.faults.iter().map(|it| it.fault.clone());
        recorder.push(Event::DraftRefused(DraftRefused {
            tool_calls,
            refused: refused.collect(),
            told,
        }));
        recorder.into_events()
    }
}

/// Which of a prompt's replies calls are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftAttempt {
    /// The first one.
    First,
    /// The one that was asked for because calls of the first one were refused.
    Second,
}

/// Whether code is missing that no request can have meant to go: something stands in its place.
const fn cannot_be_meant(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::Elided | Reason::Truncated | Reason::Stub | Reason::StubInPlace
    )
}

/// The fault of a refused version that a model can mend, or mean.
fn fault_of(refused: &PromotionRefused) -> Option<DraftFault> {
    let reason = refused.report.conclusion?;
    let is_fault = match reason {
        Reason::DuplicateDefinition | Reason::SpecBroken => true,
        reason => reason.is(ReasonClass::LostCode),
    };
    (is_fault && refused.report.failed_by_itself()).then(|| DraftFault {
        entity: refused.entity.clone(),
        reason,
    })
}

/// A fault with what is said of it; `None` if it is about nothing but definitions that the user's own text names.
fn fault_in(
    judging: JudgingContext<'_>,
    fault: DraftFault,
    broken: Vec<String>,
    (code, proposed): (&str, &[u8]),
) -> Option<Fault> {
    let JudgingContext { view, grammars, .. } = judging;
    let (entity, reason) = (&fault.entity, fault.reason);
    let is_off = view.state.scope().off().is_off(entity.path.as_str());
    let proposed = String::from_utf8_lossy(proposed);
    let lost = LostCode::of_code(view, grammars, (entity, reason), (code, &proposed));
    let lost = lost.filter(|_| !is_off && reason != Reason::SpecBroken);
    let lost = lost.map(|lost| LostCode {
        whole: lost.whole_code(view, entity, SHOWN_CODE_BYTES_MAX),
        ..lost
    });
    let gone = lost.as_ref().map_or(&[][..], |lost| &lost.symbols);
    let is_named = |symbol: &String| naming::holds_word(judging.asked, last_component(symbol));
    if !gone.is_empty() && gone.iter().all(is_named) {
        return None;
    }
    let mut lost = lost.unwrap_or_default();
    lost.broken = broken;
    let ids = (judging.episode, judging.session);
    let notice = NoticeIssued::new(ids, reason, Some(entity.clone()));
    Some(Fault {
        told: notice::block(&notice, None, Some(&lost)),
        lines: lost.lines.len() + lost.more_lines,
        placeholder: lost.placeholder.map(|(text, _)| text),
        fault,
    })
}
