//! The engine of this program.

use tslp_core::policy::Policy;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::state::State;
use tslp_projections::store::Store;
use tslp_replay::engine::Engine;

use crate::VERSION;

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
