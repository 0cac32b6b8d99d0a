//! Event kinds by the names that the ledger stores.

use tslp_core::event::EventKind;

/// The kind with this name, with or without the version of its stored layout.
#[must_use]
pub fn kind_of_name(name: &str) -> Option<EventKind> {
    let bare = match name.rsplit_once(".v") {
        Some((bare, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => bare,
        _ => name,
    };
    EventKind::of_word(bare)
}
