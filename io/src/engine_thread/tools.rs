//! Replies that ask for tools: rounds, calls and their results (spec §8.5).

use std::collections::{BTreeSet, VecDeque};
use std::io::{self, PipeWriter};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use tslp_core::delimiter;
use tslp_core::event::{
    ActionJudged, ActionRequested, CallId, LinkSeen, ToolCallRef, ToolOutcome, ToolRan,
};
use tslp_core::guardian::{
    self, CallPart, Class, Decision, Door, Harm, Jail, Join, JudgedLine, LineContext, Mode,
    SimpleCommand, ToolProfile, judge_line,
};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};
use tslp_core::message::ToolCall;
use tslp_core::policy::ClientTools;
use tslp_core::redact;
use tslp_decide::judge::reply::SegmentExtent;
use tslp_decide::wording::notice;
use tslp_replay::engine::call::WantedCall;
use tslp_replay::pending::Batch;
use tslp_tools::guardian::{ToolScope, profile_file};
use tslp_tools::sandbox::{RunOutcome, Sandbox, SandboxLimits, WorkspaceLayer};
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::chat::reply::ReadReply;
use tslp_wire::chat::reply_pipe::{CallRule, CallVerdict};

use super::{EngineThread, News};
use crate::channel::{ExchangeId, ResponseEnd, ToEngine, ToLoop};
use crate::tool_loop::calls::{WrittenCall, calls_in};
use crate::tool_loop::results::{CallResult, PastRound, next_body};
use crate::tool_loop::worker::{self, ToolJob, ToolRun};
use crate::tool_loop::{TOOLS_OFF, boundary_before, mode_and_reason};

/// The engine's state for tools.
pub(super) struct ToolLoop {
    scope: ToolScope,
    to_engine: Sender<ToEngine>,
    /// The worker's queue, once it has started.
    jobs: Option<Sender<ToolJob>>,
    /// The result of the sandbox's test; `None` until it ends.
    tested: Option<Result<(), String>>,
    /// When the test was last started.
    tested_at: UnixMillis,
    /// The rules in force, once they are needed.
    rules: Option<RulesInForce>,
}

/// The rules in force.
#[derive(Clone)]
struct RulesInForce {
    profile: Arc<ToolProfile>,
    /// The text in the Vault; none is the built-in profile.
    policy: Option<ArtifactHash>,
    /// Whether the approved text can't be read.
    is_invalid: bool,
}

/// A reply that may ask for tools.
pub(super) struct ToolReply {
    session: SessionId,
    /// The request body of the first round.
    body: Arc<Vec<u8>>,
    /// The place of its last message.
    last: Range<usize>,
    /// The round under way, from 1.
    round: u32,
    /// The round's offset in the reply's text.
    round_from: usize,
    past: Vec<PastRound>,
    /// When the first call was made.
    began: Option<Instant>,
    /// The calls that are being made; none while the model is replying.
    working: Option<CallsInProgress>,
}

struct CallsInProgress {
    /// The model's text of the round.
    text: String,
    queue: VecDeque<WrittenCall>,
    results: Vec<CallResult>,
    /// The line and the commands of the call whose paths are being looked at; it isn't judged yet.
    asked: Option<(String, Vec<SimpleCommand>)>,
    under_way: Option<RunningTool>,
}

/// A tool that runs.
struct RunningTool {
    call: CallId,
    line: String,
    class: Class,
    /// Dropped to end it.
    stop: Option<PipeWriter>,
}

/// A call of the client's own tools that is denied.
pub(super) struct DeniedCall {
    /// What is, and why.
    what: String,
    /// Whether no agent should do it.
    is_never_meant: bool,
}

/// Longest time from a reply's first call to the end of its last one, the most rounds of it, and the most calls of one.
const TOOLS_TIME: Duration = Duration::from_secs(600);
const ROUNDS_MAX: u32 = 8;
const ROUND_CALLS_MAX: usize = 8;

/// Age up to which a test of the sandbox counts.
const TEST_VALID_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// Calls of the client's tools in one reply that are judged.
const JUDGED_CALLS_MAX: u32 = 32;

/// The most that is shown of a command line that was kept back.
const SHOWN_LINE_BYTES_MAX: usize = 200;

impl ToolLoop {
    /// The folders and the worker's queue, if the sandbox holds.
    pub(super) fn ready(&self) -> Option<(&ToolScope, &Sender<ToolJob>)> {
        let is_sound = matches!(self.tested, Some(Ok(())));
        let jobs = self.jobs.as_ref().filter(|_| is_sound)?;
        Some((&self.scope, jobs))
    }
}

impl ToolReply {
    /// The reply to a prompt whose last message stands at `last` of its body.
    pub(super) const fn new(session: SessionId, body: Arc<Vec<u8>>, last: Range<usize>) -> Self {
        Self {
            session,
            body,
            last,
            round: 1,
            round_from: 0,
            past: Vec::new(),
            began: None,
            working: None,
        }
    }

    /// How long its tools may still take.
    fn time_left(&self, most: Duration) -> Duration {
        let spent = self.began.map_or(Duration::ZERO, |began| began.elapsed());
        most.saturating_sub(spent)
    }

    /// Whether the worker has something to do for it.
    fn waits_for_worker(&self) -> bool {
        let working = self.working.as_ref();
        working.is_none_or(|working| working.asked.is_some() || working.under_way.is_some())
    }
}

impl EngineThread {
    /// From now on replies may ask for tools.
    #[must_use]
    pub fn with_tools(mut self, scope: ToolScope, to_engine: Sender<ToEngine>) -> Self {
        if scope.tool_jail().to_text().is_none() {
            tracing::warn!(
                "tools are off: the path of the workspace or of the data holds a line break"
            );
            return self;
        }
        self.tools = Some(Box::new(ToolLoop {
            scope,
            to_engine,
            jobs: None,
            tested: None,
            tested_at: UnixMillis(0),
            rules: None,
        }));
        self
    }

    /// Whether replies may ask for tools of tslp's.
    pub(super) fn runs_tools(&self) -> bool {
        self.tools.is_some() && self.wiring.settings.tools.runs()
    }

    /// How the client's calls reach it. A reply that `waits` is read before its end, or its calls, go on.
    pub(super) fn call_rule(&self, dialect: Dialect, waits: bool) -> CallRule {
        // A bare prompt's client has no tools.
        match self.client_tools() {
            ClientTools::Strict if !dialect.is_bare_prompt() => CallRule::Judged,
            ClientTools::Hold if !dialect.is_bare_prompt() => CallRule::Complete,
            _ if waits => CallRule::Complete,
            _ => CallRule::AsTheyCome,
        }
    }

    /// What is done about calls of the client's own tools.
    pub(super) fn client_tools(&self) -> ClientTools {
        match self.tools {
            Some(_) => self.wiring.settings.policy.client_tools,
            None => ClientTools::Off,
        }
    }

    /// Whether calls of the client's own tools are judged before it has them.
    pub(super) fn holds_client_calls(&self) -> bool {
        matches!(self.client_tools(), ClientTools::Hold | ClientTools::Strict)
    }

    /// The response of a round is over. Whether the reply goes on.
    pub(super) fn begins_another_round(
        &mut self,
        exchange: ExchangeId,
        ending: ResponseEnd,
    ) -> bool {
        if self.keeps_calls_back(exchange, ending) {
            return false;
        }
        if self.working(exchange).is_none() {
            return ending.is_success() && self.begin_calls(exchange).is_some();
        }
        if let Some(running) = self.running.get_mut(&exchange) {
            // The client is gone, or its response broke: whatever runs is ended, and recorded once it is over.
            running.tools = None;
            // The round was complete, the reply isn't.
            running.read = ReadReply::default();
        }
        false
    }

    /// Reads the calls of a round that has ended well; `None` if it makes none.
    fn begin_calls(&mut self, exchange: ExchangeId) -> Option<()> {
        let shell_fences = self.wiring.settings.tools.shell_fences;
        let running = self.running.get(&exchange)?;
        let from = running.tools.as_ref()?.round_from;
        // Most replies hold no fence of a tool; their last text is recorded with their end.
        let is_likely = shell_fences
            || running.reply.text[from..].contains("tool")
            || running.reply.tail.contains("tool");
        if !is_likely || !running.read.is_finished || !running.read.calls.is_empty() {
            return None;
        }
        self.record_text(exchange);
        let running = self.running.get_mut(&exchange)?;
        let text = running.reply.text[from..].to_owned();
        let calls = calls_in(&text, shell_fences, ROUND_CALLS_MAX);
        let reply = running.tools.as_mut().filter(|_| !calls.is_empty())?;
        // What tools gave is in the reply by now.
        running.repair = None;
        reply.began.get_or_insert_with(Instant::now);
        reply.working = Some(CallsInProgress {
            text,
            queue: calls.into(),
            results: Vec::new(),
            asked: None,
            under_way: None,
        });
        if self.is_tested() {
            self.make_waiting_calls(exchange);
        }
        Some(())
    }

    /// Whether the sandbox was tested of late; if it wasn't, the test begins, and the calls that wait are made after it.
    pub(super) fn is_tested(&mut self) -> bool {
        let now = self.wiring.clock.now();
        let Some(tools) = &mut self.tools else {
            return false;
        };
        match &tools.tested {
            Some(_) if is_recent(tools.tested_at, now) => return true,
            None if tools.jobs.is_some() => return false,
            _ => {}
        }
        tools.tested_at = now;
        if tools.jobs.is_none() {
            let durable = Arc::clone(&self.wiring.durable);
            match worker::start_worker(Sandbox::default(), durable, tools.to_engine.clone()) {
                Ok(jobs) => tools.jobs = Some(jobs),
                Err(error) => {
                    tools.tested = Some(Err(format!("there is no thread for tools: {error}")));
                    return true;
                }
            }
        }
        let layers = [WorkspaceLayer::ReadOnly, WorkspaceLayer::Scratch];
        let plans = layers.map(|layer| tools.scope.self_test_plan(layer));
        // A worker that has ended is noticed with the first call, which isn't run then.
        let test = ToolJob::Test(plans.into());
        let _ = tools.jobs.as_ref().map(|jobs| jobs.send(test));
        tools.tested = None;
        self.tell_mode();
        false
    }

    /// The sandbox was tested.
    pub(super) fn tools_tested(&mut self, tested: Result<(), String>) {
        match &tested {
            Ok(()) => tracing::info!("tools run: no try to get out of the sandbox succeeded"),
            Err(why) => {
                tracing::warn!(reason = %why, "tools are off: the kernel doesn't enforce the sandbox");
            }
        }
        if let Some(tools) = &mut self.tools {
            tools.tested = Some(tested);
        }
        self.tell_mode();
        // Where the worker has something to do already, its answer goes on: a test that is made again may overtake nothing.
        for exchange in self.running.keys().copied().collect::<Vec<_>>() {
            self.make_waiting_calls(exchange);
        }
        self.begin_check();
    }

    /// Tells the network loop what tslp is able to do.
    pub(super) fn tell_mode(&mut self) {
        let guardian = self.engine.state().guardian();
        let (is_breached, is_stopped) = (guardian.is_breached(), guardian.is_stopped());
        if self.is_stopped != is_stopped {
            self.is_stopped = is_stopped;
            self.wiring.to_loop.send(ToLoop::Stopped(is_stopped));
        }
        let tools = self
            .tools
            .as_ref()
            .filter(|_| self.wiring.settings.tools.runs());
        let (mode, why) = match tools {
            Some(tools) if !is_breached && tools.tested.is_none() && tools.jobs.is_none() => {
                (Mode::Boot, "nothing was tested yet".to_owned())
            }
            None => mode_and_reason(false, Some(Err(TOOLS_OFF.to_owned()))),
            Some(tools) => {
                let is_invalid = tools.rules.as_ref().is_some_and(|rules| rules.is_invalid);
                mode_and_reason(is_breached, enforcement(tools.tested.as_ref(), is_invalid))
            }
        };
        if self.mode != Some(mode) {
            self.mode = Some(mode);
            self.wiring.to_loop.send(ToLoop::Mode(mode, why));
        }
    }

    fn tool_reply(&mut self, exchange: ExchangeId) -> Option<&mut ToolReply> {
        self.running.get_mut(&exchange)?.tools.as_deref_mut()
    }

    fn working(&mut self, exchange: ExchangeId) -> Option<&mut CallsInProgress> {
        self.tool_reply(exchange)?.working.as_mut()
    }

    /// Makes calls until one has to be waited for, or none is left. `None` here and below: the reply is over, its client is gone.
    fn make_waiting_calls(&mut self, exchange: ExchangeId) -> Option<()> {
        while !self.tool_reply(exchange)?.waits_for_worker() {
            match self.working(exchange)?.queue.pop_front() {
                Some(call) => self.make_call(exchange, call)?,
                None => self.end_round(exchange)?,
            }
        }
        Some(())
    }

    /// Reads a call; the worker looks where its paths lead, because a look at a disk can take long.
    fn make_call(&mut self, exchange: ExchangeId, call: WrittenCall) -> Option<()> {
        let rules = self.rules_in_force();
        let tools = self.tools.as_ref()?;
        let reply = self.running.get_mut(&exchange)?.tools.as_mut()?;
        // Before it is split and judged: what is on record is what was judged, and what is run.
        let line = redact::without_credentials(&call.text).into_owned();
        let over = match call.flaw {
            Some(flaw) => Err(flaw),
            None if reply.round > ROUNDS_MAX => Err(format!(
                "a reply may take {ROUNDS_MAX} rounds of tools, which are used up"
            )),
            None if reply.time_left(TOOLS_TIME).is_zero() => Err(format!(
                "the tools of a reply may take {} s, which are used up",
                TOOLS_TIME.as_secs()
            )),
            None => guardian::split(&line).map_err(|reason| reason.to_string()),
        };
        let commands = match over {
            Ok(commands) => commands,
            Err(flaw) => return self.decide_call(exchange, line, Err(flaw), Vec::new()),
        };
        let paths = paths_of(&commands, &tools.scope.tool_jail(), &rules.profile);
        let look = ToolJob::LookAt { exchange, paths };
        let jobs = tools.jobs.as_ref();
        if jobs.is_none_or(|jobs| jobs.send(look).is_err()) {
            // Without a worker nothing is run, wherever it leads.
            return self.decide_call(exchange, line, Ok(commands), Vec::new());
        }
        reply.working.as_mut()?.asked = Some((line, commands));
        Some(())
    }

    /// The worker has looked where a call's paths lead.
    pub(super) fn links_seen(&mut self, exchange: ExchangeId, links: Vec<LinkSeen>) -> Option<()> {
        let (line, commands) = self.working(exchange)?.asked.take()?;
        self.decide_call(exchange, line, Ok(commands), links)?;
        self.make_waiting_calls(exchange)
    }

    /// Judges a call, and has it run if it may.
    fn decide_call(
        &mut self,
        exchange: ExchangeId,
        line: String,
        commands: Result<Vec<SimpleCommand>, String>,
        links: Vec<LinkSeen>,
    ) -> Option<()> {
        let is_invalid = self.rules_in_force().is_invalid;
        let (tools, running) = (self.tools.as_ref()?, self.running.get(&exchange)?);
        let reply = running.tools.as_ref()?;
        let (commands, flaw) = match commands {
            Ok(commands) => (commands, None),
            Err(flaw) => (Vec::new(), Some(flaw)),
        };
        let (episode, session) = (running.episode, reply.session);
        let request = ActionRequested {
            round: reply.round,
            flaw,
            mode: mode_and_reason(false, enforcement(tools.tested.as_ref(), is_invalid)).0,
            links,
            ..self.request_of(episode, Door::Bridge, commands)
        };
        let (batch, judged, read) = self.judge_request(request, session, &line);
        let call = judged.call;
        // The commit runs on while the plan is made; the worker waits for it. So nothing runs whose decision a crash could
        // still lose.
        let durable_at = batch.last().unwrap_or(Seq(0));
        self.commit_batch(batch);
        match read.filter(|_| judged.decision != Decision::Deny) {
            None => {
                let why = denial_text(&judged);
                self.answer_call(exchange, CallResult::not_run(call, line, &why))
            }
            Some(read) => self.start_tool(exchange, (call, line), &read, durable_at),
        }
    }

    /// Hands an allowed call to the worker.
    fn start_tool(
        &mut self,
        exchange: ExchangeId,
        (call, line): (CallId, String),
        judged: &JudgedLine,
        durable_at: Seq,
    ) -> Option<()> {
        let tools = self.tools.as_ref()?;
        let reply = self.running.get_mut(&exchange)?.tools.as_mut()?;
        let left = reply.time_left(TOOLS_TIME);
        let under_way = reply.working.as_mut()?.under_way.insert(RunningTool {
            call,
            line,
            class: judged.gravest_class(),
            stop: None,
        });
        let planned = tools.scope.plan_line(judged);
        let planned = planned.map_err(|error| error.to_string());
        let piped = io::pipe().map_err(|error| error.to_string());
        let (mut plan, (reader, writer)) = match planned.and_then(|plan| Ok((plan, piped?))) {
            Ok(both) => both,
            Err(why) => return self.tool_ended(exchange, call, RunOutcome::not_started(why)),
        };
        plan.limits = SandboxLimits {
            time: plan.limits.time.min(left),
            ..plan.limits
        };
        under_way.stop = Some(writer);
        let run = ToolRun {
            exchange,
            call,
            plan,
            durable_at,
            stop: reader,
        };
        let jobs = tools.jobs.as_ref();
        match jobs.is_some_and(|jobs| jobs.send(ToolJob::Run(Box::new(run))).is_ok()) {
            true => Some(()),
            false => {
                let outcome = RunOutcome::not_started("the thread for tools has ended");
                self.tool_ended(exchange, call, outcome)
            }
        }
    }

    /// A tool has come to its end, or wasn't started.
    pub(super) fn tool_ended(
        &mut self,
        exchange: ExchangeId,
        call: CallId,
        outcome: RunOutcome,
    ) -> Option<()> {
        let raw = outcome.output.kept_text();
        let output = redact::without_credentials(&raw);
        let ran = ToolRan {
            call,
            outcome: recorded_outcome(&outcome.ended),
            output: None,
            redacted: *output != *raw,
            bytes: outcome.output.bytes,
            duration_ms: whole_millis(outcome.duration),
            cpu_ms: whole_millis(outcome.cpu),
            rss_bytes_max: outcome.rss_bytes_max,
        };
        let at = self.wiring.clock.now();
        // Recorded before the reply is looked up: whatever ran is on record, even if the reply is gone.
        let batch = self.engine.tool_ran(at, ran, &output);
        self.commit_batch(batch);
        let under_way = &mut self.working(exchange)?.under_way;
        let RunningTool { line, class, .. } = under_way.take_if(|it| it.call == call)?;
        let status = format!(
            "{}, {} ms, {class}",
            outcome.ended,
            outcome.duration.as_millis()
        );
        let session = self.engine.session_of(call.episode).unwrap_or_default();
        let shown = self.engine.output_without_off(session, &line, &output);
        let output = shown.as_deref().unwrap_or(&output);
        self.answer_call(exchange, CallResult::from_run(call, line, output, status))?;
        self.make_waiting_calls(exchange)
    }

    /// Hands a call's result to the client and the model.
    fn answer_call(&mut self, exchange: ExchangeId, result: CallResult) -> Option<()> {
        let fence = result.result_fence(&self.running.get(&exchange)?.reply.text);
        self.working(exchange)?.results.push(result);
        self.say_for_model(exchange, fence);
        Some(())
    }

    /// Says something in the model's place.
    fn say_for_model(&mut self, exchange: ExchangeId, text: String) {
        if let Some(running) = self.running.get_mut(&exchange) {
            running.reply.tail.push_str(&text);
        }
        self.record_text(exchange);
        self.wiring.to_loop.send(ToLoop::Say { exchange, text });
    }

    /// All calls of a round were made: the model goes on, unless a limit or a halt ends the reply.
    fn end_round(&mut self, exchange: ExchangeId) -> Option<()> {
        let running = self.running.get_mut(&exchange)?;
        let reply = running.tools.as_mut()?;
        let working = reply.working.take()?;
        assert!(
            working.asked.is_none() && working.under_way.is_none(),
            "a round ends after its last call"
        );
        reply.past.push(PastRound {
            text: working.text,
            results: working.results,
        });
        let is_used_up = reply.round > ROUNDS_MAX || reply.time_left(TOOLS_TIME).is_zero();
        let halt = self.engine.tool_session(reply.session).halt;
        if is_used_up || halt.is_some() {
            running.tools = None;
            if let Some(why) = halt.and_then(|reason| notice::why_in("halts", reason)) {
                // The user's line: the model would read the word that acts in the reply's text.
                let told = format!(
                    "Tools are halted: {why}. They run again once you say `@tslp resume` in a prompt."
                );
                match &mut running.news {
                    Some(News::Chat(news)) => news.about_work = Some(told),
                    _ => {
                        let text = delimiter::user_line(&told);
                        self.wiring.to_loop.send(ToLoop::Say { exchange, text });
                    }
                }
            }
            self.settle_reply(exchange, ResponseEnd::Complete { status: 200 });
            return None;
        }
        reply.round += 1;
        // The results are in the text already; the next round's calls are read after them, so a fence in an output is no call.
        reply.round_from = running.reply.text.len();
        let last = reply.last.clone();
        let body = next_body(running.dialect, &reply.body, last, &reply.past);
        let request = running.request_with(body);
        running.next_response();
        let next = ToLoop::NextRound { exchange, request };
        self.wiring.to_loop.send(next);
        Some(())
    }

    /// Records a verdict on each command line that a reply has the client run, if that is wanted and wasn't done.
    pub(super) fn observe_calls(
        &mut self,
        episode: EpisodeId,
        calls: &[ToolCallRef],
        are_judged: bool,
    ) {
        if are_judged || self.client_tools() == ClientTools::Off {
            return;
        }
        for call in calls.iter().take(JUDGED_CALLS_MAX as usize) {
            if let Some(arguments) = self.engine.text(call.arguments) {
                self.judge_client_call(episode, &call.name, &arguments);
            }
        }
    }

    /// Judges a call of the client's own tools that is complete, where they wait for that.
    pub(super) fn judge_complete_call(
        &mut self,
        exchange: ExchangeId,
        number: usize,
        call: &ToolCall,
    ) {
        let Some(running) = self.running.get(&exchange) else {
            return;
        };
        // It comes in the place of others: it is judged once all of it is known.
        if running.first.is_some() {
            return;
        }
        let as_they_come = running.calls == CallRule::AsTheyCome;
        let fitted = match as_they_come {
            true => None,
            false => self.fitted_call(exchange, call),
        };
        let instead = match as_they_come {
            true => None,
            false => self.text_instead_of(exchange, fitted.as_ref().unwrap_or(call)),
        };
        if let Some(text) = instead {
            return self.deny_call(exchange, number, text);
        }
        let waits = !as_they_come && self.waits_for_reply(exchange, number, call, fitted.as_ref());
        if !waits {
            self.let_call_go(exchange, number, fitted);
        }
    }

    /// The client gets a call, as it came or as another one.
    pub(super) fn let_call_go(
        &mut self,
        exchange: ExchangeId,
        number: usize,
        instead: Option<ToolCall>,
    ) {
        if let Some(running) = self.running.get_mut(&exchange) {
            running.calls_passed.push((number, instead.clone()));
        }
        let verdict = instead.map_or(CallVerdict::Passes, CallVerdict::Replaced);
        self.tell_verdict(exchange, number, verdict);
    }

    /// The client gets a text in the place of a call.
    pub(super) fn deny_call(&mut self, exchange: ExchangeId, number: usize, text: String) {
        if let Some(running) = self.running.get_mut(&exchange) {
            running.has_denied = true;
        }
        self.tell_verdict(exchange, number, CallVerdict::Denied(text));
    }

    fn tell_verdict(&self, exchange: ExchangeId, number: usize, verdict: CallVerdict) {
        self.wiring.to_loop.send(ToLoop::CallJudged {
            exchange,
            number,
            verdict,
        });
    }

    /// The text that the client gets in the place of a call, if that is denied.
    pub(super) fn text_instead_of(
        &mut self,
        exchange: ExchangeId,
        call: &ToolCall,
    ) -> Option<String> {
        if !self.holds_client_calls() {
            return None;
        }
        let episode = self.running.get(&exchange)?.episode;
        let is_strict = self.client_tools() == ClientTools::Strict;
        let why = match self.engine.tool_call_count(episode) >= JUDGED_CALLS_MAX {
            true if !is_strict => return None,
            true => format!("one of more than {JUDGED_CALLS_MAX} calls of a reply"),
            false => {
                let denied = self.judge_client_call(episode, &call.name, &call.arguments);
                denied.filter(|it| is_strict || it.is_never_meant)?.what
            }
        };
        let why = delimiter::defused(&why);
        let text = format!(
            "The Guardian kept back {why}. It was not run: find a way inside of the workspace, or ask the user to do it.\n"
        );
        self.in_place_of_call(exchange, text)
    }

    /// A text that the client gets in the place of a call, which is part of the reply.
    pub(super) fn in_place_of_call(
        &mut self,
        exchange: ExchangeId,
        text: String,
    ) -> Option<String> {
        let running = self.running.get_mut(&exchange)?;
        let reply = &mut running.reply;
        // Blocks and items are texts of their own; in the other dialects the text goes on.
        let text_goes_on = matches!(
            running.dialect,
            Dialect::ChatCompletions | Dialect::OllamaChat
        );
        let text = match reply.tail.is_empty() && reply.text.is_empty() || !text_goes_on {
            true => text,
            false => format!("\n\n{text}"),
        };
        reply.tail.push_str(&text);
        Some(text)
    }

    /// The response is over: calls that weren't judged don't reach the client. Whether any was kept back.
    fn keeps_calls_back(&mut self, exchange: ExchangeId, ending: ResponseEnd) -> bool {
        let is_strict = self.client_tools() == ClientTools::Strict;
        let running = self.running.get_mut(&exchange);
        let Some(running) = running.filter(|it| it.calls != CallRule::AsTheyCome) else {
            return false;
        };
        for (number, fitted) in &running.calls_passed {
            if let Some(fitted) = fitted {
                running.read.replace_call(*number, fitted.clone());
            }
        }
        if !is_strict && !running.has_denied {
            return false;
        }
        let calls = running.read.calls.len();
        let passed = running.calls_passed.iter().map(|(number, _)| *number);
        running.read.keep_calls(&passed.collect::<Vec<_>>());
        let is_unread = is_strict && ending.is_success() && running.read.is_unreadable;
        is_unread || running.read.calls.len() < calls
    }

    /// Records a verdict on a call of one of the client's own tools; if it is denied, what is, and why.
    pub(super) fn judge_client_call(
        &mut self,
        episode: EpisodeId,
        tool: &str,
        arguments: &str,
    ) -> Option<DeniedCall> {
        let session = self.engine.session_of(episode)?;
        let parts = guardian::call_parts(tool, arguments);
        let parts: Vec<(CallPart, String)> = parts
            .into_iter()
            .map(|(part, text)| (part, redact::without_credentials(&text).into_owned()))
            .collect();
        let (_, shown) = parts.iter().find(|(part, _)| *part != CallPart::Folder)?;
        let shown = shown.clone();
        let commands = parts.into_iter().map(|(part, text)| SimpleCommand {
            join: Join::First,
            words: vec![part.as_str().to_owned(), text],
        });
        let request = self.request_of(episode, Door::Client, commands.collect());
        let (batch, judged, _) = self.judge_request(request, session, &shown);
        self.commit_batch(batch);
        let harms = judged.denials.iter();
        let mut harms = harms.filter_map(|it| Harm::of_word(&it.code));
        (judged.decision == Decision::Deny).then(|| DeniedCall {
            what: format!("`{}` ({})", line_beginning(&shown), denial_text(&judged)),
            is_never_meant: harms.any(Harm::is_never_meant),
        })
    }

    /// A request in which neither the sandbox nor the disk has a part.
    fn request_of(
        &self,
        episode: EpisodeId,
        door: Door,
        commands: Vec<SimpleCommand>,
    ) -> ActionRequested {
        ActionRequested {
            call: CallId {
                episode,
                number: self.engine.tool_call_count(episode) + 1,
            },
            door,
            round: 1,
            text: ArtifactHash::of(b""),
            flaw: None,
            commands,
            mode: Mode::Ready,
            scope: ArtifactHash::of(b""),
            links: Vec::new(),
        }
    }

    /// Records a request and decides on it.
    fn judge_request(
        &mut self,
        request: ActionRequested,
        session: SessionId,
        line: &str,
    ) -> (Batch, ActionJudged, Option<JudgedLine>) {
        let rules = self.rules_in_force();
        let tools = self.tools.as_ref().expect("whoever judges has a profile");
        let mut jail = tools.scope.tool_jail();
        if request.door == Door::Client {
            let locked = self.engine.state().scope().locked(session).into_iter();
            let absolute = |path| format!("{}/{path}", jail.root);
            jail.locked = locked.map(absolute).collect();
        }
        let wanted = WantedCall {
            request,
            session,
            text: line.to_owned(),
            scope: jail.to_text().expect("tools are on in no other workspace"),
            jail,
        };
        let at = self.wiring.clock.now();
        self.engine
            .judge_call(at, wanted, (&rules.profile, rules.policy))
    }

    /// Records all of a reply's text so far.
    pub(super) fn record_text(&mut self, exchange: ExchangeId) {
        let Some(running) = self.running.get_mut(&exchange) else {
            return;
        };
        let at = self.wiring.clock.now();
        let (episode, reply) = (running.episode, &mut running.reply);
        let batch = self
            .engine
            .record_segment(at, episode, reply, SegmentExtent::Whole);
        self.commit_batch(batch);
    }

    /// Ends every tool that runs.
    pub(super) fn stop_tools(&mut self) {
        let replies = self.running.values_mut();
        let replies = replies.filter_map(|running| running.tools.as_deref_mut());
        let running = replies.filter_map(|reply| reply.working.as_mut()?.under_way.as_mut());
        running.for_each(|tool| tool.stop = None);
    }

    /// Another profile was approved.
    pub(super) fn forget_rules(&mut self) {
        if let Some(tools) = &mut self.tools {
            tools.rules = None;
        }
    }

    /// The approved profile, or the built-in one.
    fn rules_in_force(&mut self) -> RulesInForce {
        let known = self.tools.as_ref().and_then(|tools| tools.rules.clone());
        if let Some(rules) = known {
            return rules;
        }
        let approved = self.engine.state().guardian().approved_policy().cloned();
        let text = approved
            .as_ref()
            .and_then(|approved| self.engine.evidence(approved.text));
        let read = text.as_ref().map(|text| profile_file::parse_profile(text));
        let is_invalid = approved.is_some() && !matches!(read, Some(Ok(_)));
        if is_invalid {
            tracing::error!("tools are off: the approved policy profile can't be read");
        }
        let profile = read
            .and_then(Result::ok)
            .unwrap_or_else(ToolProfile::built_in);
        let rules = RulesInForce {
            profile: Arc::new(profile),
            policy: approved.map(|approved| approved.text),
            is_invalid,
        };
        if let Some(tools) = &mut self.tools {
            tools.rules = Some(rules.clone());
        }
        rules
    }
}

/// Whether a test still counts that was made then. If the clock was set back, it doesn't.
fn is_recent(tested_at: UnixMillis, now: UnixMillis) -> bool {
    let age = now.0.checked_sub(tested_at.0);
    age.is_some_and(|age| (0..TEST_VALID_MILLIS).contains(&age))
}

/// What holds tools: the sandbox by its last test, and the profile.
fn enforcement(
    tested: Option<&Result<(), String>>,
    is_policy_invalid: bool,
) -> Option<Result<(), String>> {
    match is_policy_invalid {
        true => Some(Err("the approved policy profile can't be read".to_owned())),
        false => tested.cloned(),
    }
}

/// The paths that a line's commands name.
fn paths_of(commands: &[SimpleCommand], jail: &Jail, profile: &ToolProfile) -> BTreeSet<String> {
    let context = LineContext {
        profile,
        mode: Mode::Ready,
        now: UnixMillis(0),
        grants: &[],
        builds: 0,
        jail,
        leads_to: &|_| None,
    };
    let judged = judge_line(commands.to_vec(), &context).commands.into_iter();
    judged.flat_map(|command| command.targets).collect()
}

/// The part of a command line that people are shown, between backticks.
fn line_beginning(line: &str) -> String {
    let first = line.split_once('\n').map_or(line, |(first, _)| first);
    let end = boundary_before(first, SHOWN_LINE_BYTES_MAX);
    let rest = if end < line.len() { "…" } else { "" };
    format!("{}{rest}", first[..end].replace('`', "'"))
}

/// The reasons why a call isn't run, for the model; each is named once.
fn denial_text(judged: &ActionJudged) -> String {
    let mut why: Vec<String> = Vec::new();
    for denial in judged.first_denials() {
        let said = format!("DENY, {}: {}", denial.code, denial.why);
        if !why.contains(&said) {
            why.push(said);
        }
    }
    why.join("; ")
}

/// A run's end, as it is recorded.
pub(super) fn recorded_outcome(ended: &ToolOutcome) -> ToolOutcome {
    match ended.clone() {
        ToolOutcome::NotStarted(why) => {
            ToolOutcome::NotStarted(redact::without_credentials(&why).into_owned())
        }
        other => other,
    }
}

pub(super) fn whole_millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
