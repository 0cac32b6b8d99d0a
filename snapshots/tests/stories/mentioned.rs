//! What real users' sentences about a real tree mean: the table `tests/mentions/sentences.txt`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tslp_core::policy::Policy;
use tslp_decide::prompt::mention;
use tslp_snapshots::script;
use tslp_snapshots::stage::{AT, EngineMemory, Stage};

/// A stage that knows all files of the tree.
fn tree(folder: &Path) -> Stage {
    let mut stage = Stage::with_memory(Policy::default(), EngineMemory::Nothing);
    let mut story = String::new();
    let mut files: Vec<_> = fs::read_dir(folder.join("toolz"))
        .expect("the tree is there")
        .map(|entry| entry.expect("a file of the tree").path())
        .filter(|path| path.extension().is_some_and(|it| it == "py"))
        .collect();
    files.sort();
    for file in files {
        let name = file.file_name().expect("a name").to_string_lossy();
        let code = fs::read_to_string(&file).expect("source is text");
        let code: String = code.lines().map(|line| format!("| {line}\n")).collect();
        story.push_str(&format!(
            "disk toolz/{name}\n{code}user\n| @tslp accept toolz/{name}\nmodel\n| Noted.\n"
        ));
    }
    for step in script::parse(&story).steps {
        stage.step(step);
    }
    stage
}

/// Least share of the sentences whose names are all found, in percent. The rest name definitions by plain words: reading those would
/// take what is said in prose for names.
const FOUND_PERCENT: usize = 78;

/// Most sentences that bring something that isn't meant.
const EXTRA_MAX: usize = 2;

/// law 8.1 | What the prompt names is shown: the definition at a place that a tool names, a name in quotes, bold or dotted, and a plain word that one definition has and that isn't a common one | mentioned
#[test]
fn sentences_bring_what_was_meant() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mentions");
    let stage = tree(&folder);
    let view = stage.view();
    let table = fs::read_to_string(folder.join("sentences.txt")).expect("the table is there");
    let lines = table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (mut count, mut missed, mut extra) = (0, Vec::new(), Vec::new());
    for line in lines {
        let (sentence, meant) = line.split_once(" => ").expect("a sentence and its names");
        let meant: BTreeSet<String> = meant
            .split(' ')
            .filter(|it| *it != "-")
            .map(str::to_owned)
            .collect();
        let found = mention::scan(&sentence.replace("\\n", "\n"), AT, &view, &[]);
        let symbols = found
            .symbols
            .iter()
            .filter_map(|entity| entity.symbol_str());
        let symbols = symbols.map(|symbol| {
            symbol
                .rsplit(['.', ':'])
                .next()
                .unwrap_or(symbol)
                .to_owned()
        });
        let found: BTreeSet<String> = symbols
            .chain(found.files.iter().map(|path| path.as_str().to_owned()))
            .collect();
        count += 1;
        let said = format!("{sentence}: means {meant:?}, brings {found:?}");
        if !found.is_subset(&meant) {
            extra.push(said);
        } else if found != meant {
            missed.push(said);
        }
    }
    let found = count - missed.len() - extra.len();
    assert!(count >= 80, "{count} sentences");
    assert!(extra.len() <= EXTRA_MAX, "not meant:\n{}", extra.join("\n"));
    assert!(
        found * 100 >= count * FOUND_PERCENT,
        "{found} of {count}:\n{}",
        missed.join("\n")
    );
}

/// A test of its own because it would not end if each name read the whole text again.
#[test]
fn long_texts_of_names_are_read_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mentions");
    let stage = tree(&folder);
    let view = stage.view();
    let names = "take ".repeat(200_000);
    assert!(mention::scan(&names, AT, &view, &[]).symbols.is_empty());
    let places = "toolz/itertoolz.py:98:1: E501\n".repeat(20_000);
    assert_eq!(mention::scan(&places, AT, &view, &[]).symbols.len(), 1);
}
