//! Before a prompt goes on or a reply counts: what it says, and which files have to be looked at for that.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::artifact::Origin;
use tslp_core::event::ReplyOutcome;
use tslp_core::extract::Grammars;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::SessionId;
use tslp_core::message::ToolCall;
use tslp_core::path::RelPath;
use tslp_core::policy::OnStale;
use tslp_core::record;
use tslp_core::request::Request;
use tslp_core::scope::{self, ScopeChange};
use tslp_decide::code_reader::CodeReader;
use tslp_decide::judge::found_code::{self, FoundCode, MessageEnd};
use tslp_decide::judge::promote::MessagePieces;
use tslp_decide::judge::reply::Reply;
use tslp_decide::prompt::authorship::MessageAuthors;
use tslp_decide::prompt::hydrate;
use tslp_decide::prompt::mention::Mentions;
use tslp_decide::prompt::reader::{self, PastedCode, PromptReader};
use tslp_decide::prompt::receive::{PromptRepetition, ReceivedPrompt};
use tslp_decide::prompt::records;
use tslp_decide::prompt::unfenced;
use tslp_decide::scope::place::Standpoint;
use tslp_decide::scope::touch;
use tslp_decide::user::direct::{self, ResolvedDirective};

use super::Engine;
use crate::pending::{
    BatchBuilder, DiskChecks, ExaminedPrompt, PendingPrompt, PendingReply, RequestKind,
};
use tslp_projections::state::StateView;
use tslp_projections::store::Store;

/// Most files that calls have changed otherwise than by a judged edit and that are read again with each prompt.
const UNJUDGED_FILES_MAX: usize = 32;

impl<G: Grammars, S: Store> Engine<G, S> {
    /// Reads a prompt that is recorded, records its directives, and says what to look at.
    pub(super) fn examine(
        &mut self,
        request: Request,
        received: ReceivedPrompt,
        mut work: BatchBuilder,
    ) -> PendingPrompt {
        let authors: BTreeMap<usize, MessageAuthors> = {
            let (view, mut index) = (self.view(), self.index.borrow_mut());
            let new = received.new_user_messages.iter();
            new.map(|at| {
                let text = request.messages[*at].recorded();
                (*at, MessageAuthors::of(&view, &mut index, text))
            })
            .collect()
        };
        let given = {
            let view = self.view();
            self.prompt_reader(&view, &request, &received, &authors)
                .directives()
        };
        let directives = given
            .typed
            .into_iter()
            .map(|directive| self.record_directive(directive, received.repetition, &mut work));
        let directives: Vec<ResolvedDirective> = directives.collect();
        let view = self.view();
        let reader = self.prompt_reader(&view, &request, &received, &authors);
        let refused = given.refused.into_iter().map(|(reason, directive)| {
            let said = received.repetition;
            let resolved =
                direct::resolve_directive(&view, self.standpoint(&work), &directive, said);
            (reason, resolved.entity.ok())
        });
        let refused = refused.collect();
        let (prompt, pasted, repeated) =
            (reader.text(), reader.pasted_code(), reader.repeated_code());
        let mentions = self.mentions(&request, &received, &prompt, (&pasted, &repeated));
        let mut checks = DiskChecks::default();
        for pasted in &pasted {
            checks.add_code(&view, &pasted.found);
        }
        let candidates =
            hydrate::hydration_candidates(&view, received.session, &mentions, request.tools);
        let named: BTreeSet<RelPath> = candidates.into_iter().map(|(it, _)| it.path).collect();
        let in_messages =
            reader.files_in_messages(&view, &self.policy, &mut self.index.borrow_mut());
        let (about, of_records) = records::search_records(
            &view,
            &mut self.index.borrow_mut(),
            &request,
            received.session,
            &named,
        );
        for path in named.iter().chain(&in_messages).chain(&of_records) {
            checks.add_file(&view, path);
        }
        let cited: Vec<RelPath> = directives
            .iter()
            .filter_map(|directive| self.file_of_record(directive))
            .collect();
        for path in &cited {
            checks.add_file(&view, path);
        }
        let reads: Vec<RelPath> = accepted(&directives).cloned().collect();
        for path in &reads {
            checks.add_file(&view, path);
        }
        // What disk holds when the user decides is what they decide over.
        for entity in directives
            .iter()
            .filter_map(|directive| directive.entity.as_ref().ok())
        {
            checks.add_file(&view, &entity.path);
        }
        for path in view.state.scope().locked(received.session) {
            checks.add_file(&view, &path);
        }
        let mut off_rules = view.state.scope().off().clone();
        off_rules.extend(directives.iter().filter_map(|directive| {
            let change = directive.verb.scope_change()?;
            let is_about_sight = matches!(change, ScopeChange::Off | ScopeChange::On);
            let pattern = scope::parse_pattern(&directive.target).ok();
            Some((change, pattern.filter(|_| is_about_sight)?))
        }));
        let mut touches = match received.repetition {
            // These files were looked at when the prompt was first sent; since then the model may have changed them.
            PromptRepetition::Answered => Vec::new(),
            PromptRepetition::First
            | PromptRepetition::Regenerated
            | PromptRepetition::Ambiguous => {
                let mut touches =
                    touch::by_prompt(self.code_reader(&view, received.session), &prompt);
                let code = self.code_reader(&view, SessionId(0));
                touches.extend(touch::by_reply(code, &[], &[], &cited));
                let mut seen = BTreeSet::new();
                touches.retain(|path| seen.insert(path.clone()));
                touches
            }
        };
        let (session, at) = (received.session, work.at);
        let written = touch::by_answered_calls(self.code_reader(&view, session), at);
        touches.extend(
            written
                .into_iter()
                .filter(|it| !touches.contains(it))
                .collect::<Vec<_>>(),
        );
        // What is accepted is read anyway.
        touches.retain(|path| !reads.contains(path));
        let stale = view.state.stale().iter().map(|(entity, _)| &entity.path);
        let unjudged = stale.filter(|path| view.disk_author(path).origin != Origin::User);
        let unjudged: BTreeSet<&RelPath> = unjudged.collect();
        let unjudged = unjudged.into_iter().take(UNJUDGED_FILES_MAX);
        let mut aftermath: Vec<RelPath> = unjudged.cloned().collect();
        let differs = |path: &RelPath| {
            let mut entities = self.entities_of(path).into_iter();
            entities.any(|it| view.divergence(&it).is_some() || view.state.stale().is_unsaved(&it))
        };
        if self.policy.reading_acknowledges() {
            aftermath.extend(in_messages.into_iter().filter(differs));
        }
        if self.policy.on_stale == OnStale::Follow {
            aftermath.extend(named.into_iter().filter(differs));
        }
        let mut seen = BTreeSet::new();
        // What the user pastes or accepts is decided about as that.
        let is_pasted = |path: &RelPath| {
            let mut pasted = pasted.iter().filter_map(|it| it.found.usable_path());
            pasted.any(|pasted| pasted == path)
        };
        let is_own = |path: &RelPath| reads.contains(path) || is_pasted(path);
        aftermath.retain(|path| seen.insert(path.clone()) && !is_own(path));
        for path in &aftermath {
            checks.add_file(&view, path);
        }
        let examined = ExaminedPrompt {
            has_pathless_code: reader.has_pathless_code(&pasted),
            refused_directives: refused,
            mentions: (self.state.head(), mentions),
            prompt,
            authors,
            pasted,
            repeated,
            directives,
            about,
        };
        PendingPrompt {
            checks: checks.into_vec(),
            reads,
            touches,
            aftermath,
            withheld: None,
            tokens: 0,
            off_rules,
            request,
            work,
            kind: RequestKind::Prompt(received, examined),
        }
    }

    pub(super) fn prompt_reader<'r>(
        &'r self,
        view: &'r StateView<'r>,
        request: &'r Request,
        received: &'r ReceivedPrompt,
        authors: &'r BTreeMap<usize, MessageAuthors>,
    ) -> PromptReader<'r> {
        PromptReader {
            code: self.code_reader(view, received.session),
            request,
            received,
            authors,
        }
    }

    /// The entities that a prompt names, by the state as it is now.
    pub(super) fn mentions(
        &self,
        request: &Request,
        received: &ReceivedPrompt,
        prompt: &str,
        code: (&[PastedCode], &[FoundCode]),
    ) -> Mentions {
        let view = self.view();
        let shown_before = reader::shown_before(&view, received.session);
        reader::mentions(
            self.code_reader(&view, received.session),
            (prompt, request.tools),
            code,
            &shown_before,
        )
    }

    /// Finds the code in a reply that is recorded, and says what to look at.
    pub(super) fn read_reply(
        &self,
        reply: Reply,
        outcome: ReplyOutcome,
        candidates: &[RelPath],
        work: BatchBuilder,
    ) -> PendingReply {
        let cut = if reply.finish_reason.as_deref() == Some("length") {
            MessageEnd::CutShort
        } else {
            MessageEnd::Whole
        };
        // The reply to a side request is nobody's proposal.
        let session = self.session_of(work.episode);
        let is_judged = outcome == ReplyOutcome::Completed && session.is_some();
        let mut checks = DiskChecks::default();
        let (found, touches) = if is_judged {
            let view = self.view();
            let code = self.reply_reader(&view, work.session);
            let found = self.code_of_reply(code, &reply.text, &reply.tool_calls, cut);
            let named = touch::paths_in_reply(&reply.text, &reply.tool_calls);
            let touches = touch::by_reply(code, &named, &found, candidates);
            touch::known_files(code, &named).for_each(|path| checks.add_file(&view, &path));
            (found, touches)
        } else {
            (Vec::new(), Vec::new())
        };
        for found in &found {
            checks.add_code(&self.view(), found);
            if let Some(to) = found.moves_to(&self.policy.workspace_root) {
                checks.add_file(&self.view(), &to);
            }
        }
        let notes = match is_judged {
            true => records::proposals_in(&reply.text),
            false => Vec::new(),
        };
        self.check_notes(&notes, work.session, &mut checks);
        PendingReply {
            notes,
            checks: checks.into_vec(),
            touches,
            measured: Vec::new(),
            exceeded: None,
            end: cut,
            calls: if is_judged {
                reply.tool_calls
            } else {
                Vec::new()
            },
            text: if is_judged { reply.text } else { String::new() },
            found,
            containers: MessagePieces::new(reply.segments),
            work,
        }
    }

    /// Has the files looked at that proposed records cite.
    fn check_notes(&self, notes: &[String], session: SessionId, checks: &mut DiskChecks) {
        let view = self.view();
        for path in records::proposed_files(&view, Standpoint::of(&self.policy, session), notes) {
            checks.add_file(&view, &path);
        }
    }

    /// Reads the code in a user's text, and changes nothing.
    pub fn read_users_code(&self, text: &str) {
        let view = self.view();
        let _ = found_code::find_users_code(self.code_reader(&view, SessionId(0)), text);
        let _ = unfenced::has_pathless_code(&self.grammars, text);
    }

    /// The code in a reply, without examples that its client's system message holds.
    pub(super) fn code_of_reply(
        &self,
        code: CodeReader<'_>,
        text: &str,
        calls: &[ToolCall],
        cut: MessageEnd,
    ) -> Vec<FoundCode> {
        let mut found = found_code::find_code(code, text, calls, cut);
        // An agent's system message is long, and most of its replies hold no code.
        let system = code.session.filter(|_| !found.is_empty());
        let system = system.and_then(|session| self.state.sessions().system(session));
        if let Some(system) = system.and_then(|system| self.text(system)) {
            found.retain(|found| !found.is_example_in(code.view, &system));
        }
        found
    }

    /// Finds the code in another model's answer that is recorded, and says what to look at.
    pub(super) fn read_import(
        &self,
        content: ArtifactHash,
        (source, text): (&str, &str),
        work: BatchBuilder,
    ) -> PendingReply {
        let view = self.view();
        let code = self.code_reader(&view, work.session);
        let found = match source {
            // No call makes code true.
            record::MCP_SOURCE => Vec::new(),
            _ => found_code::find_code(code, text, &[], MessageEnd::Whole),
        };
        let mut checks = DiskChecks::default();
        for found in &found {
            checks.add_code(&view, found);
        }
        let notes = records::proposals_in(text);
        self.check_notes(&notes, work.session, &mut checks);
        PendingReply {
            checks: checks.into_vec(),
            touches: Vec::new(),
            notes,
            measured: Vec::new(),
            exceeded: None,
            end: MessageEnd::Whole,
            calls: Vec::new(),
            text: String::new(),
            found,
            containers: MessagePieces::new([(content, text.len())]),
            work,
        }
    }

    /// The user's text without the code in it.
    pub(super) fn text_around_code(&self, text: &str) -> String {
        let view = self.view();
        found_code::text_around_code(self.code_reader(&view, SessionId(0)), text)
    }
}

/// The files that the user accepts, in order.
fn accepted(directives: &[ResolvedDirective]) -> impl Iterator<Item = &RelPath> {
    directives.iter().filter_map(ResolvedDirective::accepts)
}
