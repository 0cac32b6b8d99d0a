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

/// The user's messages in the session's last complete turn, or in the one that a draft answers.
pub(crate) fn last_texts(view: &StateView<'_>, session: SessionId) -> Vec<String> {
    let sessions = view.state.sessions();
    let said = match view.is_of_draft {
        true => sessions.open_texts(session).to_vec(),
        false => {
            let exchange = sessions.recent_exchanges(session).pop();
            exchange.map_or_else(Vec::new, |exchange| exchange.user)
        }
    };
    said.into_iter().filter_map(|it| view.text(it)).collect()
}

/// Their text, without directives.
#[must_use]
pub(crate) fn last_asked(view: &StateView<'_>, session: SessionId) -> String {
    let texts = last_texts(view, session);
    let texts = texts.iter().map(|text| directive::without_directives(text));
    texts.collect::<Vec<_>>().join("\n")
}
