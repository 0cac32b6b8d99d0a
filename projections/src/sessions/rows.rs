//! The rows of sessions.

use tslp_core::ids::SessionId;

use core::ops::Deref;

use super::Session;

row! {
    /// `sessions`: conversations that can be continued, each as a whole.
    pub struct SessionRow in table "sessions", version 10;
    key {
        /// The session.
        session: SessionId,
    }
    values {
        /// All that is known of it.
        state: Session,
    }
}

impl Deref for SessionRow {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.state
    }
}

crate::stored_cells!(Session);
