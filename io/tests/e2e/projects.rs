//! Which ledger is a project's: after a move, after another project took its path, and in containers that share a data volume.

use std::path::{Path, PathBuf};

use crate::harness::{Places, failure};

/// What a command prints on standard output and on standard error.
fn says(places: &Places, at: &str, arguments: &[&str]) -> [String; 2] {
    let mut command = places.command(arguments);
    let output = command.current_dir(places.path(at)).output().unwrap();
    [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap())
}

/// A project with three files; `word` is in each.
fn make(places: &Places, at: &str, word: &str) {
    std::fs::create_dir_all(places.path(at).join(".git")).unwrap();
    for number in 0..3 {
        let text = format!("int {word}{number}(void) {{ return {number}; }}\n");
        std::fs::write(places.path(at).join(format!("{number}.c")), text).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to.join(".git")).unwrap();
    for number in 0..3 {
        let name = format!("{number}.c");
        std::fs::copy(from.join(&name), to.join(&name)).unwrap();
    }
}

/// The command that takes a ledger over, as the offer has it.
fn offered(said: &str) -> Option<Vec<String>> {
    let command = said
        .split('`')
        .find(|part| part.starts_with("tslp copy "))?;
    let words = command.split_whitespace().skip(1);
    Some(words.map(str::to_owned).collect())
}

/// A project that was moved, or copied while the old one is gone, is offered its ledger, which is taken over on demand.
#[test]
fn moved() {
    let places = Places::new();
    make(&places, "old", "own");
    says(&places, "old", &["adopt", "."]);
    copy(&places.path("old"), &places.path("second"));
    // As long as the other one is there, it may be in use.
    assert_eq!(offered(&says(&places, "second", &["state"])[1]), None);
    std::fs::rename(places.path("old"), places.path("new")).unwrap();
    let take_over = |at: &str| {
        let [known, said] = says(&places, at, &["state"]);
        assert!(!known.contains("own1"), "never silently: {known}");
        let offer = offered(&said).unwrap_or_else(|| panic!("{said}"));
        // An adoption begins a ledger, in which nothing was asked.
        let words: Vec<&str> = offer.iter().map(String::as_str).collect();
        says(&places, at, &words);
        let [known, said] = says(&places, at, &["state"]);
        assert!(
            known.contains("1.c::own1") && offered(&said).is_none(),
            "{known}{said}"
        );
        let [doctor, _] = says(&places, at, &["doctor"]);
        assert!(!doctor.contains("failed   identity"), "{doctor}");
    };
    take_over("new");
    copy(&places.path("new"), &places.path("copied"));
    std::fs::remove_dir_all(places.path("new")).unwrap();
    take_over("copied");
}

/// Another project at the path of an older one has a ledger of its own, and a new copy of the same one finds its ledger.
#[test]
fn one_path() {
    let places = Places::new();
    let (one, two): (PathBuf, PathBuf) = (places.path("one"), places.path("two"));
    make(&places, "one", "own");
    make(&places, "two", "other");
    let mount = |project: &Path| {
        let at = places.path("root");
        if at.exists() {
            std::fs::remove_dir_all(&at).unwrap();
        }
        copy(project, &at);
    };
    mount(&one);
    says(&places, "root", &["adopt", "."]);
    mount(&two);
    let [known, said] = says(&places, "root", &["state"]);
    assert!(!known.contains("own1"), "{known}");
    assert!(
        said.contains("this may be the project that was at"),
        "{said}"
    );
    says(&places, "root", &["adopt", "."]);
    for (project, word, another) in [(&one, "own1", "other1"), (&two, "other1", "own1")] {
        mount(project);
        let [known, _] = says(&places, "root", &["state"]);
        assert!(known.contains(word) && !known.contains(another), "{known}");
    }
    // A named data directory is another project's, or this one's: it is never both.
    let named = ["adopt", ".", "--data-dir"];
    let data = places.path("volume").to_str().unwrap().to_owned();
    let adopt = [&named[..], &[&data]].concat();
    says(&places, "root", &adopt);
    mount(&one);
    let mut command = places.command(&adopt);
    command.current_dir(places.path("root"));
    let (code, said) = failure(command);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("with other files"), "{said}");
}
