//! What vouches for a page that shows rows of the projections' tables: nobody reads the whole ledger for it.

use tslp_core::event::Event;
use tslp_projections::file_code::TrueEntity;
use tslp_store::ledger::{LedgerReader, TablesState};
use tslp_store::startup::{self, StartError};

use super::{DiagnosedSubject, doctor};

/// A page with the reason why nothing vouches for it, if that is so. It is then what the tables say.
#[derive(Debug, Default)]
pub struct VouchedPage<T> {
    /// The page.
    pub page: T,
    /// What is wrong with the ledger or the tables, as far as a look without reading all of it tells.
    pub flaw: Option<String>,
}

/// Why the tables can't be believed: a damage that was found before, a head that the anchor doesn't vouch for, last events that don't
/// follow one another, or rows that aren't of the ledger's head.
///
/// # Errors
/// When there is no ledger in the file, or another version of tslp wrote its last events.
pub(crate) fn flaw_of_tables(
    subject: &DiagnosedSubject,
    reader: &LedgerReader,
) -> Result<Option<String>, StartError> {
    // Without it there are no rows either, and its error says what happened.
    reader.head()?;
    let tail = match startup::verify_tail(reader) {
        Err(error) if error.is_other_version() => return Err(error),
        tail => tail,
    };
    let flaw = subject
        .safe_mode_reason()
        .or_else(|| tail.err().map(|error| error.to_string()))
        .or_else(|| doctor::head_anchor(subject, reader).err())
        .or_else(|| match reader.tables_state() {
            Ok(TablesState::UpTo(_)) => {
                let flaw = reader.flaw_of_tail();
                flaw.unwrap_or_else(|error| Some(error.to_string()))
            }
            Ok(TablesState::Rebuild { reason }) => Some(format!(
                "{reason}; `tslp rebuild`, or the next start of `tslp serve`, makes the tables anew"
            )),
            Err(error) => Some(error.to_string()),
        });
    Ok(flaw)
}

/// Why a row can't be believed: the event that it names, read with its link, says something else.
pub(crate) fn flaw_of_row(reader: &LedgerReader, row: &TrueEntity) -> Option<String> {
    let said = reader.event_at(row.seq).map(|recorded| recorded.event);
    let mut moves = said.iter().flat_map(Event::transitions);
    let is_said = moves.any(|it| it.entity == row.entity && it.version == row.version);
    (!is_said).then(|| {
        format!(
            "event {} doesn't say what the table state_map says of {}: run `tslp verify`",
            row.seq, row.entity
        )
    })
}
