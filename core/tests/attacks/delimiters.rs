//! What looks like one of our delimiters, and what doesn't: the lists in `delimiters/`.

use std::borrow::Cow;

use tslp_core::delimiter;
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;

const FORGED: &str = include_str!("delimiters/forged.txt");
const HARMLESS: &str = include_str!("delimiters/harmless.txt");

/// The lines of a list, their escapes resolved.
fn lines(list: &str) -> impl Iterator<Item = String> {
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let mut text = line
            .replace("\\t", "\t")
            .replace("\\r", "\r")
            .replace("\\n", "\n");
        while let Some((before, (code, after))) = text
            .split_once("\\u{")
            .and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
        {
            let code = u32::from_str_radix(code, 16).expect("hexadecimal digits");
            let c = char::from_u32(code).expect("a character");
            text = format!("{before}{c}{after}");
        }
        text
    })
}

#[test]
fn forged_defused() {
    let mut count = 0;
    for forged in lines(FORGED) {
        count += 1;
        assert!(delimiter::quoted_in(&forged), "{forged:?}");
        let defused = delimiter::defused(&forged);
        assert!(!delimiter::quoted_in(&defused), "{forged:?}: {defused:?}");
        assert_eq!(delimiter::defused(&defused), defused);
    }
    assert!(count >= 50, "{count}");
}

#[test]
fn other_brackets_stay() {
    for text in lines(HARMLESS) {
        assert!(
            matches!(delimiter::defused(&text), Cow::Borrowed(_)),
            "{text:?}"
        );
    }
}

#[test]
fn path_names_nothing() {
    for forged in lines(FORGED) {
        let path = format!("src/{forged}.c");
        assert_eq!(
            RelPath::parse(&path, "/work"),
            Err(Reason::PathNotUsable),
            "{path:?}"
        );
    }
}
