//! Extraction in arenas, which are for the whole process: so this is a test program of its own.

#![expect(
    unsafe_code,
    reason = "the parsers' memory is for the process to decide"
)]

use std::thread;

use tslp_core::extract::{Extraction, Grammars as _};
use tslp_core::path::RelPath;
use tslp_grammars::{TreeSitterGrammars, arena};

const THREADS: usize = 4;
const ROUNDS: usize = 5;

/// Real C, C that no parser likes, and C++ with a scanner that keeps state.
fn sources() -> Vec<(RelPath, Vec<u8>)> {
    let store = include_bytes!("corpus/store.c");
    let broken = b"int f( { ] ) } int g(void) { return 1; /* ".repeat(200);
    let literals = b"auto f() { return R\"x(a)\" b)x\"; }\nnamespace n { class C { int m() { return 1; } }; }\n";
    let files = [
        ("a.c", store.to_vec()),
        ("b.c", store.repeat(20)),
        ("c.c", broken.clone()),
        ("d.h", broken),
        ("e.cpp", literals.repeat(50)),
        ("f.c", Vec::new()),
    ];
    files
        .map(|(name, text)| (RelPath::from_normalised(name), text))
        .into()
}

fn extracted(sources: &[(RelPath, Vec<u8>)]) -> Vec<Option<Extraction>> {
    let grammars = TreeSitterGrammars;
    let extract = |(path, text): &(RelPath, Vec<u8>)| {
        let language = grammars.language_of_path(path)?;
        grammars.extract(language, text).ok()
    };
    sources.iter().map(extract).collect()
}

#[test]
fn arenas_change_nothing_of_what_is_found() {
    let sources = sources();
    let before = extracted(&sources);
    assert!(before.iter().flatten().any(|it| it.definitions.len() > 5));
    // SAFETY: this is the only test of its process, no thread was started, and all parsers are gone.
    unsafe { arena::install() };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    assert_eq!(extracted(&sources), before);
                    arena::give_back();
                }
            });
        }
    });
}
