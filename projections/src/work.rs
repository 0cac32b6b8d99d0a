//! What agents have done since the Operator last let them go on, by which budgets are judged.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use tslp_core::budget::{WorkDone, day_of};
use tslp_core::event::{ContentKind, Event, Recorded, WorkCounted};
use tslp_core::goal::GoalChange;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{SessionId, UnixMillis};
use tslp_core::limits::SESSIONS_KEPT;
use tslp_core::message::Role;
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;

use crate::goal::GoalRow;
use crate::row_map::RowMap;
use crate::usage::TokensUsed;

row! {
    #[derive(Default)]
    /// `work`: what was done in each of the last sessions since the Operator resumed it. Session 0 is all of a day, the highest one all for the goal.
    pub struct WorkRow in table "work", version 3;
    key {
        /// The session.
        session: SessionId,
    }
    values {
        /// The beginning of the day that its last event was on.
        day: UnixMillis,
        /// The time of its last event.
        last_at: UnixMillis,
        /// Requests to the model.
        requests: u64,
        /// Tokens read and written.
        tokens: u64,
        /// Time spent, in milliseconds.
        millis: u64,
        /// Different files that replies changed.
        files: u64,
        /// Lines of code that replies wrote.
        lines: u64,
        /// Builds that the client was asked to run.
        builds: u64,
        /// Test runs that it was asked for.
        tests: u64,
        /// Whether model and user were told that a budget is nearly used up.
        is_told: bool,
        /// The calls of the last reply, if it made any.
        call: Option<ArtifactHash>,
        /// The last calls that have results, with those.
        round: Option<ArtifactHash>,
        /// How often they were made in a row.
        repeats: u32,
    }
}

row! {
    /// `work_files`: the files that replies have changed, or tried to.
    pub struct WorkFileRow in table "work_files", version 1;
    key {
        /// The session; 0 is all of the day.
        session: SessionId,
        /// The file.
        path: RelPath,
    }
    values {
        /// Whether it is counted as changed.
        is_counted: bool,
        /// How often in a row its changes were refused.
        refused: u32,
        /// The session's number of requests when that happened last.
        refused_at: u64,
    }
}

/// All sessions of the day.
const DAY: SessionId = SessionId(0);

/// All sessions since the goal was said.
pub const GOAL: SessionId = SessionId(i64::MAX as u64);

/// A longer pause isn't work.
const PAUSE_MILLIS_MAX: i64 = 5 * 60 * 1000;

/// Files that are told apart.
const FILES_MAX: usize = 4096;

/// Refusals with more requests between them are not in a row.
const BETWEEN_REFUSALS_MAX: u64 = 2;

/// The longest head of a tool's result.
const HEAD_BYTES_MAX: usize = 400;

/// What was done in each session, and on the day.
#[derive(Default)]
pub struct Work {
    pub(crate) rows: RowMap<WorkRow>,
    pub(crate) files: RowMap<WorkFileRow>,
    /// The outputs in the tools' results of the prompt that is being recorded, by the hashes of the results.
    outputs: BTreeMap<ArtifactHash, ArtifactHash>,
    has_goal: bool,
}

/// What an agent does again and again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repetition {
    /// How often the last calls were made in a row, with the same results.
    pub calls: u32,
    /// The files of which the last reply's change was refused, and how often that happened in a row.
    pub refused: Vec<(RelPath, u32)>,
}

impl Work {
    /// Folds one event in. `goal` is the goal, if there is one.
    pub fn apply(&mut self, recorded: &Recorded, goal: Option<&GoalRow>) {
        self.has_goal = goal.is_some();
        match &recorded.event {
            Event::Content(content) if content.kind == ContentKind::Message => {
                if let Some(output) = framed_output(&content.bytes) {
                    self.outputs.insert(content.hash, ArtifactHash::of(output));
                }
            }
            Event::PromptReceived(prompt) => {
                let outputs = core::mem::take(&mut self.outputs);
                let results = prompt.messages.iter().rev();
                let results = results.take_while(|message| message.role == Role::Tool);
                let results = results.map(|it| outputs.get(&it.content).unwrap_or(&it.content));
                let results: Vec<u8> = results.flat_map(|result| result.0).collect();
                // What is asked again is the same work.
                let source = prompt.fork.and_then(|fork| self.rows.get(&(fork.session,)));
                if let Some(source) = source.cloned() {
                    let session = recorded.session;
                    let begun = WorkRow {
                        session,
                        call: None,
                        round: None,
                        repeats: 0,
                        ..source
                    };
                    self.rows.put(begun);
                }
                self.add(recorded, |row| {
                    row.requests += 1;
                    row.take_results(&results);
                });
            }
            Event::SideRequestReceived(_) => self.add(recorded, |row| row.requests += 1),
            Event::ReplyEnded(ended) => {
                let calls = ended.tool_calls.iter();
                let calls = calls.flat_map(|call| call.name.bytes().chain(call.arguments.0));
                let calls: Vec<u8> = calls.collect();
                let call = (!calls.is_empty()).then(|| ArtifactHash::of(&calls));
                self.add(recorded, |row| row.call = call);
            }
            Event::PromotionRefused(refused) => {
                self.note_refusal(recorded.session, &refused.entity.path);
            }
            Event::Transitioned(moved) => {
                self.note_change(recorded.session, &moved.entity.path);
            }
            Event::PromptMeasured(measured) => {
                let used = TokensUsed::of(measured);
                let tokens = used.read + used.written;
                self.add(recorded, |row| {
                    row.tokens = row.tokens.saturating_add(tokens);
                });
            }
            Event::WorkCounted(work) => self.add_work(recorded, work),
            Event::NoticeIssued(notice) => match notice.reason {
                Reason::BudgetNearlyUsed => {
                    self.add(recorded, |row| row.is_told |= row.session != DAY);
                }
                Reason::ToolsResumed if notice.session == DAY => {
                    self.rows.forget(|_| true);
                    self.files.forget(|_| true);
                }
                Reason::ToolsResumed => {
                    for session in [notice.session, DAY, GOAL] {
                        self.forget(session);
                    }
                }
                _ => {}
            },
            Event::GoalChanged(changed)
                if matches!(changed.change, GoalChange::Set | GoalChange::Done) =>
            {
                self.forget(GOAL);
            }
            _ => {}
        }
    }

    fn add_work(&mut self, recorded: &Recorded, work: &WorkCounted) {
        let mut new_files = BTreeMap::new();
        for session in self.counted(recorded) {
            let mut new = 0;
            for path in &work.files {
                let is_new = self.change_file(session, path, |file| {
                    !core::mem::replace(&mut file.is_counted, true)
                });
                // Of too many files each change counts as another file's.
                new += u64::from(is_new.unwrap_or(true));
            }
            new_files.insert(session, new);
        }
        self.add(recorded, |row| {
            row.files += new_files[&row.session];
            row.lines += u64::from(work.lines);
            row.builds += u64::from(work.builds);
            row.tests += u64::from(work.tests);
        });
    }

    fn note_refusal(&mut self, session: SessionId, path: &RelPath) {
        let Some(requests) = self.rows.get(&(session,)).map(|row| row.requests) else {
            return;
        };
        self.change_file(session, path, |file| {
            // Several definitions of one reply are one refusal.
            if file.refused == 0 || file.refused_at != requests {
                let is_in_a_row = requests - file.refused_at <= BETWEEN_REFUSALS_MAX;
                file.refused = if is_in_a_row { file.refused + 1 } else { 1 };
            }
            file.refused_at = requests;
        });
    }

    /// Something of the file has become true, so that its writing wasn't in vain.
    fn note_change(&mut self, session: SessionId, path: &RelPath) {
        let file = self.files.get(&(session, path.clone()));
        if file.is_some_and(|file| file.refused > 0) {
            self.change_file(session, path, |file| file.refused = 0);
        }
    }

    /// Changes a file's row; `None` if there are too many.
    fn change_file<T>(
        &mut self,
        session: SessionId,
        path: &RelPath,
        act: impl FnOnce(&mut WorkFileRow) -> T,
    ) -> Option<T> {
        let known = self.files.get(&(session, path.clone()));
        if known.is_none() && self.files.len() >= FILES_MAX {
            return None;
        }
        let mut file = known.cloned().unwrap_or_else(|| WorkFileRow {
            session,
            path: path.clone(),
            is_counted: false,
            refused: 0,
            refused_at: 0,
        });
        let result = act(&mut file);
        self.files.put(file);
        Some(result)
    }

    /// For whom an event counts: the day, the session, and the goal if there is one.
    fn counted(&self, recorded: &Recorded) -> impl Iterator<Item = SessionId> + use<> {
        let own = Some(recorded.session).filter(|session| *session != DAY);
        let goal = self.has_goal.then_some(GOAL);
        [DAY].into_iter().chain(own).chain(goal)
    }

    /// Changes the rows for which an event counts.
    fn add(&mut self, recorded: &Recorded, act: impl Fn(&mut WorkRow)) {
        let (at, day) = (recorded.at, day_of(recorded.at));
        // A clock that is set back begins no new day.
        if self.rows.get(&(DAY,)).is_some_and(|row| row.day < day) {
            self.forget(DAY);
        }
        for session in self.counted(recorded) {
            let known = self.rows.get(&(session,)).cloned();
            let mut row = known.unwrap_or(WorkRow {
                session,
                day,
                last_at: at,
                ..WorkRow::default()
            });
            let pause = at.0.saturating_sub(row.last_at.0);
            // A clock that is set back, or a person who was away.
            if (0..=PAUSE_MILLIS_MAX).contains(&pause) {
                row.millis += pause.unsigned_abs();
            }
            (row.day, row.last_at) = (row.day.max(day), at);
            act(&mut row);
            self.rows.put(row);
        }
        let is_old = |old: &SessionId| ![DAY, GOAL, recorded.session].contains(old);
        if self.rows.len() > SESSIONS_KEPT
            && let Some(oldest) = self.rows.values().map(|row| row.session).find(is_old)
        {
            self.forget(oldest);
        }
    }

    fn forget(&mut self, session: SessionId) {
        self.rows.remove(&(session,));
        self.files.forget(|file| file.session == session);
    }

    /// What was done in a session since it was resumed.
    #[must_use]
    pub fn of_session(&self, session: SessionId) -> WorkDone {
        let row = self.rows.get(&(session,)).filter(|_| session != DAY);
        row.map_or_else(WorkDone::default, WorkRow::done)
    }

    /// What was done in all sessions on the day of this moment.
    #[must_use]
    pub fn of_day(&self, at: UnixMillis) -> WorkDone {
        let row = self.rows.get(&(DAY,)).filter(|row| row.day >= day_of(at));
        row.map_or_else(WorkDone::default, WorkRow::done)
    }

    /// What a session's agent does again and again.
    #[must_use]
    pub fn repetition(&self, session: SessionId) -> Repetition {
        let Some(row) = self.rows.get(&(session,)) else {
            return Repetition::default();
        };
        // No path comes before an empty one.
        let files = self.files.range((session, RelPath::from_normalised(""))..);
        let own = files.take_while(|((of, _), _)| *of == session);
        let refused =
            own.filter(|(_, file)| file.refused > 0 && file.refused_at + 1 == row.requests);
        Repetition {
            calls: row.repeats,
            refused: refused
                .map(|((_, path), file)| (path.clone(), file.refused))
                .collect(),
        }
    }

    /// Whether a session was told that a budget is nearly used up.
    #[must_use]
    pub fn is_told(&self, session: SessionId) -> bool {
        self.rows.get(&(session,)).is_some_and(|row| row.is_told)
    }
}

impl WorkRow {
    /// A prompt came with these results of the last reply's calls; without any it is the user's, who goes on.
    fn take_results(&mut self, results: &[u8]) {
        let call = self.call.take().filter(|_| !results.is_empty());
        let round = call.map(|call| ArtifactHash::of(&[&call.0, results].concat()));
        self.repeats = match round {
            Some(_) if round == self.round => self.repeats + 1,
            Some(_) => 1,
            None => 0,
        };
        self.round = round;
    }

    /// The figures that budgets bound.
    #[must_use]
    pub const fn done(&self) -> WorkDone {
        WorkDone::of_figures([
            self.requests,
            self.tokens,
            self.millis / 60_000,
            self.files,
            self.lines,
            self.builds,
            self.tests,
            // By model and day alone: the usage knows it.
            0,
        ])
    }
}

/// The output in a result with a head that differs each time: lines with a number or the time that it took, then `Output:`.
fn framed_output(result: &[u8]) -> Option<&[u8]> {
    let mark = b"\nOutput:\n";
    let head = &result[..result.len().min(HEAD_BYTES_MAX)];
    let at = head.windows(mark.len()).position(|window| window == mark)?;
    Some(&result[at + mark.len()..])
}
