//! What a model's code breaks of the project's rules for code: only what it does anew counts.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::code_spec::{CodeSpec, SpecBreach};
use tslp_core::entity::EntityId;
use tslp_core::extract::Grammars;
use tslp_core::path::RelPath;
use tslp_projections::state::StateView;

/// A sentence for each rule that a text of a file breaks and that nothing true of the file does, in the order of its lines. `blocks`:
/// how many its reply has, where that was judged.
#[must_use]
pub(crate) fn broken_rules(
    view: &StateView<'_>,
    grammars: &dyn Grammars,
    spec: &CodeSpec,
    (path, code): (&RelPath, &str),
    blocks: u32,
) -> Vec<String> {
    if spec.is_empty() {
        return Vec::new();
    }
    let language = grammars.language_of_path(path);
    let breaches = |code: &str| -> Vec<SpecBreach> {
        let parts = language.map(|it| grammars.parts(it, code.as_bytes()));
        spec.breaches(path, &parts.unwrap_or_default(), blocks)
    };
    let mut broken = breaches(code);
    if broken.iter().any(|it| it.line > 0) {
        let parts = view.state.state_map().entities_in(path).into_iter();
        let entities = parts.chain([EntityId::file(path.clone())]);
        let artifacts = entities.filter_map(|it| Some(view.current_version(&it)?.artifact));
        for artifact in artifacts.collect::<BTreeSet<_>>() {
            let text = view.artifact_content(artifact).unwrap_or_default();
            let known = breaches(&String::from_utf8_lossy(&text));
            broken.retain(|it| it.line == 0 || !known.iter().any(|known| known.what == it.what));
        }
    }
    let said = broken.iter().map(|it| match it.line {
        0 => format!("The code {}.", it.what),
        line => format!("Line {line} {}.", it.what),
    });
    said.collect()
}
