//! One edit played through the engine, and what became of it.

use std::collections::BTreeMap;

use tslp_core::artifact::{Level, Transition};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{Event, Extent, Recorded};
use tslp_core::extract::{Definition, Extraction};
use tslp_core::hash::SliceHash;
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;

use tslp_snapshots::disk::{Disk, DiskEntry, extraction_of};
use tslp_snapshots::script::Step;
use tslp_snapshots::stage::Stage;

use crate::case::Case;
use crate::damaging::MERGED;
use crate::edit::{Edit, Worth};
use crate::format::{Format, RenderedReply, rendered};

/// What became of an edit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// It is true now.
    Promoted,
    /// It says what was true already.
    Unchanged,
    /// It isn't true, for this reason.
    Refused(String),
    /// Something became true, and it isn't what the reply said of the function.
    Misfiled,
}

/// The whole of a text that has parse errors as the user showed it.
pub(crate) const WITH_ERRORS: &str = "any, of a text with parse errors as it is";

/// One definition of several that bear one name.
pub(crate) const ONE_OF_SEVERAL: &str = "any, one of several definitions of its name";

/// Two functions became one, and what is left of the text reads as a fragment: it loses nothing that is true, and what
/// it says of the one function is wrong.
pub(crate) const MERGED_AS_FRAGMENT: &str = "two functions merged, reads as a fragment";

/// Damage only where the prompt doesn't name the function.
const UNASKED: [&str; 2] = ["function dropped", "function renamed"];

/// Where trials start: the user's code is true, and the prompt that asks for the change has gone out.
pub(crate) struct TrialStart<'c> {
    case: &'c Case,
    /// Before the prompt.
    unasked: Stage,
    stage: Stage,
    path: RelPath,
    symbol: Symbol,
    truth: BTreeMap<Symbol, SliceHash>,
    /// Damaged definitions of the text as it was shown, if it has parse errors.
    pub(crate) damaged: Option<Vec<String>>,
    namesakes: usize,
}

/// A disk that holds the case's file, looked at once.
pub(crate) fn disk_of(path: &str, file: &str) -> Disk {
    let mut disk = Disk::default();
    let path = RelPath::from_normalised(path);
    disk.put(path, DiskEntry::File(file.to_owned()));
    disk
}

impl<'c> TrialStart<'c> {
    /// Plays the paste.
    ///
    /// # Errors
    /// Why the function isn't true after it.
    pub(crate) fn new(case: &'c Case, disk: Disk) -> Result<Self, String> {
        let path = &case.path;
        Self::asking(case, disk, &|name| {
            format!("Please change `{name}` in {path} for me.")
        })
    }

    /// The same with another prompt about the function of this name.
    ///
    /// # Errors
    /// Why the function isn't true after the paste.
    pub(crate) fn asking(
        case: &'c Case,
        disk: Disk,
        prompt: &dyn Fn(&str) -> String,
    ) -> Result<Self, String> {
        let path = RelPath::from_normalised(&case.path);
        let extraction =
            extraction_of(&path, case.shown.as_bytes()).ok_or("the text can't be parsed")?;
        let definitions = definitions_of(case, &extraction)?;
        let symbol = definitions[0].symbol.clone();
        let namesakes = definitions.len() - 1;
        let damaged = (!extraction.clean).then(|| damaged_in(&extraction));
        let mut stage = Stage::new(Policy::default());
        stage.set_disk(disk);
        let fence = case.tag();
        stage.step(Step::User(format!(
            "{}\n```{fence}\n{}```\nThis is how it stands.\n",
            case.path,
            whole_lines(&case.shown)
        )));
        stage.step(model(
            "I see.\n".into(),
            tslp_snapshots::script::Ending::Whole,
        ));
        let truth = truth(&stage, &path);
        if !truth.contains_key(&symbol) {
            return Err(format!("the paste isn't true: {}", refusal(stage.ledger())));
        }
        let unasked = stage.fork();
        stage.step(Step::User(format!("{}\n", prompt(symbol.as_str()))));
        Ok(Self {
            case,
            unasked,
            stage,
            path,
            symbol,
            truth,
            damaged,
            namesakes,
        })
    }

    /// Plays an edit's reply on a fork: what became of it, and the row that it counts in; `None` if the format can't
    /// say it.
    pub(crate) fn play(
        &self,
        edit: &Edit,
        format: Format,
        replay: ReplayCheck,
    ) -> Option<(&'static str, Verdict)> {
        // What was shown without its namespace or class has none to lose.
        if edit.kind == "qualification lost" && !self.symbol.as_str().contains("::") {
            return None;
        }
        let rendered = rendered(self.case, edit, format)?;
        // A name in the prompt would allow it.
        let mut stage = match UNASKED.contains(&edit.kind) {
            true => self.unasked.fork(),
            false => self.stage.fork(),
        };
        if UNASKED.contains(&edit.kind) {
            stage.step(Step::User(format!("Clean up {}.\n", self.path)));
        }
        let before = stage.ledger().len();
        stage.step(model(rendered.text.clone(), rendered.ending));
        if replay == ReplayCheck::Check {
            stage.check_replay();
        }
        let kind = self.circumstance(edit, format, &stage.ledger()[before..]);
        let verdict = self.verdict(&stage, before, edit, &rendered);
        Some((kind.unwrap_or(edit.kind), verdict))
    }

    /// What decides about an edit apart from what it does.
    fn circumstance(
        &self,
        edit: &Edit,
        format: Format,
        events: &[Recorded],
    ) -> Option<&'static str> {
        let is_alone = format == Format::Function;
        match edit.worth {
            Worth::Faithful if self.damaged.is_some() && !is_alone => Some(WITH_ERRORS),
            Worth::Faithful if self.namesakes > 0 && is_alone => Some(ONE_OF_SEVERAL),
            Worth::Damaging if self.namesakes > 0 => Some(ONE_OF_SEVERAL),
            Worth::Damaging if edit.kind == MERGED && is_read_as_fragment(events) => {
                Some(MERGED_AS_FRAGMENT)
            }
            _ => None,
        }
    }

    fn verdict(
        &self,
        stage: &Stage,
        before: usize,
        edit: &Edit,
        rendered: &RenderedReply,
    ) -> Verdict {
        let events = &stage.ledger()[before..];
        let is_promoted = events.iter().any(|recorded| {
            matches!(&recorded.event, Event::Transitioned(moved) if moved.transition == Transition::Promote)
        });
        let refused = events
            .iter()
            .any(|recorded| matches!(recorded.event, Event::PromotionRefused(_)));
        let unlinked = events.iter().any(|recorded| {
            matches!(&recorded.event, Event::ArtifactResolved(resolved) if resolved.level != Level::Confirmed)
        });
        let captured = events
            .iter()
            .any(|recorded| matches!(recorded.event, Event::ArtifactCaptured(_)));
        let now = truth(stage, &self.path);
        match (is_promoted, refused || unlinked || !captured) {
            (true, _) if edit.worth == Worth::Damaging => {
                if self.is_only_what_was_shown(&now, rendered) {
                    Verdict::Unchanged
                } else {
                    Verdict::Promoted
                }
            }
            (true, _) if now == self.expected(edit, rendered) => Verdict::Promoted,
            (true, _) => Verdict::Misfiled,
            (false, true) => Verdict::Refused(refusal(events)),
            (false, false) => Verdict::Unchanged,
        }
    }

    /// Whether everything that became true of the file is in the user's own text word for word: where a parse
    /// error hid a function from the paste, a reply that lacks the error can bring it to light.
    fn is_only_what_was_shown(
        &self,
        now: &BTreeMap<Symbol, SliceHash>,
        rendered: &RenderedReply,
    ) -> bool {
        let code = rendered.code.as_deref().unwrap_or_default();
        let Some(extraction) = extraction_of(&self.path, code.as_bytes()) else {
            return false;
        };
        let is_new = |symbol: &&Symbol| now.get(symbol) != self.truth.get(symbol);
        let mut new = now.keys().filter(is_new).peekable();
        new.peek().is_some()
            && new.all(|symbol| {
                let mut own = extraction
                    .definitions
                    .iter()
                    .filter(|it| it.symbol == *symbol);
                own.all(|definition| {
                    let text = definition.span.of(code.as_bytes());
                    self.case.shown.contains(&*String::from_utf8_lossy(text))
                })
            })
    }

    /// What should be true after a faithful reply: what it defines, and all else as it was.
    fn expected(&self, edit: &Edit, rendered: &RenderedReply) -> BTreeMap<Symbol, SliceHash> {
        let mut expected = self.truth.clone();
        // Of several definitions one is replaced, and the others stay where they are.
        let code = match self.namesakes {
            0 => rendered.code.as_ref().unwrap_or(&edit.text),
            _ => &edit.text,
        };
        if let Some(extraction) = extraction_of(&self.path, code.as_bytes()) {
            let slices = extraction.slices(code.as_bytes());
            if !slices.contains_key(&self.symbol) {
                return BTreeMap::new();
            }
            let slices = slices.into_iter();
            expected.extend(slices.map(|(symbol, slice)| (symbol.clone(), slice)));
        }
        expected
    }
}

/// Whether a trial's events are replayed by every road.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplayCheck {
    Check,
    Skip,
}

fn model(text: String, ending: tslp_snapshots::script::Ending) -> Step {
    Step::Model { text, ending }
}

fn whole_lines(text: &str) -> String {
    let mut text = text.to_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The case's function as the engine's grammar sees it, and what else bears its name.
fn definitions_of<'e>(
    case: &Case,
    extraction: &'e Extraction,
) -> Result<Vec<&'e Definition>, String> {
    let open = u32::try_from(case.function.open).unwrap_or(u32::MAX);
    let around = extraction.definitions.iter().rev().find(|definition| {
        definition.span.start <= open
            && open < definition.span.end
            && definition.symbol.last_component() == case.function.last_name()
    });
    let own = around.ok_or("the grammar finds no such definition")?;
    if own.damaged {
        return Err("a parse error lies in the definition".into());
    }
    let namesakes = extraction
        .definitions
        .iter()
        .filter(|other| other.symbol == own.symbol && other.span != own.span);
    Ok([own].into_iter().chain(namesakes).collect())
}

fn is_read_as_fragment(events: &[Recorded]) -> bool {
    events.iter().any(|recorded| {
        matches!(&recorded.event, Event::ArtifactResolved(resolved) if resolved.extent == Extent::Fragment)
    })
}

fn damaged_in(extraction: &Extraction) -> Vec<String> {
    let definitions = extraction.definitions.iter();
    let damaged = definitions.filter(|definition| definition.damaged);
    damaged
        .map(|definition| definition.symbol.as_str().to_owned())
        .collect()
}

/// Every symbol of a file that is true.
fn truth(stage: &Stage, path: &RelPath) -> BTreeMap<Symbol, SliceHash> {
    let view = stage.view();
    view.state
        .state_map()
        .symbols_of(path)
        .into_iter()
        .filter_map(|symbol| {
            let entity = EntityId::symbol(path.clone(), symbol.clone());
            Some((symbol, view.current_version(&entity)?.slice))
        })
        .collect()
}

/// The rule that kept code out: of several versions, the one that failed by itself.
pub(crate) fn refusal(events: &[Recorded]) -> String {
    let mut reasons: Vec<String> = Vec::new();
    for recorded in events {
        match &recorded.event {
            Event::PromotionRefused(refused) => {
                let conclusion = refused.report.conclusion;
                reasons.extend(conclusion.map(|reason| reason.code().to_owned()));
            }
            Event::ArtifactResolved(resolved) if resolved.level != Level::Confirmed => {
                reasons.push(resolved.reason.code().to_owned());
            }
            _ => {}
        }
    }
    reasons.dedup();
    if reasons.is_empty() {
        "nothing captured".to_owned()
    } else {
        reasons.join(" + ")
    }
}
