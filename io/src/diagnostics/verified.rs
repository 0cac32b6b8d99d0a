//! What the projections say, folded from a ledger that is verified on the way; what their tables say where that fails.

use tslp_projections::table::Value;
use tslp_replay::state::State;

use super::Subject;
use crate::evidence::scan::Scan;
use crate::startup::StartError;

/// Rows of one projection.
pub(crate) type Rows = Vec<Vec<Value>>;

/// Where the rows of a projection come from, by its number.
pub(crate) type Source<'s> = &'s dyn Fn(usize) -> Result<Rows, StartError>;

/// A page and, if nothing vouches for it, why.
#[derive(Debug)]
pub struct Page<T> {
    /// The page.
    pub page: T,
    /// What is wrong with the ledger. The page is then what its tables say.
    pub flaw: Option<StartError>,
}

/// Makes a page out of a ledger's projections.
///
/// # Errors
/// When a newer program wrote the ledger, or neither its events nor its tables can be read.
pub(crate) fn page<T>(
    subject: &Subject,
    make: impl Fn(Source<'_>) -> Result<T, StartError>,
) -> Result<Page<T>, StartError> {
    let flaw = match fold(subject) {
        Ok(state) => {
            let page = make(&|table| {
                let mut rows = Vec::new();
                state.rows(table, &mut |row| rows.push(row));
                Ok(rows)
            })?;
            return Ok(Page { page, flaw: None });
        }
        Err(flaw) if flaw.asks_for_safe_mode() => flaw,
        Err(error) => return Err(error),
    };
    let from_tables = || {
        let reader = subject.readers.open()?;
        make(&|table| Ok(reader.rows(table)?))
    };
    match from_tables() {
        Ok(page) => Ok(Page {
            page,
            flaw: Some(flaw),
        }),
        Err(_) => Err(flaw),
    }
}

/// Folds the ledger up to its head of now, verified link by link and against the head anchor.
fn fold(subject: &Subject) -> Result<State, StartError> {
    let mut state = State::default();
    Scan::begin(&subject.data_dir, &subject.readers)?.fold(&mut state, |_, _| {})?;
    Ok(state)
}
