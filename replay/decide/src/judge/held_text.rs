//! What a file is known to hold where that isn't true: the model's own work, refused or broken.

use alloc::string::String;

use crate::code_reader::CodeReader;
use crate::scope::place::{self, Standpoint};
use tslp_core::capture;
use tslp_core::entity::EntityId;
use tslp_core::hash::ArtifactHash;
use tslp_core::path::RelPath;
use tslp_core::slice;
use tslp_projections::at_hand::ClientCallRow;
use tslp_projections::disk::LastFinding;

/// The text of a file as disk held it at the last look, if a change of it that was refused or a call of a client's has made it
/// so: the client applies the next edit to that.
pub(crate) fn held_text(reader: CodeReader<'_>, path: &RelPath) -> Option<String> {
    let view = reader.view;
    let Some(LastFinding::File(held)) = view.disk_finding(path) else {
        return None;
    };
    let refused = view
        .proposals_for(&EntityId::file(path.clone()))
        .into_iter();
    let mut refused = refused.filter(|it| it.slice == held.whole);
    let refused = refused.find_map(|it| view.text(it.artifact));
    refused.or_else(|| {
        let calls = view.state.at_hand().calls().rev();
        let mut made = calls.filter_map(|call| made_by_call(reader, path, call));
        made.find(|text| slice::hash_of_whole(text.as_bytes()) == held.whole)
    })
}

/// What a call made of a file.
fn made_by_call(reader: CodeReader<'_>, path: &RelPath, call: &ClientCallRow) -> Option<String> {
    let CodeReader { view, at, .. } = reader;
    let arguments = view.text(call.arguments)?;
    if !arguments.contains(path.basename()) {
        return None;
    }
    let session = call.session;
    let is_meant = |written: &str| {
        place::in_call(view, Standpoint { session, ..at }, written).as_ref() == Ok(path)
    };
    let blocks = capture::tool_call(&call.name, &arguments);
    let mut own = blocks
        .into_iter()
        .rev()
        .filter(|it| it.path.as_deref().is_some_and(is_meant));
    let block = own.next()?;
    match block.edit {
        None => Some(block.code.into_owned()),
        Some(_) => view.text(view.made_by(ArtifactHash::of(block.code.as_bytes()))?),
    }
}
