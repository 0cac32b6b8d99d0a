//! Resolution: which entities a block of code defines, and how surely (spec §4).

use alloc::collections::BTreeMap;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use tslp_projections::disk::LastFinding;
use tslp_projections::state::StateView;

use crate::judge::found_code::FoundCode;
use crate::judge::found_edit::FoundEdit;
use crate::judge::holders::Placed;
use crate::judge::namesakes::Namesake;
use crate::judge::similarity;
use crate::prompt::naming;
use tslp_core::artifact::{Level, Origin};
use tslp_core::capture::StatedExtent;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{Extent, PathEvidence};
use tslp_core::extract::{Definition, Extraction, Proof};
use tslp_core::gate::Thresholds;
use tslp_core::hash::SliceHash;
use tslp_core::limits::CORRELATION_NAMESAKES_MAX;
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_core::redact::MARKER;
use tslp_core::slice::{self, Figures, Span};

/// The entities that a block of code defines.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// The certainty of the link.
    pub level: Level,
    /// The rule that linked it, or why none did.
    pub reason: Reason,
    /// Whether the block is the whole file or a part of it.
    pub extent: Extent,
    /// The file that the entities belong to.
    pub path: Option<RelPath>,
    /// The entities that it defines: symbols in source order, then the file if the block is all of it.
    pub candidates: Vec<Candidate>,
    /// Symbols whose definition has a parse error inside; they are no candidates.
    pub damaged: Vec<Symbol>,
    /// The share of the true code's tokens that the block holds, in percent, if that linked it (spec §11).
    pub correlation: Option<(u8, u8)>,
}

/// One entity as the block defines it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The entity.
    pub entity: EntityId,
    /// Hash of its canonical form.
    pub slice: SliceHash,
    /// The ranges of its definitions in the block.
    pub spans: Vec<Span>,
    /// Its structure.
    pub figures: Figures,
    /// Its definitions, in source order; empty for a whole file.
    pub definitions: Vec<Namesake>,
}

impl Candidate {
    /// It at its places in the block.
    #[must_use]
    pub fn placed(&self) -> Placed<'_> {
        (&self.entity, &self.spans)
    }
}

impl Resolution {
    fn unresolved(reason: Reason) -> Self {
        Self {
            level: Level::Unresolved,
            reason,
            extent: Extent::Fragment,
            path: None,
            candidates: Vec::new(),
            damaged: Vec::new(),
            correlation: None,
        }
    }

    /// Names alone link nothing: `main` and `init` are in every file. The words of the true code have to be there as well.
    fn if_alike(self, view: &StateView<'_>, thresholds: Thresholds, found: &FoundCode) -> Self {
        if found.edit.is_some() {
            return self;
        }
        let (mut base, mut new) = (Vec::new(), Vec::new());
        for candidate in &self.candidates {
            let current = view.current_version(&candidate.entity);
            let text =
                current.and_then(|current| view.artifact_slices(current.artifact, &current.spans));
            if let Some(text) = text {
                base.extend(text);
                base.push(b'\n');
                new.extend(slice::joined(found.code.as_bytes(), &candidate.spans));
                new.push(b'\n');
            }
        }
        let shared = similarity::words_shared_percent(&base, &new);
        if shared < thresholds.correlation_percent {
            return Self::unresolved(Reason::NoEntity);
        }
        Self {
            correlation: Some((shared, thresholds.correlation_percent)),
            ..self
        }
    }

    /// What it is if the model hasn't seen all that it would replace: like known code, and not proved to belong to it.
    #[must_use]
    pub fn of_unseen_code(self) -> Self {
        Self {
            level: Level::Inferred,
            reason: Reason::CorrelatedWithOneFile,
            ..self
        }
    }

    /// An edit of a known file that doesn't apply: only evidence that the file was to change.
    fn unapplied_edit(found: &FoundCode, path: &RelPath, reason: Reason) -> Self {
        let whole = whole_file_candidate(found, path, Figures::default());
        Self {
            level: Level::Inferred,
            path: Some(path.clone()),
            candidates: Vec::from([whole]),
            ..Self::unresolved(reason)
        }
    }
}

/// Links a block to entities; `asked` is the prompt that a model's answers. `origin` matters only where the block doesn't say whether it is the whole file: then the
/// interpretation that removes less is taken (engine: "a pasted fragment tombstones nothing").
#[must_use]
pub fn resolve(
    view: &StateView<'_>,
    thresholds: Thresholds,
    found: &FoundCode,
    (origin, asked): (Origin, &str),
) -> Resolution {
    let path = match &found.path {
        Some(Err(reason)) => return Resolution::unresolved(*reason),
        Some(Ok(path)) => Some(path),
        None => None,
    };
    if let (
        Some(path),
        Some(FoundEdit {
            outcome: Err(reason),
            ..
        }),
    ) = (path, &found.edit)
    {
        let is_unread = matches!(found.extraction, Err(Reason::NoGrammar));
        if is_unread && !view.state.state_map().tracks(path) {
            return Resolution::unresolved(Reason::NoGrammar);
        }
        return Resolution::unapplied_edit(found, path, *reason);
    }
    let extraction = match &found.extraction {
        Ok(extraction) => extraction,
        Err(reason) if path.is_none() && *reason == Reason::NoGrammar => {
            return Resolution::unresolved(Reason::NoEntity);
        }
        Err(Reason::NoGrammar) => {
            let path = path.expect("code without a path has no entity");
            return resolve_by_bytes(view, found, path, origin);
        }
        Err(reason) => return Resolution::unresolved(*reason),
    };
    let (symbols, damaged) = by_symbol(extraction);
    // Of the user's code what parses counts. The model's passes or fails as a whole, except that errors which its base
    // already has are not its own (macros that a grammar can't read).
    let known_errors = found.broken_base.as_ref().map_or(0, |base| base.errors);
    let is_flawed = origin == Origin::Model && extraction.errors > known_errors;
    if is_flawed {
        return Resolution::unresolved(Reason::ParseErrors);
    }
    // A file that broke is known as disk holds it, though nothing of it can be read.
    let is_broken_file = || {
        let holds_it = |path: &RelPath| {
            view.state.state_map().tracks(path)
                && matches!(view.disk_finding(path), Some(LastFinding::File(disk)) if disk.whole == found.whole)
        };
        origin == Origin::User && !extraction.clean && path.is_some_and(holds_it)
    };
    if symbols.is_empty() && !is_broken_file() {
        let unresolved = Resolution::unresolved(match (damaged.is_empty(), path) {
            (false, _) => Reason::ParseErrors,
            (true, Some(_)) => Reason::NoDefinition,
            (true, None) => Reason::NoEntity,
        });
        return Resolution {
            damaged,
            ..unresolved
        };
    }
    let resolution = match path {
        Some(path) => {
            let resolution =
                resolve_by_path(view, found, extraction, &symbols, path, (origin, asked));
            match found.evidence {
                PathEvidence::Shown => resolution.if_alike(view, thresholds, found),
                _ => resolution,
            }
        }
        None => resolve_by_correlation(view, thresholds, found, &symbols),
    };
    if origin == Origin::Model && adds_credential(view, found, &resolution.candidates) {
        return Resolution::unresolved(Reason::CredentialRedacted);
    }
    debug_assert!(
        resolution.level != Level::Confirmed || resolution.path.is_some(),
        "what is CONFIRMED has a file"
    );
    debug_assert!(
        resolution.path.is_some() || resolution.candidates.is_empty(),
        "candidates are entities of the file"
    );
    Resolution {
        damaged,
        ..resolution
    }
}

/// Whether a line without its credential is in the code that isn't in what it replaces: nobody can tell what the line said.
fn adds_credential(view: &StateView<'_>, found: &FoundCode, candidates: &[Candidate]) -> bool {
    let lines = found.code.lines().map(str::trim);
    let mut redacted = lines.filter(|it| it.contains(MARKER)).peekable();
    if redacted.peek().is_none() {
        return false;
    }
    let current = candidates
        .iter()
        .filter_map(|it| view.current_version(&it.entity));
    let known = current.filter_map(|it| view.artifact_slices(it.artifact, &it.spans));
    let known: Vec<Vec<u8>> = known.collect();
    let is_known = |line: &str| {
        let mut lines = known
            .iter()
            .flat_map(|text| text.split(|byte| *byte == b'\n'));
        lines.any(|known| known.trim_ascii() == line.as_bytes())
    };
    redacted.any(|line| !is_known(line))
}

type DefinitionsBySymbol<'e> = BTreeMap<&'e Symbol, Vec<&'e Definition>>;

/// Sound definitions by symbol, and the symbols that have a definition with a parse error inside.
fn by_symbol(extraction: &Extraction) -> (DefinitionsBySymbol<'_>, Vec<Symbol>) {
    let symbols = extraction.sound_definitions();
    let all: BTreeSet<&Symbol> = extraction.definitions.iter().map(|it| &it.symbol).collect();
    let damaged = all.into_iter().filter(|it| !symbols.contains_key(it));
    let damaged = damaged.cloned().collect();
    (symbols, damaged)
}

fn resolve_by_path(
    view: &StateView<'_>,
    found: &FoundCode,
    extraction: &Extraction,
    symbols: &DefinitionsBySymbol<'_>,
    path: &RelPath,
    (origin, asked): (Origin, &str),
) -> Resolution {
    let mut candidates = symbol_candidates(found, symbols, path);
    let extent = match is_whole(
        view,
        found,
        extraction,
        (symbols, &candidates),
        path,
        (origin, asked),
    ) {
        true => Extent::WholeFile,
        false => Extent::Fragment,
    };
    if extent == Extent::WholeFile && is_proven_file(view, found, extraction, path) {
        candidates.push(whole_file_candidate(found, path, extraction.figures));
    }
    let (level, reason) = match extraction.weakest_proof() {
        Proof::PartialPattern => (Level::Inferred, Reason::PatternPartial),
        Proof::Pattern => (Level::Confirmed, Reason::PatternMatch),
        Proof::Ast | Proof::Exact => (Level::Confirmed, Reason::AstMatch),
    };
    let is_named = origin == Origin::User || found.evidence > PathEvidence::SentenceBefore;
    let is_applied = found.edit.is_some();
    Resolution {
        level: if is_named { level } else { Level::Inferred },
        reason: if is_applied && level == Level::Confirmed {
            Reason::EditApplied
        } else {
            reason
        },
        extent,
        path: Some(path.clone()),
        candidates,
        damaged: Vec::new(),
        correlation: None,
    }
}

/// A file that nothing can parse counts as a whole: as disk holds it, as an edit makes it that applies exactly to what is true, or
/// as the user pastes it where there is none. The model's other text for a file that is true waits until disk holds it.
fn resolve_by_bytes(
    view: &StateView<'_>,
    found: &FoundCode,
    path: &RelPath,
    origin: Origin,
) -> Resolution {
    let is_exact = match view.disk_finding(path) {
        Some(LastFinding::File(disk)) => disk.whole == found.whole,
        Some(LastFinding::Missing) | None => origin == Origin::User,
        Some(LastFinding::Unreadable(_)) => false,
    };
    let is_known = || {
        view.current_version(&EntityId::file(path.clone()))
            .is_some()
    };
    let (level, reason) = match &found.edit {
        // Nothing is true of it that the edit could be held against.
        Some(_) if !is_known() => (Level::Unresolved, Reason::NoGrammar),
        Some(_) => (Level::Confirmed, Reason::EditApplied),
        None if is_exact => (Level::Confirmed, Reason::ExactMatch),
        None if found.evidence > PathEvidence::SentenceBefore && is_known() => {
            (Level::Inferred, Reason::NoGrammar)
        }
        None => (Level::Unresolved, Reason::NoGrammar),
    };
    if level == Level::Unresolved || found.stated_extent == StatedExtent::Range {
        return Resolution::unresolved(Reason::NoGrammar);
    }
    // The nearest to nodes and tokens that such a text has.
    let figures = Figures {
        nodes: u32::try_from(found.code.lines().count()).unwrap_or(u32::MAX),
        tokens: u32::try_from(found.code.split_whitespace().count()).unwrap_or(u32::MAX),
    };
    Resolution {
        level,
        extent: Extent::WholeFile,
        path: Some(path.clone()),
        candidates: Vec::from([whole_file_candidate(found, path, figures)]),
        ..Resolution::unresolved(reason)
    }
}

fn whole_file_candidate(found: &FoundCode, path: &RelPath, figures: Figures) -> Candidate {
    Candidate {
        entity: EntityId::file(path.clone()),
        slice: found.whole,
        spans: Vec::from([Span {
            start: 0,
            end: u32::try_from(found.code.len()).unwrap_or(u32::MAX),
        }]),
        figures,
        definitions: Vec::new(),
    }
}

fn symbol_candidates(
    found: &FoundCode,
    symbols: &DefinitionsBySymbol<'_>,
    path: &RelPath,
) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = symbols
        .iter()
        .map(|(symbol, definitions)| {
            let spans: Vec<Span> = definitions
                .iter()
                .map(|definition| definition.span)
                .collect();
            let hashed = found.slices.get(*symbol).copied();
            Candidate {
                entity: EntityId::symbol(path.clone(), (*symbol).clone()),
                slice: hashed
                    .unwrap_or_else(|| slice::hash_of_spans(found.code.as_bytes(), &spans)),
                figures: total_figures(definitions.iter().map(|definition| definition.figures)),
                definitions: definitions
                    .iter()
                    .map(|definition| Namesake::of(definition))
                    .collect(),
                spans,
            }
        })
        .collect();
    candidates.sort_by_key(|candidate| candidate.spans[0].start);
    candidates
}

pub(crate) fn total_figures(figures: impl Iterator<Item = Figures>) -> Figures {
    figures.fold(Figures::default(), |sum, next| Figures {
        nodes: sum.nodes + next.nodes,
        tokens: sum.tokens + next.tokens,
    })
}

/// Whether the block is the whole file or a part of it, in the order of the evidence's strength: the block says so, it equals
/// the file on disk, or it defines most of the file's known symbols.
///
/// The last is a guess whose error costs differently by origin. A user's block that is wrongly taken for the whole file
/// removes the symbols that it leaves out, at once; so it must cover all that disk defines, or begin like a file and hold
/// most of what is known. A model's block that is wrongly taken for a fragment escapes the gates' check for lost symbols, and a
/// client may write it over the file; so where it names its file, a preamble, the file's first line, or most of the tracked
/// symbols is enough. No client writes what names no file.
fn is_whole(
    view: &StateView<'_>,
    found: &FoundCode,
    extraction: &Extraction,
    (symbols, candidates): (&DefinitionsBySymbol<'_>, &[Candidate]),
    path: &RelPath,
    (origin, asked): (Origin, &str),
) -> bool {
    match (found.stated_extent, view.disk_finding(path)) {
        (StatedExtent::Range, _) => false,
        (StatedExtent::Whole, _) => true,
        (StatedExtent::Unstated, Some(LastFinding::File(disk))) if disk.whole == found.whole => {
            true
        }
        (StatedExtent::Unstated, disk) => {
            let shares = KnownShares::count(view, extraction, symbols, path, disk);
            match origin {
                Origin::User => {
                    shares.covers_disk() || extraction.preamble && shares.covers_most_known()
                }
                // The only definition of a file by itself isn't the file.
                Origin::Model if found.evidence == PathEvidence::Shown => {
                    shares.covers_tracked()
                        && (extraction.preamble || begins_the_file(view, found, path))
                }
                Origin::Model | Origin::Unattributed => {
                    extraction.preamble
                        || shares.covers_most_tracked()
                        || !shares.covers_tracked()
                            && is_listing(found, &shares)
                            && begins_the_file(view, found, path)
                            && (changes_any(view, candidates)
                                || lacks_what_is_named(view, symbols, path, asked))
                }
            }
        }
    }
}

/// The shares of a file's known symbols that a block defines: of those that are tracked, and of those on disk.
struct KnownShares {
    tracked: usize,
    tracked_in_block: usize,
    on_disk: Option<usize>,
    disk_in_block: usize,
}

impl KnownShares {
    fn count(
        view: &StateView<'_>,
        extraction: &Extraction,
        symbols: &DefinitionsBySymbol<'_>,
        path: &RelPath,
        disk: Option<LastFinding<'_>>,
    ) -> Self {
        let tracked = outer_symbols(view.state.state_map().symbols_of(path));
        let top_level = extraction.top_level();
        let file = match disk {
            Some(LastFinding::File(file)) if file.grammar.is_some() => Some(file),
            _ => None,
        };
        Self {
            tracked_in_block: tracked
                .iter()
                .filter(|symbol| symbols.contains_key(symbol))
                .count(),
            tracked: tracked.len(),
            on_disk: file.map(|file| file.definitions as usize),
            disk_in_block: file.map_or(0, |_| {
                let held = |symbol: &Symbol| view.state.state_map().slice_on_disk(path, symbol);
                let top_level = top_level.iter();
                let on_disk = top_level.filter(|symbol| held(symbol).flatten().is_some());
                on_disk.count()
            }),
        }
    }

    /// The block defines all that the file on disk defines.
    fn covers_disk(&self) -> bool {
        self.on_disk
            .is_some_and(|on_disk| on_disk > 0 && self.disk_in_block >= on_disk)
    }

    fn covers_most_known(&self) -> bool {
        let most_of_disk = self
            .on_disk
            .is_none_or(|on_disk| 2 * self.disk_in_block > on_disk);
        most_of_disk && 2 * self.tracked_in_block >= self.tracked
    }

    fn covers_tracked(&self) -> bool {
        self.tracked_in_block == self.tracked
    }

    fn covers_most_tracked(&self) -> bool {
        self.tracked_in_block >= 2 && 2 * self.tracked_in_block > self.tracked
    }
}

/// Whether a block that begins like its file may list all of it: below a line with the path, as clients ask for whole files. In
/// another fence a file's first definition alone is what it seems.
fn is_listing(found: &FoundCode, shares: &KnownShares) -> bool {
    found.evidence == PathEvidence::LineBefore || shares.tracked_in_block > 1
}

/// Whether any of these isn't true as it is; otherwise they may be a quote.
fn changes_any(view: &StateView<'_>, candidates: &[Candidate]) -> bool {
    let is_true = |candidate: &Candidate| {
        let current = view.current_version(&candidate.entity);
        current.is_some_and(|current| current.slice == candidate.slice)
    };
    !candidates.iter().all(is_true)
}

/// Whether the block lacks definitions of the file, and the prompt names all of these.
fn lacks_what_is_named(
    view: &StateView<'_>,
    symbols: &DefinitionsBySymbol<'_>,
    path: &RelPath,
    asked: &str,
) -> bool {
    let tracked = view.state.state_map().symbols_of(path).into_iter();
    let gone = tracked.filter(|it| !symbols.contains_key(it));
    let mut gone = gone.map(|it| EntityId::symbol(path.clone(), it)).peekable();
    gone.peek().is_some() && gone.all(|it| naming::names(asked, &it))
}

/// Whether the block's first line is that of the file, as it was last known whole.
fn begins_the_file(view: &StateView<'_>, found: &FoundCode, path: &RelPath) -> bool {
    let (file, map) = (EntityId::file(path.clone()), view.state.state_map());
    let current = map.current(&file).map(|it| (it.artifact, it.spans));
    let known = current.or_else(|| {
        let former = map.former_versions(&file).last();
        former.map(|it| (it.artifact, it.spans.clone()))
    });
    let text = known.and_then(|(artifact, spans)| view.artifact_slices(artifact, &spans));
    let first_line = |text: &[u8]| {
        let mut lines = text
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::trim_ascii_end);
        lines.find(|line| !line.is_empty()).map(<[u8]>::to_vec)
    };
    text.is_some_and(|text| first_line(&text) == first_line(found.code.as_bytes()))
}

/// Symbols that aren't members of another one of them. `sorted` has each member after its owner.
fn outer_symbols(sorted: Vec<Symbol>) -> Vec<Symbol> {
    let mut outer: Vec<Symbol> = Vec::with_capacity(sorted.len());
    for symbol in sorted {
        let is_member = outer.last().is_some_and(|around| {
            let rest = symbol.as_str().strip_prefix(around.as_str());
            rest.is_some_and(|rest| rest.starts_with([':', '.', '#']))
        });
        if !is_member {
            outer.push(symbol);
        }
    }
    outer
}

/// Whether the block may become true as the file itself, not only as its definitions.
fn is_proven_file(
    view: &StateView<'_>,
    found: &FoundCode,
    extraction: &Extraction,
    path: &RelPath,
) -> bool {
    let equals_disk = matches!(view.disk_finding(path), Some(LastFinding::File(disk)) if disk.whole == found.whole);
    extraction.preamble
        || equals_disk
        || view
            .current_version(&EntityId::file(path.clone()))
            .is_some()
}

/// Without a path, code that defines symbols of exactly one tracked file, and shares most words with what is true
/// there, is INFERRED to belong to it (spec §4.1, §11).
fn resolve_by_correlation(
    view: &StateView<'_>,
    thresholds: Thresholds,
    found: &FoundCode,
    symbols: &DefinitionsBySymbol<'_>,
) -> Resolution {
    let map = view.state.state_map();
    let mut has_namesake = false;
    let mut files: BTreeSet<RelPath> = BTreeSet::new();
    for symbol in symbols.keys() {
        let named = map.entities_named(symbol.last_component(), CORRELATION_NAMESAKES_MAX);
        for entity in named {
            if !found.files_in_unrelated_languages.contains(&entity.path) {
                has_namesake = true;
                if entity.symbol.as_ref() == Some(*symbol) {
                    files.insert(entity.path);
                }
            }
        }
    }
    let mut files = files.into_iter();
    let (Some(path), None) = (files.next(), files.next()) else {
        return Resolution::unresolved(match has_namesake {
            true => Reason::SeveralCandidates,
            false => Reason::NoEntity,
        });
    };
    let mut candidates = symbol_candidates(found, symbols, &path);
    let any_will_do = thresholds.correlation_percent == 0;
    candidates.retain(|it| any_will_do || view.current_version(&it.entity).is_some());
    let linked = Resolution {
        level: Level::Inferred,
        path: Some(path),
        candidates,
        ..Resolution::unresolved(Reason::CorrelatedWithOneFile)
    };
    linked.if_alike(view, thresholds, found)
}
