//! Rows for pages: a folded state's, or the tables'.

use std::ops::ControlFlow;

use tslp_projections::row::StoredRow;
use tslp_projections::state::State;
use tslp_store::ledger::{LedgerError, LedgerReader};

/// Where the rows of a page come from.
#[derive(Clone, Copy)]
pub(crate) enum RowSource<'s> {
    /// A state that was folded from the ledger.
    Folded(&'s State),
    /// The tables.
    Stored(&'s LedgerReader),
}

impl RowSource<'_> {
    /// Hands every row of a table to `visit`, in the order of its key.
    pub(crate) fn visit<R: StoredRow>(
        self,
        visit: &mut dyn FnMut(R) -> ControlFlow<()>,
    ) -> Result<(), LedgerError> {
        let state = match self {
            Self::Folded(state) => state,
            Self::Stored(reader) => return reader.visit_rows(visit),
        };
        let mut flow = ControlFlow::Continue(());
        state.visit_rows(R::INDEX, &mut |cells| {
            if flow.is_continue() {
                flow = visit(R::from_cells(&cells).expect("a state's own rows fit"));
            }
        });
        Ok(())
    }

    /// All rows of a table, in the order of its key.
    pub(crate) fn rows<R: StoredRow>(self) -> Result<Vec<R>, LedgerError> {
        let mut rows = Vec::new();
        self.visit(&mut |row| {
            rows.push(row);
            ControlFlow::Continue(())
        })?;
        Ok(rows)
    }
}
