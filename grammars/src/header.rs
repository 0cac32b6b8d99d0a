//! Files with the extension `.h`, which hold C or C++.

use tslp_core::extract::{ExtractError, Extraction};

use crate::extract::{extract_as, extract_from};
use crate::readable::LanguageLooks;
use crate::{c, cpp};

/// Reads a header as C, and as C++ as well if it looks like it or isn't clean C; takes the result with fewer errors, and with
/// equal errors the language that it looks like.
pub(crate) fn extract(source: &[u8]) -> Result<Extraction, ExtractError> {
    let readable_c = (c::C.readable)(source);
    let looks_cpp = readable_c.looks > LanguageLooks::C;
    let is_clean = |read: &Result<Extraction, _>| read.as_ref().is_ok_and(|read| read.clean);
    let (as_c, as_cpp);
    if looks_cpp {
        as_cpp = extract_as(&cpp::CPP, source);
        // Reading it as C as well could give no better result, and a parser takes many times as long for a text that it can't
        // read.
        let is_settled = readable_c.looks == LanguageLooks::Cpp && as_cpp.is_ok();
        if is_settled || is_clean(&as_cpp) {
            return as_cpp;
        }
        as_c = extract_from(&c::C, source, readable_c);
    } else {
        as_c = extract_from(&c::C, source, readable_c);
        if is_clean(&as_c) {
            return as_c;
        }
        as_cpp = extract_as(&cpp::CPP, source);
    }
    match (as_c, as_cpp) {
        (Ok(c), Ok(cpp)) if cpp.errors < c.errors || (cpp.errors == c.errors && looks_cpp) => {
            Ok(cpp)
        }
        (Ok(c), _) => Ok(c),
        (Err(_), as_cpp) => as_cpp,
    }
}
