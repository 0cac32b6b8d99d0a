//! Long code is parsed by a thread of its own before the engine decides about it, so that nobody else's prompt waits for a parser.
//!
//! What was parsed comes back with the message, for as long as that is handled. What isn't among it the engine parses itself, so no
//! decision depends on it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::{io, thread};

use crossbeam_channel::{Sender, unbounded};
use tslp_core::message::Role;
use tslp_core::policy::Policy;
use tslp_core::read_message::ReadMessage;
use tslp_core::request::Request;
use tslp_grammars::{ParsedTexts, remembering};
use tslp_projections::state::State;
use tslp_projections::store::EmptyStore;

use super::EngineThread;
use crate::channel::ToEngine;
use crate::engine::new_engine;

/// New text of a message from which on it is parsed first: for less a parser takes 50 ms at most.
const LONG_BYTES: usize = 32 << 10;

/// A message to the engine, and what is said in it.
pub(super) type Unparsed = (ToEngine, Vec<Arc<ReadMessage>>);

impl EngineThread {
    /// Has long texts parsed by another thread, which sends each message back as [`ToEngine::Parsed`].
    ///
    /// # Errors
    /// If the thread can't be started.
    pub fn with_parser(mut self, policy: Policy, to_engine: Sender<ToEngine>) -> io::Result<Self> {
        // What waits is bounded by the bodies and replies that are kept at all.
        let (parser, unparsed) = unbounded::<Unparsed>();
        thread::Builder::new()
            .name("parser".into())
            .spawn(move || {
                for (message, said) in unparsed {
                    // Where a text makes a parser fail, the engine says so.
                    let parsed = catch_unwind(AssertUnwindSafe(|| parse(&said, &policy)));
                    let message = ToEngine::Parsed(message.into(), parsed.unwrap_or_default());
                    if to_engine.send(message).is_err() {
                        return;
                    }
                }
            })?;
        self.parser = Some(parser);
        Ok(self)
    }

    /// Has a message parsed first.
    pub(super) fn parse_first(&self, message: ToEngine, said: Vec<Arc<ReadMessage>>) {
        let parser = self.parser.as_ref().expect("only then is anything long");
        let sent = parser.send((message, said));
        sent.expect("it ends after this thread");
    }

    /// What the user says in a request that may be new, if that is long. The last message acts again in another conversation.
    pub(super) fn long_prompt(&self, request: &Request) -> Option<Vec<Arc<ReadMessage>>> {
        self.parser.as_ref()?;
        let (last, older) = request.messages.split_last()?;
        // A short one isn't worth to be looked for.
        let is_long = |it: &&Arc<ReadMessage>| it.recorded().len() >= 1 << 10;
        let is_users = |it: &&Arc<ReadMessage>| it.role == Role::User;
        // A conversation that goes on is known but for its end: one look-up, however long it is.
        let new = older.iter().rev().filter(is_users).filter(is_long);
        let new = new.take_while(|it| !self.engine.holds(it.content()));
        let said: Vec<_> = new.chain(Some(last).filter(is_users)).cloned().collect();
        let bytes: usize = said.iter().map(|it| it.recorded().len()).sum();
        (bytes >= LONG_BYTES).then_some(said)
    }
}

/// Parses the code in what was said, as an engine finds it that knows nothing.
fn parse(said: &[Arc<ReadMessage>], policy: &Policy) -> ParsedTexts {
    let engine = new_engine(State::default(), policy, EmptyStore);
    let find = |message: &Arc<ReadMessage>| engine.read_users_code(message.recorded());
    remembering(ParsedTexts::new(), || said.iter().for_each(find)).1
}

#[cfg(test)]
mod tests {
    use tslp_core::ids::UnixMillis;
    use tslp_core::message::{Attempt, Message, Tools};

    use super::*;

    /// Code of some length in forms in which people show it.
    fn texts() -> Vec<String> {
        let code = "int f(int a)\n{\n    return a + 1;\n}\n".repeat(20);
        let lines = |line: &str| line.repeat(500);
        vec![
            format!("src/a.c\n```c\n{code}```\n"),
            format!("src/a.h\n```\n{code}```\nand\n```c\nint b = 1;\n```\n"),
            format!("src/a.js\n```\n{}```\n", lines("a->b\n")),
            format!("src/a.rb\n```\n{}```\n", lines("def a\n  1\nend\n")),
            format!("```c\n{code}```\n"),
            format!("```\n{code}```\n"),
            format!("what is this?\n\n{code}\nthanks"),
            format!("<file path=\"src/b.c\">\n{code}</file>\n\nwhat?"),
        ]
    }

    /// The engine parses nothing that was parsed ahead of it.
    #[test]
    fn parsed_once() {
        for text in texts() {
            let policy = Policy::default();
            let message: Arc<ReadMessage> = Message::new(Role::User, &text).into();
            let said = [message];
            let parsed = parse(&said, &policy);
            let known = parsed.len();
            assert!(known > 0, "{text}");
            let request = Request {
                model: String::new(),
                messages: said.to_vec(),
                session_name: None,
                continues: None,
                attempt: Attempt::First,
                tools: Tools::None,
            };
            let mut engine = new_engine(State::default(), &policy, EmptyStore);
            let receive = || {
                engine
                    .receive(UnixMillis(1), request, &mut |_| Vec::new())
                    .touches
            };
            let (_, parsed) = remembering(parsed, receive);
            assert_eq!(parsed.len(), known, "{text}");
        }
    }
}
