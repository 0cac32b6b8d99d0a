//! `tslp undo`: a patch that takes files back to what was true of them before the model changed them. It prints, and never writes.

mod patch;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use tslp_core::artifact::{Origin, Version};
use tslp_core::entity::EntityId;
use tslp_core::event::{ArtifactCaptured, DiskFinding, DiskObserved, Event, EventKind, Format};
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::{CaptureId, EpisodeId, Seq};
use tslp_core::path::RelPath;
use tslp_core::redact;
use tslp_core::slice::{self, Span};
use tslp_decide::judge::found_code;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::stale::{DiskDifference, StaleRow};
use tslp_projections::state::State;
use tslp_store::ledger::{LedgerError, LedgerReader};

/// Events after which a fold lets go of what it needs no more.
const SETTLE_EVENTS: u64 = 4096;

/// What is to be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UndoWish {
    /// What the last reply with code has changed.
    LastReply,
    /// What this episode's reply and all later ones have changed.
    Since(EpisodeId),
    /// What the last reply with code for this file has changed in it; where the file holds a refused change, that and all later ones.
    File(RelPath),
}

/// What taking back comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undo {
    /// The first episode that is taken back; `None` if there is nothing to take back.
    pub since: Option<EpisodeId>,
    /// The patch; empty if every file is as it was.
    pub patch: Vec<u8>,
    /// Files that the patch changes.
    pub files: Vec<RelPath>,
    /// Files that can't be taken back, and why.
    pub left: Vec<(RelPath, String)>,
}

/// Makes the patch.
///
/// # Errors
/// When the ledger can't be read.
pub fn undo(reader: &LedgerReader, workspace: &Path, wish: &UndoWish) -> Result<Undo, LedgerError> {
    let Some(since) = first_episode(reader, wish)? else {
        return Ok(Undo::default());
    };
    let only = match wish {
        UndoWish::File(path) => Some(path),
        UndoWish::LastReply | UndoWish::Since(_) => None,
    };
    let mut undo = Undo {
        since: Some(since),
        ..Undo::default()
    };
    for (path, before) in files_before(reader, since, only)? {
        match take_back(reader, workspace, &path, &before) {
            Ok(None) => {}
            Ok(Some(patch)) => {
                undo.patch.extend(patch);
                undo.files.push(path);
            }
            Err(why) => undo.left.push((path, why)),
        }
    }
    Ok(undo)
}

/// The first episode to take back.
fn first_episode(reader: &LedgerReader, wish: &UndoWish) -> Result<Option<EpisodeId>, LedgerError> {
    match wish {
        UndoWish::Since(episode) => return Ok(Some(*episode)),
        UndoWish::File(path) => {
            if let Some(refused) = first_refused(reader, path)? {
                return Ok(Some(refused));
            }
        }
        UndoWish::LastReply => {}
    }
    let mut found = None;
    let kinds = [EventKind::ArtifactCaptured, EventKind::DiskObserved];
    let is_wanted = |path: Option<&RelPath>| match wish {
        UndoWish::File(wanted) => path == Some(wanted),
        UndoWish::Since(_) | UndoWish::LastReply => true,
    };
    reader.read_back(&kinds, Seq(1)..=Seq(u64::MAX), &mut |_, episode, event| {
        found = match &event {
            Event::ArtifactCaptured(captured) if is_wanted(captured.path.as_ref()) => {
                is_of_reply(captured).then_some(episode)
            }
            Event::DiskObserved(observed) if is_wanted(Some(&observed.path)) => caller_of(observed),
            _ => None,
        };
        match found {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    })?;
    Ok(found)
}

/// The episode of the first refusal since which a file holds the model's refused change of something: whoever goes back to a later text
/// goes back to that change.
fn first_refused(reader: &LedgerReader, path: &RelPath) -> Result<Option<EpisodeId>, LedgerError> {
    let mut held: BTreeMap<EntityId, Seq> = BTreeMap::new();
    reader.visit_rows_from(path.as_str(), &mut |row: StaleRow| {
        if row.entity.path != *path {
            return ControlFlow::Break(());
        }
        if row.disk_holds == DiskDifference::Refused {
            held.insert(row.entity, Seq(0));
        }
        ControlFlow::Continue(())
    })?;
    for (entity, since) in &mut held {
        let current = reader.true_entity(entity)?;
        *since = current.map_or(Seq(0), |row| row.seq);
    }
    let Some(from) = held.values().min() else {
        return Ok(None);
    };
    // What a prompt found of a file is refused with the prompt, and a reply before it has made the call.
    let (mut first, mut caller) = (None, None);
    reader.read_without(
        &[EventKind::Content],
        *from,
        &mut |stored, event| match &event {
            Event::DiskObserved(observed) if observed.path == *path => caller = caller_of(observed),
            Event::PromptComposed(_) => caller = None,
            Event::PromotionRefused(refused)
                if held
                    .get(&refused.entity)
                    .is_some_and(|since| stored.seq > *since) =>
            {
                first.get_or_insert(caller.unwrap_or(stored.episode));
            }
            _ => {}
        },
    )?;
    Ok(first)
}

/// Whether a reply brought this, and not a later look at the file that holds it.
fn is_of_reply(captured: &ArtifactCaptured) -> bool {
    captured.origin != Origin::User && captured.format != Format::Disk
}

/// The reply whose call has made what a look found, if it wasn't the user.
fn caller_of(observed: &DiskObserved) -> Option<EpisodeId> {
    let author = observed.author;
    (author.origin != Origin::User).then_some(author.reply)
}

/// What was on record of a file just before a reply's code for it.
#[derive(Default)]
struct FileBefore {
    /// The true versions of what is in it, and whether one is the whole file.
    true_slices: Vec<(EntityId, SliceHash, ArtifactHash, Vec<Span>)>,
    /// Texts that were once the whole file, the latest first.
    wholes: Vec<(ArtifactHash, Vec<Span>)>,
    /// Everything that was recorded with its path, the latest last: what clients showed of it, too.
    recorded: Vec<ArtifactHash>,
    /// What disk held.
    finding: Option<DiskFinding>,
    /// The episode of that reply.
    since: EpisodeId,
    /// What calls have made of it last, if no reply brought its code: what it holds now is taken back only if it is that.
    by_calls: Option<DiskFinding>,
}

/// Whether a file held a version.
fn holds(finding: &DiskFinding, version: &Version) -> bool {
    match (finding, &version.entity.symbol) {
        (DiskFinding::File(file), None) => file.whole == version.slice,
        (DiskFinding::File(file), Some(symbol)) => {
            let mut slices = file.slices.iter();
            slices.any(|it| it.symbol == *symbol && it.slice == Some(version.slice))
        }
        _ => false,
    }
}

/// Files that the model wrote code for since an episode, as they were before the first of that.
fn files_before(
    reader: &LedgerReader,
    since: EpisodeId,
    only: Option<&RelPath>,
) -> Result<BTreeMap<RelPath, FileBefore>, LedgerError> {
    let mut state = State::default();
    let mut files: BTreeMap<RelPath, FileBefore> = BTreeMap::new();
    let mut of_model: BTreeSet<CaptureId> = BTreeSet::new();
    let mut texts: BTreeMap<RelPath, Vec<ArtifactHash>> = BTreeMap::new();
    // What was last found of files before their prompt went out: a client may write before the reply is over.
    let mut at_prompt: BTreeMap<RelPath, DiskFinding> = BTreeMap::new();
    let mut sent = EpisodeId::OUTSIDE;
    reader.read_events(Seq(1), &mut |recorded| {
        if recorded.episode >= since {
            let mut paths = Vec::new();
            match &recorded.event {
                Event::ArtifactCaptured(captured) if is_of_reply(captured) => {
                    of_model.insert(captured.capture);
                    paths.extend(captured.path.clone());
                }
                Event::ArtifactResolved(resolved) if of_model.remove(&resolved.capture) => {
                    let versions = resolved.versions.iter();
                    paths.extend(versions.map(|version| version.entity.path.clone()));
                }
                _ => {}
            }
            for path in paths {
                if let Some(before) = files.get_mut(&path) {
                    before.by_calls = None;
                }
                if only.is_none_or(|only| *only == path) {
                    let texts = texts.get(&path);
                    let before = || FileBefore::of(&state, &path, texts, recorded.episode);
                    files.entry(path.clone()).or_insert_with(before);
                }
            }
        }
        if let Event::DiskObserved(observed) = &recorded.event
            && only.is_none_or(|only| *only == observed.path)
            && caller_of(observed).is_some_and(|caller| caller >= since)
        {
            let texts = texts.get(&observed.path);
            let file = files.entry(observed.path.clone());
            let before = file.or_insert_with(|| FileBefore {
                by_calls: Some(observed.finding.clone()),
                ..FileBefore::of(&state, &observed.path, texts, observed.author.reply)
            });
            if let Some(made) = &mut before.by_calls {
                *made = observed.finding.clone();
            }
        }
        match &recorded.event {
            Event::ArtifactResolved(resolved) => {
                // A file that is like a reply in parts may be the user's, with other parts.
                let mut whole = resolved.versions.iter();
                let whole = whole.find(|it| it.entity.symbol.is_none());
                let told = whole.map_or(&resolved.versions[..], core::slice::from_ref);
                for version in told {
                    let path = &version.entity.path;
                    if let (Some(before), Some(prior)) = (files.get_mut(path), at_prompt.get(path))
                        && before.since == recorded.episode
                        && before.finding.as_ref().is_some_and(|it| holds(it, version))
                        && !holds(prior, version)
                    {
                        before.finding = Some(prior.clone());
                    }
                }
            }
            Event::PromptSent(_) => {
                at_prompt.clear();
                sent = recorded.episode;
            }
            Event::DiskObserved(observed) if recorded.episode == sent => {
                let known = state.state_map().disk_finding_in_full(&observed.path);
                if let Some(known) = known {
                    at_prompt.entry(observed.path.clone()).or_insert(known);
                }
            }
            _ => {}
        }
        if let Event::ArtifactCaptured(captured) = &recorded.event
            && let Some(path) = &captured.path
        {
            let of_path = texts.entry(path.clone()).or_default();
            of_path.push(captured.artifact);
        }
        state.apply(recorded);
        if recorded.seq.0.is_multiple_of(SETTLE_EVENTS) {
            state.rows_made_durable(recorded.seq);
        }
    })?;
    Ok(files)
}

impl FileBefore {
    fn of(
        state: &State,
        path: &RelPath,
        texts: Option<&Vec<ArtifactHash>>,
        since: EpisodeId,
    ) -> Self {
        let map = state.state_map();
        let file = EntityId::file(path.clone());
        let parts = map.entities_in(path).into_iter();
        let current = parts.chain([file.clone()]).filter_map(|entity| {
            let current = map.current(&entity)?;
            Some((entity, current.slice, current.artifact, current.spans))
        });
        let mut wholes = Vec::new();
        wholes.extend(map.current(&file).map(|it| (it.artifact, it.spans)));
        let former = map.former_versions(&file).iter().rev();
        wholes.extend(former.map(|it| (it.artifact, it.spans.clone())));
        Self {
            true_slices: current.collect(),
            wholes,
            finding: map.disk_finding_in_full(path),
            recorded: texts.cloned().unwrap_or_default(),
            since,
            by_calls: None,
        }
    }
}

/// The patch for one file; `None` if it is as it was. Errors are for people.
fn take_back(
    reader: &LedgerReader,
    workspace: &Path,
    path: &RelPath,
    before: &FileBefore,
) -> Result<Option<Vec<u8>>, String> {
    let now = match std::fs::read(workspace.join(path.as_str())) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(format!("it can't be read: {error}")),
    };
    let is_as_made = match (&before.by_calls, &now) {
        (None, _) | (Some(DiskFinding::Missing), None) => true,
        (Some(DiskFinding::File(file)), Some(now)) => {
            slice::hash_of_whole(&redact::recordable(now)) == file.whole
        }
        _ => false,
    };
    if !is_as_made {
        return Err("it was changed after the agent's call".to_owned());
    }
    let was_missing = match &before.finding {
        Some(DiskFinding::Missing) => true,
        None => before.true_slices.is_empty(),
        Some(_) => false,
    };
    let then = if was_missing {
        None
    } else {
        let recordable = now.as_deref().map(redact::recordable);
        let then = text_before(reader, path, before, recordable.as_deref())?;
        Some(with_credentials(then, now.as_deref())?)
    };
    if now == then {
        return Ok(None);
    }
    Ok(Some(patch::file_patch(
        path.as_str(),
        now.as_deref(),
        then.as_deref(),
    )))
}

/// The text with the credentials that its file holds now: none is on record.
fn with_credentials(then: Vec<u8>, now: Option<&[u8]>) -> Result<Vec<u8>, String> {
    let text =
        String::from_utf8(then).map_err(|_| "what its file held before isn't UTF-8".to_owned())?;
    let now = std::str::from_utf8(now.unwrap_or_default())
        .map_err(|_| "it isn't UTF-8, and the patch would be".to_owned())?;
    let restored = redact::with_credentials_of(&text, now);
    let restored = restored.map(String::into_bytes);
    restored.ok_or_else(|| {
        "it held a credential that it doesn't hold any more, and none is on record".to_owned()
    })
}

/// The file's bytes as they were: a text on record, or one that the true definitions are put into, which is what disk held.
fn text_before(
    reader: &LedgerReader,
    path: &RelPath,
    before: &FileBefore,
    now: Option<&[u8]>,
) -> Result<Vec<u8>, String> {
    let stored = |artifact: ArtifactHash, spans: &[Span]| {
        let bytes = reader.artifact(artifact).ok().flatten()?;
        let is_whole = spans.iter().all(|span| span.end as usize <= bytes.len());
        is_whole.then(|| slice::joined(&bytes, spans))
    };
    let disk = match &before.finding {
        Some(DiskFinding::File(file)) => Some(file.whole),
        _ => None,
    };
    let is_it = |text: &Vec<u8>| disk.is_none_or(|disk| slice::hash_of_whole(text) == disk);
    if disk.is_some() {
        // The latest first: a fingerprint doesn't tell texts apart that differ in spaces at the ends of lines.
        let recorded = before.recorded.iter().rev();
        let mut texts = recorded.filter_map(|artifact| reader.artifact(*artifact).ok().flatten());
        if let Some(text) = texts.find(is_it) {
            return Ok(text);
        }
    }
    let wholes = before
        .wholes
        .iter()
        .filter_map(|(artifact, spans)| stored(*artifact, spans));
    let wholes: Vec<Vec<u8>> = wholes.collect();
    let has_true_whole = before.true_slices.iter().any(|it| it.0.symbol.is_none());
    if let Some(text) = wholes.iter().find(|text| is_it(text))
        && (disk.is_some() || has_true_whole)
    {
        return Ok(text.clone());
    }
    let truth: BTreeMap<EntityId, (SliceHash, Vec<u8>)> = before
        .true_slices
        .iter()
        .filter(|it| it.0.symbol.is_some())
        .filter_map(|(entity, slice, artifact, spans)| {
            Some((entity.clone(), (*slice, stored(*artifact, spans)?)))
        })
        .collect();
    let bases = wholes.iter().map(Vec::as_slice).chain(now);
    let mut rebuilt = bases.filter_map(|base| with_definitions(path, base, &truth));
    rebuilt.find(is_it).ok_or_else(|| {
        "what its file held before isn't on record: it was changed by other means than the model's edits".to_owned()
    })
}

/// A text with these definitions in the place of those of the same names.
fn with_definitions(
    path: &RelPath,
    base: &[u8],
    truth: &BTreeMap<EntityId, (SliceHash, Vec<u8>)>,
) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(base).ok()?;
    let found = found_code::code_of_file(&TreeSitterGrammars, path.clone(), text);
    let extraction = found.extraction.as_ref().ok()?;
    let hashes = extraction.slices(base);
    let mut made = Vec::new();
    let mut from = 0;
    for definition in &extraction.definitions {
        let Span { start, end } = definition.span;
        let (start, end) = (start as usize, end as usize);
        let entity = EntityId::symbol(path.clone(), definition.symbol.clone());
        let known = truth.get(&entity);
        let differs = known.filter(|(hash, _)| hashes.get(&definition.symbol) != Some(hash));
        if let Some((_, code)) = differs.filter(|_| start >= from) {
            made.extend_from_slice(&base[from..start]);
            made.extend_from_slice(code);
            from = end;
        }
    }
    made.extend_from_slice(&base[from..]);
    Some(made)
}
