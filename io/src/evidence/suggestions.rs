//! Names as people write them: what they mean, and known ones that resemble an unknown one.

use std::collections::BTreeSet;

use tslp_core::entity::{EntityId, Symbol, last_component};

use super::log::filter;
use crate::config::table::nearest_name;

/// Most names that are offered.
const OFFERED_MAX: usize = 5;

/// The entity that a person means: by its full name, or by a bare one that only one entity bears.
#[must_use]
pub fn entity_meant(
    written: &str,
    workspace: &str,
    known: &BTreeSet<EntityId>,
) -> Option<EntityId> {
    let named = filter::entity_named(written, workspace).ok();
    if let Some(named) = named.filter(|named| known.contains(named)) {
        return Some(named);
    }
    let bears = |symbol: &Symbol| bears_name(symbol.as_str(), written);
    let mut bearing = known
        .iter()
        .filter(|entity| entity.symbol.as_ref().is_some_and(bears));
    match (bearing.next(), bearing.next()) {
        (Some(only), None) => Some(only.clone()),
        _ => None,
    }
}

/// Whether a symbol has this name, or its last component does.
#[must_use]
pub fn bears_name(symbol: &str, written: &str) -> bool {
    symbol == written || last_component(symbol) == written
}

/// `; did you mean …?`, or a full stop.
#[must_use]
pub fn did_you_mean<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest_name(written, known).map_or_else(
        || ".".to_owned(),
        |name| format!("; did you mean `{name}`?"),
    )
}

/// The message about an unknown entity, with those that resemble it.
#[must_use]
pub fn unknown_entity(written: &str, known: &BTreeSet<EntityId>) -> String {
    if known.is_empty() {
        return format!("`{written}` is not known: the ledger knows no entity yet");
    }
    let wanted = written.rsplit("::").next().unwrap_or(written);
    let within = format!("{written}::");
    let limit = 2 + wanted.len() / 4;
    let mut close: Vec<(usize, String)> = known
        .iter()
        .filter_map(|entity| {
            let (name, last) = (entity.to_string(), last_part(entity));
            let distance = if name.starts_with(&within) || last == wanted {
                0
            } else {
                distance(written, &name, limit).min(distance(wanted, last, limit))
            };
            (distance <= limit).then_some((distance, name))
        })
        .collect();
    close.sort_unstable();
    if close.is_empty() {
        format!("`{written}` is not known to the ledger; `tslp state` shows what is true")
    } else {
        let offered = offered(close.into_iter().map(|(_, name)| name));
        format!("`{written}` is not known to the ledger; did you mean {offered}?")
    }
}

/// The message about a name that several entities bear.
#[must_use]
pub fn ambiguous_entity(written: &str, bearers: &BTreeSet<EntityId>) -> String {
    let (count, names) = (bearers.len(), bearers.iter().map(ToString::to_string));
    let offered = offered(names);
    format!("`{written}` is the name of {count} entities: write one in full, such as {offered}")
}

fn offered(names: impl Iterator<Item = String>) -> String {
    let names = names.take(OFFERED_MAX).map(|name| format!("`{name}`"));
    names.collect::<Vec<_>>().join(", ")
}

/// How far a text is from another one, where that is no more than a limit: a big project has a million names, and most lengths alone are
/// farther.
fn distance(one: &str, other: &str, limit: usize) -> usize {
    let longer = one.chars().count().abs_diff(other.chars().count());
    match longer > limit {
        true => longer,
        false => strsim::damerau_levenshtein(one, other),
    }
}

/// The last component of the symbol, or the file's name.
fn last_part(entity: &EntityId) -> &str {
    let symbol = entity.symbol.as_ref();
    symbol.map_or_else(|| entity.path.basename(), Symbol::last_component)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tslp_core::entity::Symbol;
    use tslp_core::path::RelPath;

    fn check(written: &str, expected: &str) {
        let entity = |path: &str, symbol: &str| {
            EntityId::symbol(RelPath::from_normalised(path), Symbol::new(symbol))
        };
        let known = BTreeSet::from([
            entity("src/ring.c", "ring_put"),
            entity("src/ring.c", "ring_get"),
            entity("src/list.c", "list_push"),
        ]);
        assert_eq!(unknown_entity(written, &known), expected);
    }

    #[test]
    fn similar_names() {
        check(
            "src/ring.c::ring_putt",
            "`src/ring.c::ring_putt` is not known to the ledger; did you mean `src/ring.c::ring_put`, `src/ring.c::ring_get`?",
        );
        check(
            "list_push",
            "`list_push` is not known to the ledger; did you mean `src/list.c::list_push`?",
        );
        check(
            "src/list.c",
            "`src/list.c` is not known to the ledger; did you mean `src/list.c::list_push`?",
        );
        check(
            "somewhere/else.c::entirely",
            "`somewhere/else.c::entirely` is not known to the ledger; `tslp state` shows what is true",
        );
    }
}
