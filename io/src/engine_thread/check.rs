//! The user's check: a command that runs over the files on disk after a turn that changed code (docs/repair.md).

use std::collections::BTreeSet;
use std::io::PipeWriter;
use std::path::PathBuf;

use crossbeam_channel::{Sender, bounded};
use tslp_core::artifact::{Origin, Transition};
use tslp_core::event::{CheckRan, Event, Recorded, ToolCallRef, ToolOutcome};
use tslp_core::guardian::{
    self, CallPart, Capability, Decision, GrantToken, LineContext, Mode, ToolProfile, call_parts,
    judge_line,
};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, SessionId, UnixMillis};
use tslp_core::redact;
use tslp_tools::guardian::{ToolScope, beyond_links};
use tslp_tools::sandbox::{RunOutcome, SandboxPlan};

use super::EngineThread;
use super::tools::{recorded_outcome, whole_millis};
use crate::tool_loop::worker::{CheckRun, ToolJob};

/// What is known of changes that weren't checked.
#[derive(Default)]
pub(super) struct CheckState {
    /// Conversations whose code has changed since their last check.
    changed: BTreeSet<SessionId>,
    /// A check that begins once the sandbox was tested.
    wanted: Option<(EpisodeId, Vec<(PathBuf, String)>)>,
    /// The check that runs, or that waits for its files to be saved; dropped to end it.
    under_way: Option<(EpisodeId, PipeWriter, Sender<()>)>,
}

impl CheckState {
    /// The check of an episode is over; another one, which began after it was called off, runs on.
    fn has_ended(&mut self, episode: EpisodeId) {
        self.under_way.take_if(|(checked, ..)| *checked == episode);
    }
}

impl EngineThread {
    /// A reply was judged: if its turn is over and changed code, the check begins.
    pub(super) fn check_after(
        &mut self,
        episode: EpisodeId,
        recorded: &[Recorded],
        calls: &[ToolCallRef],
    ) {
        let command = self.wiring.settings.tools.check.clone();
        if self.tools.is_none() || command.is_empty() {
            return;
        }
        let Some(session) = self.engine.session_of(episode) else {
            return;
        };
        let promoted = recorded.iter().filter_map(|it| match &it.event {
            Event::Transitioned(moved) if moved.origin == Origin::Model => {
                (moved.transition == Transition::Promote).then_some(&moved.entity)
            }
            _ => None,
        });
        let promoted: Vec<_> = promoted.collect();
        // What is refused is written all the same by a client that was asked to.
        let is_code = |it: &Recorded| match &it.event {
            Event::ArtifactCaptured(captured) => captured.origin == Origin::Model,
            _ => false,
        };
        if !promoted.is_empty() || !calls.is_empty() && recorded.iter().any(is_code) {
            self.check.changed.insert(session);
        }
        for call in calls {
            let arguments = self.engine.text(call.arguments).unwrap_or_default();
            let mut parts = call_parts(&call.name, &arguments).into_iter();
            // The client runs it itself, and the model reads what it says.
            if parts.any(|(part, line)| part == CallPart::Shell && runs(&line, &command)) {
                self.check.changed.remove(&session);
            }
        }
        if !calls.is_empty() || !self.check.changed.contains(&session) {
            return;
        }
        let root = &self.wiring.settings.workspace;
        let unsaved = promoted.into_iter().filter(|it| it.symbol.is_some());
        let unsaved = unsaved.filter_map(|entity| {
            let code = self.engine.true_code(entity)?;
            Some((root.join(entity.path.as_str()), code))
        });
        self.check.wanted = Some((episode, unsaved.collect()));
        if self.is_tested() {
            self.begin_check();
        }
    }

    /// Begins the check that is wanted, now that the sandbox was tested.
    pub(super) fn begin_check(&mut self) {
        let Some((episode, unsaved)) = self.check.wanted.take() else {
            return;
        };
        let Some((scope, jobs)) = self.tools.as_ref().and_then(|tools| tools.ready()) else {
            return;
        };
        let command = &self.wiring.settings.tools.check;
        let plan = match check_plan(command, scope, self.wiring.clock.now()) {
            Ok(plan) => plan,
            Err(why) => {
                tracing::warn!(%command, %why, "the check isn't run");
                return self.check_ended(episode, RunOutcome::not_started(why));
            }
        };
        let Ok((stop, writer)) = std::io::pipe() else {
            return;
        };
        let (holder, called_off) = bounded(0);
        let run = CheckRun {
            episode,
            plan,
            stop,
            called_off,
            unsaved,
        };
        if jobs.send(ToolJob::Check(Box::new(run))).is_ok() {
            self.check.under_way = Some((episode, writer, holder));
        }
    }

    /// Nobody waits for a check: the model is needed for something else.
    pub(super) fn call_off_check(&mut self) {
        (self.check.wanted, self.check.under_way) = (None, None);
    }

    /// The check has come to its end, or wasn't started.
    pub(super) fn check_ended(&mut self, episode: EpisodeId, outcome: RunOutcome) {
        self.check.has_ended(episode);
        let command = self.wiring.settings.tools.check.clone();
        let session = self.engine.session_of(episode).unwrap_or_default();
        let raw = outcome.output.kept_text();
        let output = redact::without_credentials(&raw);
        let shown = self.engine.output_without_off(session, &command, &output);
        let ran = CheckRan {
            command,
            outcome: recorded_outcome(&outcome.ended),
            output: ArtifactHash::of(b""),
            bytes: outcome.output.bytes,
            duration_ms: whole_millis(outcome.duration),
        };
        // What was called off is still to be checked.
        if !matches!(
            ran.outcome,
            ToolOutcome::Stopped | ToolOutcome::NotStarted(_)
        ) {
            self.check.changed.remove(&session);
        }
        let now = self.wiring.clock.now();
        let output = shown.as_deref().unwrap_or(&output);
        let batch = self.engine.check_ran(now, episode, ran, output);
        self.commit_batch(batch);
    }
}

/// Whether a command line runs the check, at its end at least.
fn runs(line: &str, command: &str) -> bool {
    let before = line.trim().strip_suffix(command);
    before.is_some_and(|before| before.is_empty() || before.trim_end().ends_with("&&"))
}

/// The user's own configuration grants the check what builds may do.
fn check_plan(command: &str, scope: &ToolScope, now: UnixMillis) -> Result<SandboxPlan, String> {
    let commands = guardian::split(command).map_err(|reason| reason.to_string())?;
    let jail = scope.tool_jail();
    let root = ArtifactHash::of(jail.root.as_bytes());
    let grants = [Capability::BuildExec, Capability::ShellExec];
    let grants = grants.map(|it| GrantToken::issue_for_session(it, root, now));
    let context = LineContext {
        profile: &ToolProfile::built_in(),
        mode: Mode::Ready,
        now,
        grants: &grants,
        builds: 0,
        jail: &jail,
        leads_to: &beyond_links,
    };
    let judged = judge_line(commands, &context);
    if judged.strictest_decision() == Decision::Deny {
        let denials = judged.commands.iter().flat_map(|it| &it.denials);
        let why: Vec<&str> = denials.map(|denial| &*denial.why).collect();
        return Err(why.join("; "));
    }
    let plan = scope.plan_line(&judged);
    plan.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use crossbeam_channel::TryRecvError;

    use super::*;

    /// The end of a check that was called off does not touch the next one.
    #[test]
    fn late_ending() {
        let (_stop, writer) = std::io::pipe().unwrap();
        let (holder, called_off) = bounded(0);
        let mut state = CheckState {
            under_way: Some((EpisodeId(2), writer, holder)),
            ..CheckState::default()
        };
        state.has_ended(EpisodeId(1));
        assert_eq!(called_off.try_recv(), Err(TryRecvError::Empty));
        state.has_ended(EpisodeId(2));
        assert_eq!(called_off.try_recv(), Err(TryRecvError::Disconnected));
    }
}
