//! Files called `.h`, which hold C or C++.

use tslp_core::extract::{ExtractError, Extraction};

use crate::walk::Walked;
use crate::{c, cpp, walked};

/// Reads a header as C, and as C++ too if it looks like it or isn't clean C; takes the reading with fewer errors.
/// Between equals, looks decide.
pub(crate) fn extract(source: &[u8]) -> Result<Extraction, ExtractError> {
    let as_c = walked(&c::C, source);
    let looks_cpp = as_c.as_ref().is_ok_and(|walked| walked.looks_cpp);
    if let Ok(Walked { extraction, .. }) = &as_c
        && extraction.clean
        && !looks_cpp
    {
        return as_c.map(|walked| walked.extraction);
    }
    let as_cpp = walked(&cpp::Cpp, source);
    let better = match (as_c, as_cpp) {
        (Ok(c), Ok(cpp)) if cpp.errors < c.errors || (cpp.errors == c.errors && looks_cpp) => cpp,
        (Ok(c), _) => c,
        (Err(_), as_cpp) => as_cpp?,
    };
    Ok(better.extraction)
}
