//! What the projections say, folded from a ledger that is verified on the way; what their tables say where that fails.

use tslp_projections::state::State;
use tslp_store::evidence::scan::LedgerScan;
use tslp_store::startup::StartError;

use super::DiagnosedSubject;
use super::look::look_at_disk;
use super::row_source::RowSource;
use super::state::RecordedAt;
use crate::config::ServeConfig;

/// A page and, if nothing vouches for it, why.
#[derive(Debug)]
pub struct VerifiedPage<T> {
    /// The page.
    pub page: T,
    /// What is wrong with the ledger. The page is then what its tables say.
    pub flaw: Option<StartError>,
}

/// The moment whose disk contents a page shows.
#[derive(Clone, Copy)]
pub(crate) enum AsOf<'c> {
    /// The last look on record.
    Recorded,
    /// Now: every file is looked at.
    Now(&'c ServeConfig),
}

/// Makes a page out of a ledger's projections.
///
/// # Errors
/// When a newer program wrote the ledger, or neither its events nor its tables can be read.
pub(crate) fn verified_page<T>(
    subject: &DiagnosedSubject,
    as_of: AsOf<'_>,
    make: impl Fn(RowSource<'_>, RecordedAt<'_>) -> Result<T, StartError>,
) -> Result<VerifiedPage<T>, StartError> {
    let reader = subject.readers.open()?;
    let recorded_at = |seq| reader.recorded_at(seq).ok().flatten();
    let of_state = |state: &State, at: RecordedAt<'_>| make(RowSource::Folded(state), at);
    let flaw = match fold_verified(subject) {
        Ok(state) => {
            let page = match as_of {
                AsOf::Recorded => of_state(&state, &recorded_at),
                AsOf::Now(config) => {
                    look_at_disk(config, state, |state, now| of_state(state, &|_| Some(now)))
                }
            };
            return Ok(VerifiedPage {
                page: page?,
                flaw: None,
            });
        }
        Err(flaw) if flaw.asks_for_safe_mode() => flaw,
        Err(error) => return Err(error),
    };
    match make(RowSource::Stored(&reader), &recorded_at) {
        Ok(page) => Ok(VerifiedPage {
            page,
            flaw: Some(flaw),
        }),
        Err(_) => Err(flaw),
    }
}

/// Folds the ledger up to its head of now, verified link by link and against the head anchor.
fn fold_verified(subject: &DiagnosedSubject) -> Result<State, StartError> {
    let mut state = State::default();
    LedgerScan::begin(&subject.data_dir, &subject.readers)?.fold_rest(&mut state, |_, _| {})?;
    Ok(state)
}
