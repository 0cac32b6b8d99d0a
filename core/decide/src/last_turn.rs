//! The last turn of a session, as it is on record.

use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::directive;
use tslp_core::entity::EntityId;
use tslp_core::ids::SessionId;
use tslp_projections::state::StateView;

/// The entities that the prompts since the user's last turn but one showed.
#[must_use]
pub fn shown_before(view: &StateView<'_>, session: SessionId) -> Vec<EntityId> {
    let before = view.state.sessions().turn_before(session);
    before.map(|turn| turn.shown).unwrap_or_default()
}

/// The user's text in the session's last complete turn, without directives.
#[must_use]
pub(crate) fn last_asked(view: &StateView<'_>, session: SessionId) -> String {
    let exchange = view
        .state
        .sessions()
        .recent_exchanges(session)
        .pop()
        .unwrap_or_default();
    let texts: Vec<String> = exchange
        .user
        .iter()
        .filter_map(|content| String::from_utf8(view.artifact_content(*content)?).ok())
        .collect();
    directive::without_directives(&texts.join("\n")).into_owned()
}
