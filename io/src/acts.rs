//! What the user has done from a terminal: accept, confirm, reject, and what concerns tools. The same code does it in a running
//! proxy, which is asked through the [door](crate::door), and in a process of its own while none runs.

use std::borrow::Cow;
use std::iter;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tslp_core::artifact::Transition;
use tslp_core::directive::Directive;
use tslp_core::event::{Event, ReadFailure, Verb};
use tslp_core::goal::{GoalChange, parse_goal};
use tslp_core::ids::{SessionId, UnixMillis};
use tslp_core::reason::{Reason, ReasonClass};
use tslp_core::record;
use tslp_decide::wording::notice::why_in;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::state::State;
use tslp_projections::store::{EmptyStore, Store};
use tslp_replay::engine::Engine;
use tslp_replay::pending::{Batch, DiskAnswers};
use tslp_store::content_cache::ContentCache;
use tslp_store::ledger::{DataFiles, OpenOptions};
use tslp_store::project;
use tslp_store::startup::{self, StartError};
use tslp_tools::guardian::profile_file;
use tslp_workspace::observer::{Observer, SystemClock, WallClock, WorkspaceObserver};
use tslp_workspace::target::{self, NamedTarget, TargetError};

use crate::config::settings::Settings;
use crate::engine::new_engine;

/// An act, with paths as directives name them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// What a directive says, too.
    Directive(DirectiveAct),
    /// Another model's answer is judged.
    ImportReply {
        /// Whose answer it is.
        source: String,
        /// The answer.
        text: String,
    },
    /// A policy profile is put in force.
    ApprovePolicy {
        /// The profile's text.
        text: String,
    },
}

/// One directive for each target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectiveAct {
    /// What is to be done.
    pub verb: Verb,
    /// With what: none is one that is empty.
    pub targets: Vec<String>,
    /// In which conversation: `None` is all, or that of the last prompt where it must be one.
    pub session: Option<SessionId>,
}

impl DirectiveAct {
    /// In all conversations, or in that of the last prompt.
    #[must_use]
    pub fn of(verb: Verb, targets: Vec<String>) -> Self {
        Self {
            verb,
            targets,
            session: None,
        }
    }
}

/// What came of an act for one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActResult {
    /// The target, as it was written.
    pub target: String,
    /// A stable snake_case word.
    pub outcome: String,
    /// The outcome, for people.
    pub words: String,
    /// Whether it is now as the user wants it.
    #[serde(rename = "done")]
    pub is_done: bool,
}

impl ActResult {
    fn new(target: &str, outcome: &str, words: impl Into<String>, is_done: bool) -> Self {
        Self {
            target: target.to_owned(),
            outcome: outcome.to_owned(),
            words: words.into(),
            is_done,
        }
    }
}

/// Makes an act's decisions, one for each target; they count once the batch is durable.
pub fn decide_act<S: Store>(
    engine: &mut Engine<TreeSitterGrammars, S>,
    observer: &mut dyn WorkspaceObserver,
    at: UnixMillis,
    act: &Act,
) -> (Vec<ActResult>, Option<Batch>) {
    let act = match act {
        Act::Directive(directive) => directive,
        Act::ApprovePolicy { text } => return approve_policy(engine, at, text),
        Act::ImportReply { source, text } => {
            return import_reply(engine, observer, at, (source, text));
        }
    };
    let sessions = match sessions_of(engine.state(), act) {
        Ok(sessions) => sessions,
        Err(refused) => return (Vec::from([refused]), None),
    };
    let none = [String::new()];
    let targets = match &act.targets[..] {
        [] => &none[..],
        targets => targets,
    };
    let mut results: Vec<ActResult> = Vec::new();
    let mut done: Option<Batch> = None;
    for session in &sessions {
        for target in targets {
            let directive = Directive {
                verb: act.verb,
                target: target.clone(),
            };
            let (result, batch) = decide_directive(engine, observer, at, *session, directive);
            results.push(result);
            done = Some(match done {
                Some(before) => before.merged_with(batch),
                None => batch,
            });
        }
    }
    if sessions.len() > 1 {
        results.dedup();
    }
    (results, done)
}

/// The conversations that an act is for, each of which is decided on.
fn sessions_of(state: &State, act: &DirectiveAct) -> Result<Vec<SessionId>, ActResult> {
    let named = || act.session.or_else(|| state.current_session());
    let missing = |target: &str, words: String| ActResult::new(target, "no_session", words, false);
    Ok(match act.verb {
        Verb::Allow | Verb::Revoke => {
            let words = "there is no conversation yet that tools could work in";
            let grant = act.targets.first().map_or("", String::as_str);
            let session = named().ok_or_else(|| missing(grant, words.to_owned()))?;
            vec![session]
        }
        Verb::Clear => {
            let known = named().filter(|session| state.sessions().contains(*session));
            let words = || match act.session {
                Some(unknown) => {
                    format!("there is no conversation {unknown} that could be cleared")
                }
                None => "there is no conversation yet that could be cleared".to_owned(),
            };
            vec![known.ok_or_else(|| missing("", words()))?]
        }
        Verb::Resume => {
            // A session may have been halted for a reason of its own; first all, because nothing is resumed before a breach is lifted.
            let halted = state
                .guardian()
                .halted_sessions()
                .map(|(session, _)| session);
            let halted = halted.filter(|session| *session != ALL_SESSIONS);
            iter::once(ALL_SESSIONS).chain(halted).collect()
        }
        _ => vec![act.session.unwrap_or(ALL_SESSIONS)],
    })
}

/// Judges another model's answer as one of a model's: it is one of the last conversation's.
fn import_reply<S: Store>(
    engine: &mut Engine<TreeSitterGrammars, S>,
    observer: &mut dyn WorkspaceObserver,
    at: UnixMillis,
    (source, text): (&str, &str),
) -> (Vec<ActResult>, Option<Batch>) {
    let session = engine.state().current_session().unwrap_or(ALL_SESSIONS);
    let pending = engine.receive_import(at, session, (source, text));
    let findings = observer.check(pending.checks.clone());
    let paths = pending.checks.iter().map(|check| check.path.clone());
    let answers = DiskAnswers {
        findings: paths.zip(findings).collect(),
        ..DiskAnswers::default()
    };
    let batch = engine.judge(pending, answers).batch;
    let mut results: Vec<ActResult> = Vec::new();
    for recorded in &batch.recorded {
        let of_record = match &recorded.event {
            Event::RecordChanged(record) => Some((format!("#{}", record.key), record.cause)),
            Event::NoticeIssued(notice) => {
                let about = notice.entity.as_ref().map(ToString::to_string);
                about.map(|about| (about, notice.reason))
            }
            _ => None,
        };
        if let Some((about, reason)) = of_record.filter(|(about, _)| about.starts_with('#')) {
            let mut words = answer_words(Verb::Note, &about, reason);
            // A model reads the answer, and what acts is the user's to say.
            let act = words.find("tslp accept");
            let clause = act.and_then(|at| words[..at].rfind([';', ':']));
            if let Some(at) = clause.filter(|_| source == record::MCP_SOURCE) {
                words = String::from(&words[..at]).into();
            }
            let is_done = reason.is(ReasonClass::Done);
            results.push(ActResult::new(&about, reason.code(), words, is_done));
        }
        let (entity, reason, is_done) = match &recorded.event {
            Event::Transitioned(moved) if moved.transition == Transition::Promote => {
                (&moved.entity, moved.cause, true)
            }
            Event::PromotionRefused(refused) => {
                let reason = refused.report.conclusion.unwrap_or(Reason::GrantMissing);
                (&refused.entity, reason, false)
            }
            _ => continue,
        };
        let words = match is_done {
            true => "true now".to_owned(),
            false => format!("waits, {}: `tslp why {entity}` says more", reason.meaning()),
        };
        results.push(ActResult::new(
            &entity.to_string(),
            reason.code(),
            words,
            is_done,
        ));
    }
    if results.is_empty() {
        let words = match source {
            record::MCP_SOURCE => answer_words(Verb::Note, "", Reason::NothingToDo).into_owned(),
            _ => format!(
                "the answer of {source} is on record; no code in it belongs to a known file"
            ),
        };
        results.push(ActResult::new("", "nothing_to_judge", words, true));
    }
    (results, Some(batch))
}

fn approve_policy<S: Store>(
    engine: &mut Engine<TreeSitterGrammars, S>,
    at: UnixMillis,
    text: &str,
) -> (Vec<ActResult>, Option<Batch>) {
    let profile = match profile_file::parse_profile(text) {
        Ok(profile) => profile,
        Err(error) => {
            let refused = ActResult::new("", "policy_invalid", error.to_string(), false);
            return (Vec::from([refused]), None);
        }
    };
    if engine.is_said_by_call(at, "approve", "") {
        let why = Reason::DirectiveNotTyped;
        let words = "not done: an agent's call may have said it";
        let refused = ActResult::new(&profile.id, why.code(), words, false);
        return (Vec::from([refused]), None);
    }
    let batch = engine.approve_policy(at, &profile.id, text);
    let hash = batch.recorded.iter().find_map(|it| match &it.event {
        Event::PolicyApproved(approved) => Some(approved.text),
        _ => None,
    });
    let words = format!(
        "in force: {}",
        hash.expect("the batch says what was approved")
    );
    let approved = ActResult::new(&profile.id, "policy_approved", words, true);
    (Vec::from([approved]), Some(batch))
}

/// In which what concerns no session is recorded.
const ALL_SESSIONS: SessionId = SessionId(0);

fn decide_directive<S: Store>(
    engine: &mut Engine<TreeSitterGrammars, S>,
    observer: &mut dyn WorkspaceObserver,
    at: UnixMillis,
    session: SessionId,
    directive: Directive,
) -> (ActResult, Batch) {
    let (verb, target) = (directive.verb, directive.target.clone());
    let pending = engine.receive_command(at, session, directive);
    let findings = observer.check(pending.checks.clone());
    let texts: Vec<_> = pending.reads.iter().map(|it| observer.read(it)).collect();
    let failure = match texts.first() {
        Some(Some(Err(failure))) => Some(*failure),
        _ => None,
    };
    let paths = pending.checks.iter().map(|check| check.path.clone());
    let answers = DiskAnswers {
        findings: paths.zip(findings).collect(),
        texts,
        ..DiskAnswers::default()
    };
    let batch = engine.carry_out_command(pending, answers);
    let mut notices = batch.recorded.iter().rev();
    let answer = notices.find_map(|recorded| match &recorded.event {
        Event::NoticeIssued(notice) => Some(notice),
        _ => None,
    });
    let reason = answer.map_or(Reason::NothingToDo, |answer| answer.reason);
    let (outcome, is_done) = match (verb, reason) {
        (Verb::Accept, Reason::UserAccepted) => ("accepted", true),
        (Verb::Accept, Reason::NothingToDo) if record::parse_key(&target).is_none() => {
            ("true_already", true)
        }
        (Verb::Accept, Reason::FileMissing) => ("no_file", false),
        (Verb::Accept, Reason::SymbolMissing) => ("no_symbol", false),
        (_, reason) => (reason.code(), reason.is(ReasonClass::Done)),
    };
    if reason == Reason::Locked
        && let Some(file) = answer.and_then(|answer| answer.entity.as_ref())
        && let Some(cause) = engine.lock_miss(session, &file.path)
    {
        let words = format!(
            "locked, but {cause}: no prompt goes out until that is mended, or `tslp lock --none {}`",
            file.path
        );
        let missed = ActResult::new(&target, Reason::LockMiss.code(), words, false);
        return (missed, batch);
    }
    if reason == Reason::DecisionsUngrounded {
        let refused = ActResult::new(&target, outcome, engine.clear_refusal(), false);
        return (refused, batch);
    }
    let words = match failure.filter(|_| reason == Reason::FileUnreadable) {
        Some(failure) => failure_words(failure).into(),
        None => answer_words(verb, &target, reason),
    };
    (ActResult::new(&target, outcome, words, is_done), batch)
}

/// The answer to a directive, for the person who gave it.
#[must_use]
pub fn answer_words(verb: Verb, target: &str, reason: Reason) -> Cow<'static, str> {
    let words = match (verb, reason) {
        (Verb::Accept | Verb::Confirm | Verb::Reject, Reason::NothingToDo)
            if record::parse_key(target).is_some() =>
        {
            "no statement of that key waits: `tslp status notes` lists what is kept, and what waits"
        }
        (_, Reason::UserAccepted) => "true as it is on disk",
        (_, Reason::DeletionAccepted) => "gone from disk, and no longer true",
        (Verb::Accept, Reason::NothingToDo) => "true already: nothing to do",
        (Verb::Confirm | Verb::Reject, Reason::NothingToDo) => {
            "no version of the model's waits for it: `tslp recent` lists what it proposed"
        }
        (Verb::Revoke, Reason::NothingToDo) => "wasn't granted: `tslp status guard` lists grants",
        (Verb::On, Reason::NothingToDo) => "nothing is off: `tslp status scope` lists what is",
        (Verb::Note, Reason::NothingToDo) => "kept already",
        (Verb::Forget, Reason::NothingToDo) => "isn't kept: `tslp status notes` lists what is",
        (Verb::Unlock, Reason::NothingToDo) => "isn't locked: `tslp status scope` lists what is",
        (Verb::Goal, Reason::NothingToDo) => {
            "nothing to do: `tslp status` shows the goal, if there is one"
        }
        (_, Reason::GoalChanged) if matches!(parse_goal(target), Ok((GoalChange::Done, _))) => {
            "done: new conversations are told nothing of it, and its hypotheses have ended"
        }
        (_, Reason::GoalChanged) => "noted: new conversations are told, until `tslp goal done`",
        (_, Reason::ContextCleared) => "cleared: older messages go to no model any more",
        (_, Reason::ClearAsked) => {
            "with the conversation's next prompt older messages go to no model any more"
        }
        (_, Reason::DecisionsUngrounded) => {
            "not cleared: decisions lack evidence; `tslp status notes` lists them"
        }
        (_, Reason::ClearedUngrounded) => {
            "older messages go to no model any more, though decisions lack evidence"
        }
        (Verb::Clear, Reason::TargetNotUsable) => "say `clear`, or `clear force`",
        (Verb::Goal, Reason::TargetMissing) => {
            "say what: TEXT, `next: TEXT`, `question: TEXT`, `budget: tokens 200k` or `done`"
        }
        (Verb::Goal, Reason::TargetNotUsable) => {
            "not usable: write one plain line of at most 200 bytes; a budget is of requests, tokens, minutes, files, lines, builds or tests"
        }
        (_, Reason::NothingToDo) => "nothing to do",
        (_, Reason::TurnedOff) => {
            "off: kept from every model, also in what clients send as far as it can be recognised, until `tslp on`"
        }
        (_, Reason::TurnedOn) => "on again",
        (_, Reason::Locked) => {
            "locked: it is shown whole, nothing else is by tslp, and changes of other files are refused until `tslp lock --none`"
        }
        (_, Reason::Unlocked) => "no longer locked",
        (_, Reason::TooManyRules) => {
            "not taken: there are a thousand rules already; `tslp on '**'` and `tslp lock --none` end them"
        }
        (_, Reason::RecordNoted) => "kept: `tslp status notes` lists what is",
        (_, Reason::RecordForgotten) => "kept no longer",
        (_, Reason::QuotationMissing) => {
            "not kept: the quoted code isn't true of that file; `tslp accept PATH` makes a file true"
        }
        (Verb::Note, Reason::OffByUser) => "not kept: its file is off",
        (_, Reason::RecordProposed) => {
            "waits, since the words are a model's: `@tslp accept #KEY` in a conversation keeps it"
        }
        (_, Reason::RecordProven) => "kept, by the code that it quotes",
        (_, Reason::RecordAccepted) => "kept: `tslp status notes` lists what is",
        (_, Reason::RecordRejected) => "dropped",
        (_, Reason::DirectiveNotTyped) => {
            "not done: an agent's call may have said it; write it as the first line of a message in a conversation, such as `@tslp confirm NAME`"
        }
        (_, Reason::ExternalAnswer) => "what follows counts as another model's answer",
        (Verb::Off | Verb::On, Reason::TargetMissing) => "name a GLOB, such as `secrets/**`",
        (Verb::Off | Verb::On, Reason::TargetOutside) => {
            "lies outside of the workspace: write it from the workspace's root, without `..`, such as `secrets/**`"
        }
        (Verb::Off | Verb::On, Reason::TargetNotUsable) => {
            "not a usable pattern: write at most 256 bytes, `*` and `?` for parts of a name, `**` for folders"
        }
        (_, Reason::UserConfirmed) => "the model's version is true now",
        (_, Reason::UserRejected) => "the model's version is dropped",
        (_, Reason::NotConfirmable) => {
            "can't be confirmed: the model's version is no whole definition that keeps what exists; ask for it again or, if your file is to hold it so, save it and `tslp accept` that"
        }
        (_, Reason::CapabilityGranted) => "granted: `tslp status guard` says until when",
        (_, Reason::CapabilityRevoked) => "taken back",
        (_, Reason::NotGrantable) => {
            "can't be granted: name BUILD_EXEC or SHELL_EXEC, with `for 15m` or less"
        }
        (_, Reason::ToolsStopped) => "tools are stopped until `tslp resume`",
        (_, Reason::AgentsStopped) => {
            "stopped: running replies and tools end, and requests are refused until `tslp resume`"
        }
        (_, Reason::BreachStands) => {
            "a tool tried to get out of the sandbox (`tslp log --kind tool_ran`): `tslp resume --breach` at a terminal lifts that"
        }
        (_, Reason::ToolsResumed) => "agents and tools may go on",
        (_, Reason::FileUnreadable) => "the file can't be read",
        (_, Reason::TargetMissing) => "name a PATH or PATH::SYMBOL",
        (_, Reason::TargetOutside) => "lies outside of the workspace",
        (_, Reason::TargetNotUsable) => {
            "not a usable path, or one that matches several files: write it from the workspace's root"
        }
        (_, Reason::QuotesDelimiters) => "not taken: it quotes the proxy's own delimiters",
        (_, Reason::UnknownDirective) => {
            let known = Verb::ALL
                .iter()
                .filter(|it| !matches!(it, Verb::Unknown | Verb::Signal));
            let known: Vec<&str> = known.map(|verb| verb.as_str()).collect();
            return format!("no directive; these are: {}", known.join(", ")).into();
        }
        (_, other) => {
            let (kept, taken) = (why_in("record", other), why_in("accept", other));
            let kept = kept.map(|why| format!("not kept: {why}"));
            let why = kept.or_else(|| taken.map(|why| format!("not taken: {why}")));
            return why.unwrap_or_else(|| other.code().to_owned()).into();
        }
    };
    words.into()
}

/// The reason why a file can't be read, for people.
#[must_use]
pub const fn failure_words(failure: ReadFailure) -> &'static str {
    match failure {
        ReadFailure::Denied => "unreadable: no permission",
        ReadFailure::NotAFile => "unreadable: it is a folder, or not a regular file",
        ReadFailure::Escapes => "unreadable: its path leads through a link",
        ReadFailure::TooLarge => "unreadable: larger than 16 MiB",
        ReadFailure::Unsteady => "unreadable: it changed while it was read",
        ReadFailure::TimedOut => "unreadable: its file system didn't answer in time",
        ReadFailure::Failed => "unreadable: the system reports an error",
    }
}

/// Carries an act out in this process, while no proxy runs. A ledger is made only if something is done.
///
/// # Errors
/// When the ledger is in use, damaged, or can't be written.
pub fn carry_out_here(config: &Settings, act: &Act) -> Result<Vec<ActResult>, StartError> {
    let mut observer = Observer::new(
        &config.workspace,
        config.etv(),
        Arc::new(TreeSitterGrammars),
        Arc::new(SystemClock),
    );
    let now = || SystemClock.now();
    if !DataFiles::of(&config.data_dir).database.exists() {
        let mut trial = new_engine(State::default(), &config.policy, EmptyStore);
        let (results, _) = decide_act(&mut trial, &mut observer, now(), act);
        if !results.iter().any(|result| result.is_done) {
            return Ok(results);
        }
    }
    project::prepare(&config.data_dir, &config.workspace)?;
    let (mut opened, state) =
        startup::start(&OpenOptions::default(), &config.data_dir, &config.workspace)?;
    let contents = ContentCache::new(opened.readers.open()?);
    let mut engine = new_engine(state, &config.policy, contents);
    let (results, batch) = decide_act(&mut engine, &mut observer, now(), act);
    if let Some(batch) = batch {
        let mut transaction = opened.log.begin_batch()?;
        transaction.record_all(batch.recorded)?;
        transaction.write_rows(&engine.take_rows())?;
        transaction.commit()?;
    }
    Ok(results)
}

/// The target as a directive names it: from the workspace's root. `written` starts from `current_dir` if it exists there.
///
/// # Errors
/// If it names nothing that can be accepted.
pub fn locate_target(
    config: &Settings,
    current_dir: &Path,
    written: &str,
) -> Result<String, ActResult> {
    let no_file = |why: &str| ActResult::new(written, "no_file", why, false);
    let is_file = target::find_target(written, current_dir, &config.workspace).is_ok();
    let (path, symbol) = match written.split_once("::").filter(|_| !is_file) {
        Some((path, symbol)) => (path, Some(symbol)),
        None => (written, None),
    };
    let path = match target::find_target(path, current_dir, &config.workspace) {
        // With a folder in front it can't be taken for another file of the same name.
        Ok(NamedTarget::File(path)) => format!("./{path}"),
        Ok(NamedTarget::Folder(_) | NamedTarget::Workspace) => {
            return Err(no_file("a folder: `tslp adopt` takes those"));
        }
        // It may be gone from disk, and the base name of a file that is tracked is enough.
        Err(TargetError::Missing(_)) if DataFiles::of(&config.data_dir).database.exists() => {
            path.into()
        }
        Err(error) => {
            let error = error.to_string();
            let why = error.strip_prefix(&format!("{path}: ")).unwrap_or(&error);
            return Err(no_file(why));
        }
    };
    Ok(match symbol {
        Some(symbol) => format!("{path}::{symbol}"),
        None => path,
    })
}
