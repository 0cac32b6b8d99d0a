//! What code in a message is read with.

use tslp_core::extract::Grammars;
use tslp_core::ids::SessionId;
use tslp_projections::state::StateView;

use crate::scope::place::{self, Standpoint};

/// Reads blocks of code by the state that edits are applied to, and the parsers.
#[derive(Clone, Copy)]
pub struct CodeReader<'r> {
    /// The state.
    pub view: &'r StateView<'r>,
    /// The parsers.
    pub grammars: &'r dyn Grammars,
    /// Where the paths in it are meant from.
    pub at: Standpoint<'r>,
    /// The conversation whose reply is read, if it is of one.
    pub session: Option<SessionId>,
}

/// Whether nobody can tell words that look like a path from prose: `my file.c` is one name, or the file `file.c` of somebody's. They are
/// taken whole where that is a tracked file, else not at all.
pub(crate) fn may_be_prose(reader: CodeReader<'_>, written: &str) -> bool {
    written.contains(' ')
        && !written.contains(['/', '\\'])
        && !place::of(reader.view, reader.at, written)
            .is_ok_and(|path| reader.view.state.state_map().tracks(&path))
}
