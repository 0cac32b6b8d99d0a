//! A reply that gate A refuses before its client has it: it is asked for once more (docs/repair.md).

use alloc::collections::BTreeSet;
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
use crate::wording::notice;
use tslp_core::entity::EntityId;
use tslp_core::event::{
    ContentKind, DraftFault, DraftRefused, Event, NoticeIssued, PromotionRefused, ToolCallRef,
};
use tslp_core::gate::GateReport;
use tslp_core::hash::ArtifactHash;
use tslp_core::reason::{Reason, ReasonClass};
use tslp_core::slice;

/// Code that is shown whole to be put back, in bytes; of longer code a few lines are named.
const SHOWN_CODE_BYTES_MAX: usize = 4096;

/// The last words that a model reads before it answers again.
const ASKED_AGAIN: &str =
    "Answer the request again. Write every definition whole, without leaving anything out.";

/// A reply's code, judged by gate A before anything of it is recorded as code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgedDraft {
    /// What keeps its code out, each with what is said of it.
    faults: Vec<(DraftFault, String)>,
    /// Broken rules for code beyond one of each block.
    more_broken: usize,
    /// The definitions that it changes.
    pub changed: BTreeSet<EntityId>,
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
            let names = versions.iter().map(|version| &version.entity);
            let names = names.filter(|entity| entity.symbol.is_some());
            draft.changed.extend(names.cloned());
            let names_none =
                versions.is_empty() && found.path.is_none() && found.claims_an_entity();
            if let Some(file) = judging.policy.code_spec.file().filter(|_| names_none) {
                let text = notice::notice_of(&format!(
                    "The code names no file, and the user's rules want {file}: write that path on the line above the code."
                ));
                let (entity, reason) = (EntityId::file(file), Reason::SpecBroken);
                draft.faults.push((DraftFault { entity, reason }, text));
            }
            let refused = events.iter().filter_map(|event| match event {
                Event::PromotionRefused(refused) => {
                    Some((mendable_fault(refused)?, &refused.report))
                }
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
            draft.more_broken += broken.len().saturating_sub(1);
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
                let text = fault_text(judging, &fault, broken, (&found.code, &proposed));
                draft.faults.push((fault, text));
            }
        }
        draft
    }

    /// A second reply also has to change what the first one changed.
    #[must_use]
    pub fn compared_with(mut self, changed_first: &BTreeSet<EntityId>) -> Self {
        let lacking = changed_first.difference(&self.changed);
        let lacking = lacking.map(|entity| DraftFault {
            entity: entity.clone(),
            reason: Reason::OmittedByUpdate,
        });
        let lacking: Vec<_> = lacking.map(|fault| (fault, String::new())).collect();
        self.faults.extend(lacking);
        self
    }

    /// How many faults it has.
    #[must_use]
    pub const fn fault_count(&self) -> usize {
        self.faults.len() + self.more_broken
    }

    /// What a prompt goes on with when the reply is asked for once more.
    #[must_use]
    pub fn complaint(&self) -> String {
        let mut text = String::new();
        for (_, said) in &self.faults {
            text.push_str(&format!("{said}\n\n"));
        }
        text.push_str(ASKED_AGAIN);
        text
    }

    /// Records that it is refused. The first one is asked for once more.
    #[must_use]
    pub fn refuse(
        &self,
        view: &StateView<'_>,
        (segments, tool_calls): (Vec<ArtifactHash>, Vec<ToolCallRef>),
        attempt: DraftAttempt,
    ) -> Vec<Event> {
        let mut recorder = Recorder::new(view);
        let told = (attempt == DraftAttempt::First)
            .then(|| recorder.store(ContentKind::Injection, self.complaint().as_bytes()));
        let refused = self.faults.iter().map(|(fault, _)| fault.clone());
        recorder.push(Event::DraftRefused(DraftRefused {
            segments,
            tool_calls,
            refused: refused.collect(),
            told,
        }));
        recorder.into_events()
    }
}

/// Which of a prompt's replies a draft is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftAttempt {
    /// The first one.
    First,
    /// The one that was asked for because the first one was refused.
    Second,
}

/// The fault of a refused version that the model can mend without the user. What may have been asked for in words that aren't
/// understood here, such as the removal of a statement, is left to the user.
fn mendable_fault(refused: &PromotionRefused) -> Option<DraftFault> {
    let reason = refused.report.conclusion?;
    let is_mendable = match reason {
        Reason::StubInPlace | Reason::RemovedUnasked => false,
        Reason::DuplicateDefinition | Reason::SpecBroken => true,
        reason => reason.is(ReasonClass::LostCode),
    };
    (is_mendable && refused.report.failed_by_itself()).then(|| DraftFault {
        entity: refused.entity.clone(),
        reason,
    })
}

fn fault_text(
    judging: JudgingContext<'_>,
    fault: &DraftFault,
    broken: Vec<String>,
    (code, proposed): (&str, &[u8]),
) -> String {
    let JudgingContext { view, grammars, .. } = judging;
    let (entity, reason) = (&fault.entity, fault.reason);
    let is_off = view.state.scope().off().is_off(entity.path.as_str());
    let proposed = String::from_utf8_lossy(proposed);
    let lost = LostCode::of_code(view, grammars, (entity, reason), (code, &proposed));
    let lost = lost.filter(|_| !is_off && reason != Reason::SpecBroken);
    let mut lost = lost.map(|lost| LostCode {
        whole: lost.whole_code(view, entity, SHOWN_CODE_BYTES_MAX),
        ..lost
    });
    lost.get_or_insert_default().broken = broken;
    let ids = (judging.episode, judging.session);
    let notice = NoticeIssued::new(ids, reason, Some(entity.clone()));
    notice::block(&notice, None, lost.as_ref())
}
