//! The code that a refused change would have lost, so that a model can put it back.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use tslp_projections::state::StateView;

use crate::judge::code_spec;
use tslp_core::artifact::Origin;
use tslp_core::code_spec::CodeSpec;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::NoticeIssued;
use tslp_core::extract::{Extraction, Grammars};
use tslp_core::limits::{LOST_LINES_NAMED_MAX, LOST_SYMBOLS_NAMED_MAX};
use tslp_core::path::RelPath;
use tslp_core::reason::{Reason, ReasonClass};
use tslp_core::redact;
use tslp_projections::proposals::Proposal;

/// The code that is missing from a proposal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostCode {
    /// Definitions of the file that the proposed text doesn't have.
    pub symbols: Vec<String>,
    /// Lines of the current version that the proposed one doesn't have.
    pub lines: Vec<String>,
    /// The number of further such lines.
    pub more_lines: usize,
    /// The current version, or those of the missing definitions, where a prompt shows them nowhere else: a small model can't
    /// put single lines back.
    pub whole: Option<String>,
    /// The placeholder that replaces them, and its line in the proposed text, from 1.
    pub placeholder: Option<(String, usize)>,
    /// What it breaks of the project's rules for code, a sentence each.
    pub broken: Vec<String>,
}

impl LostCode {
    /// The code that the notice's proposal has lost; `None` if the notice reports no loss, or there is nothing to name.
    /// `bytes_max` bounds the code that is given whole; `None` if the prompt shows it already.
    #[must_use]
    pub fn of_notice(
        view: &StateView<'_>,
        (grammars, spec): (&dyn Grammars, &CodeSpec),
        notice: &NoticeIssued,
        bytes_max: Option<usize>,
    ) -> Option<Self> {
        let entity = notice.entity.as_ref();
        let is_on_disk = notice.reason == Reason::DiskHoldsRefused;
        let is_broken = notice.reason == Reason::SpecBroken;
        let entity = entity
            .filter(|_| notice.reason.is(ReasonClass::LostCode) || is_on_disk || is_broken)?;
        let proposals = view.proposals_for(entity).into_iter().rev();
        let mut refused = proposals.filter(|proposal| {
            let is_meant = is_on_disk || proposal.refused_for() == Some(notice.reason);
            proposal.origin != Origin::User && is_meant
        });
        let refused = refused.next()?;
        let mut lost = match is_broken {
            true => Self::default(),
            false => Self::of_proposal(view, grammars, entity, &refused)?,
        };
        let code = view.artifact_content(refused.artifact).unwrap_or_default();
        let code = (&entity.path, &*String::from_utf8_lossy(&code));
        let blocks = refused.report.unwrap_or_default().seen_by(Reason::OneBlock);
        lost.broken = code_spec::broken_rules(view, grammars, spec, code, blocks);
        match bytes_max {
            _ if is_broken => {}
            Some(bytes_max) => lost.whole = lost.whole_code(view, entity, bytes_max),
            None => (lost.lines, lost.more_lines) = (Vec::new(), 0),
        }
        (lost != Self::default()).then_some(lost)
    }

    /// The code that a proposal has lost; `None` if its text isn't on record.
    pub(crate) fn of_proposal(
        view: &StateView<'_>,
        grammars: &dyn Grammars,
        entity: &EntityId,
        proposal: &Proposal,
    ) -> Option<Self> {
        let whole = view.text(proposal.artifact)?;
        let proposed =
            String::from_utf8(view.artifact_slices(proposal.artifact, &proposal.spans)?).ok()?;
        let refused_for = proposal.refused_for().unwrap_or(Reason::GrantMissing);
        Self::of_code(view, grammars, (entity, refused_for), (&whole, &proposed))
    }

    /// The code that a proposed text has lost, refused for a reason; `whole` is all of the text that the proposed one is part of.
    #[must_use]
    pub(crate) fn of_code(
        view: &StateView<'_>,
        grammars: &dyn Grammars,
        (entity, refused_for): (&EntityId, Reason),
        (whole, proposed): (&str, &str),
    ) -> Option<Self> {
        let current = view.current_version(entity);
        let before =
            current.and_then(|current| view.artifact_slices(current.artifact, &current.spans));
        let before = String::from_utf8(before.unwrap_or_default()).ok()?;
        let (lines, more_lines) = missing_lines(&before, proposed);
        let extraction = grammars
            .language_of_path(&entity.path)
            .and_then(|language| grammars.extract(language, whole.as_bytes()).ok());
        let is_whole = refused_for == Reason::SymbolsLost;
        Some(Self {
            symbols: match &extraction {
                Some(extraction) if is_whole => {
                    let missing = missing_definitions(view, &entity.path, extraction);
                    let missing = missing.take(LOST_SYMBOLS_NAMED_MAX);
                    missing
                        .filter_map(|it| Some(it.symbol_str()?.into()))
                        .collect()
                }
                _ => Vec::new(),
            },
            lines,
            more_lines,
            placeholder: extraction
                .and_then(|extraction| new_placeholder(&extraction, whole, &before)),
            ..Self::default()
        })
    }

    /// The current code to put back, if it is no longer than that.
    pub(crate) fn whole_code(
        &self,
        view: &StateView<'_>,
        entity: &EntityId,
        bytes_max: usize,
    ) -> Option<String> {
        let code = current_code(view, entity, &self.symbols);
        code.filter(|code| code.len() <= bytes_max)
    }
}

/// The current code of an entity, or of these symbols of its file.
fn current_code(view: &StateView<'_>, entity: &EntityId, symbols: &[String]) -> Option<String> {
    let code_of = |entity: &EntityId| {
        let current = view.current_version(entity)?;
        let code = view.artifact_slices(current.artifact, &current.spans)?;
        let code = String::from_utf8(code).ok()?;
        (!code.contains(redact::MARKER)).then_some(code)
    };
    if symbols.is_empty() {
        return code_of(entity);
    }
    let missing = symbols.iter().map(|symbol| Symbol::new(symbol));
    let codes = missing.map(|symbol| code_of(&EntityId::symbol(entity.path.clone(), symbol)));
    Some(codes.collect::<Option<Vec<String>>>()?.join("\n\n"))
}

/// Known definitions of a file that a text of it doesn't have.
pub(crate) fn missing_definitions(
    view: &StateView<'_>,
    path: &RelPath,
    extraction: &Extraction,
) -> impl Iterator<Item = EntityId> {
    let known = view.state.state_map().entities_in(path).into_iter();
    known.filter(|it| {
        let mut defined = extraction.definitions.iter();
        !defined.any(|defined| it.symbol.as_ref() == Some(&defined.symbol))
    })
}

/// The first lines that are in one text and not in the other, and how many more there are. A line that is there twice and
/// was there three times is missing once.
#[must_use]
pub fn missing_lines(before: &str, after: &str) -> (Vec<String>, usize) {
    let mut kept: BTreeMap<&str, usize> = BTreeMap::new();
    for line in after.lines() {
        *kept.entry(line.trim()).or_default() += 1;
    }
    let mut missing: Vec<&str> = Vec::new();
    for line in before.lines().map(str::trim_end) {
        match kept.get_mut(line.trim()) {
            Some(count) if *count > 0 => *count -= 1,
            // Nobody can put back what isn't on record.
            _ if line.contains(redact::MARKER) => {}
            _ if line.chars().any(char::is_alphanumeric) => missing.push(line),
            _ => {}
        }
    }
    let named = missing.iter().take(LOST_LINES_NAMED_MAX);
    let named: Vec<String> = named.map(|line| (*line).into()).collect();
    let more = missing.len() - named.len();
    (named, more)
}

/// The first placeholder that the text before didn't have.
fn new_placeholder(extraction: &Extraction, text: &str, before: &str) -> Option<(String, usize)> {
    extraction.elisions.iter().find_map(|span| {
        let said = core::str::from_utf8(span.of(text.as_bytes())).ok()?;
        let above = text.get(..span.start as usize)?;
        let line = above.matches('\n').count() + 1;
        (!before.contains(said)).then(|| (said.trim().into(), line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str, expected: &[&str], more: usize) {
        let (lines, more_lines) = missing_lines(before, after);
        assert_eq!(lines, expected);
        assert_eq!(more_lines, more);
    }

    /// A line counts as lost as many times as it occurs less often than before.
    #[test]
    fn repeated_lines() {
        check("a;\nb;\n", "  b;\n a;\n", &[], 0);
        check("a;\na;\nb;\n}\n\n", "a;\n", &["a;", "b;"], 0);
        let many: String = (0..9).map(|n| alloc::format!("line {n};\n")).collect();
        let first: Vec<String> = (0..LOST_LINES_NAMED_MAX)
            .map(|n| alloc::format!("line {n};"))
            .collect();
        let first: Vec<&str> = first.iter().map(String::as_str).collect();
        check(&many, "", &first, 9 - LOST_LINES_NAMED_MAX);
    }
}
