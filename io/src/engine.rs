//! The engine of this program.

use tslp_core::ids::UnixMillis;
use tslp_core::policy::Policy;
use tslp_core::request::Request;
use tslp_decide::scope::work::WithheldPrompt;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::state::State;
use tslp_projections::store::Store;
use tslp_replay::engine::Engine;
use tslp_replay::pending::{ComposedPrompt, DiskAnswers};
use tslp_workspace::observer::WorkspaceObserver;

use crate::VERSION;

/// How long a request is for its model.
#[derive(Clone, Debug, Default)]
pub struct RequestLength {
    /// Its tokens, estimated.
    pub tokens: u64,
    /// Why it isn't sent, if it is too long.
    pub refused: Option<WithheldPrompt>,
}

/// Takes a request through the engine to what goes out, with looks at the disk in between.
pub fn compose_request<S: Store>(
    engine: &mut Engine<TreeSitterGrammars, S>,
    observer: &mut dyn WorkspaceObserver,
    at: UnixMillis,
    request: Request,
    length: RequestLength,
) -> ComposedPrompt {
    let mut pending = engine.receive(at, request, &mut |asked| observer.places(asked));
    (pending.tokens, pending.withheld) = (length.tokens, length.refused);
    let checks = std::mem::take(&mut pending.checks);
    let paths: Vec<_> = checks.iter().map(|check| check.path.clone()).collect();
    let findings: Vec<_> = paths.into_iter().zip(observer.check(checks)).collect();
    engine.read_changed(&mut pending, &findings);
    let (off_files, aliases) = observer.off_files(&pending.off_rules);
    let answers = DiskAnswers {
        findings,
        texts: pending
            .reads
            .iter()
            .map(|path| observer.read(path))
            .collect(),
        touched: pending
            .touches
            .iter()
            .map(|path| observer.touch(path))
            .collect(),
        aftermath: pending
            .aftermath
            .iter()
            .map(|path| observer.read(path))
            .collect(),
        off_files,
        aliases,
    };
    engine.compose(pending, answers)
}

/// An engine with the grammars that this program links, and with the rules in force put on record.
pub fn new_engine<S: Store>(
    state: State,
    policy: &Policy,
    store: S,
) -> Engine<TreeSitterGrammars, S> {
    let mut engine = Engine::new(state, TreeSitterGrammars, policy.clone(), store);
    engine.declare_rules(VERSION);
    engine
}
