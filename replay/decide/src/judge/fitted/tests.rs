use super::*;
use alloc::{format, vec};
use std::path::PathBuf;

const FILE: &str = "def add(a, b):\n    if a:\n        return a + b\n    return b\n\n\nclass Sum:\n    def sub(self, a, b):\n        return a - b\n";

/// The edit as it fits, its two texts.
fn check(old: &str, new: &str, expected: Option<(&str, &str)>) {
    let fitted = in_layout(old, new, FILE);
    let fitted = fitted.as_ref().map(|(old, new)| (&**old, &**new));
    assert_eq!(fitted, expected, "{old}");
}

/// Text that differs only in layout is found, and its replacement gets the file's indentation.
#[test]
fn other_layout() {
    check(
        "return   a+b",
        "return a*b",
        Some(("        return a + b", "        return a*b")),
    );
    // Two spaces a step where the file has four, and a step further in than any line of the old text.
    check(
        "def sub(self, a, b):\n  return a-b\n",
        "def sub(self, a, b):\n  if a:\n    return a-b\n",
        Some((
            "    def sub(self, a, b):\n        return a - b\n",
            "    def sub(self, a, b):\n        if a:\n            return a-b\n",
        )),
    );
    check(
        "\tif a:\n\t\treturn a+b\n",
        "\tif a:\n\t\tlog()\n\t\treturn a+b\n",
        Some((
            "    if a:\n        return a + b\n",
            "    if a:\n        log()\n        return a + b\n",
        )),
    );
    // A line that goes.
    check(
        "if a:\n    return a+b\nreturn b",
        "return b",
        Some((
            "    if a:\n        return a + b\n    return b",
            "    return b",
        )),
    );
    check("return a-b\n", "", Some(("        return a - b\n", "")));
}

/// Text that stands there twice, or only in pieces, is not replaced.
#[test]
fn ambiguous_text() {
    for old in ["return a", "a+b", "return c", "", " \n", "return"] {
        check(old, "x", None);
    }
    // Nobody can say how far in it belongs.
    check("if a:\nreturn a+b", "if a:\n   log()\nreturn a+b", None);
}

/// An edit of a former text is made if that place has not changed since.
#[test]
fn former_text() {
    let former = "one\ntwo\nthree\nfour\n";
    let check = |old: &str, new: &str, text: &str, expected: Option<(&str, &str)>| {
        let made = since(old, new, former, text);
        let made = made.as_ref().map(|(old, new)| (&**old, &**new));
        assert_eq!(made, expected, "{old}");
    };
    let (one, two) = ("one\ntwo\n", "one\n2\n");
    check(one, two, "1\ntwo\nthree\nfour\n", Some(("two\n", "2\n")));
    check(
        "two\nthree\nfour",
        "two\n3\nfour",
        "two\nthree\nfive\n",
        Some(("two\nthree\n", "two\n3\n")),
    );
    check(
        one,
        "one\n1.5\ntwo\n",
        "one\nzwei\nthree\nfour\n",
        Some(("one\n", "one\n1.5\n")),
    );
    check(one, two, "one\nzwei\nthree\nfour\n", None);
    check(one, two, "1\ntwo\ntwo\n", None);
    check("six\n", "6\n", "1\ntwo\nthree\nfour\n", None);
}

fn sources(folder: PathBuf) -> Vec<String> {
    let mut folders = vec![folder];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let wanted = ["rs", "c", "h", "py", "js", "ts", "go", "java"];
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|it| wanted.iter().any(|wanted| it == *wanted))
            {
                files.extend(std::fs::read_to_string(path).ok());
            }
        }
    }
    files.sort();
    files.retain(|text| (40..4000).contains(&text.lines().count()) && !text.contains('\r'));
    files
}

/// Random near-misses of real files: another layout, another indentation, a former version, a text that is there twice, an invented one.
/// What an edit is made into changes the place that was meant, and nothing else. `TSLP_NEAR_MISSES` of the files below
/// `TSLP_NEAR_MISS_SOURCES`.
#[test]
fn no_wrong_place() {
    let set = |name: &str| std::env::var(name).ok();
    let own = || concat!(env!("CARGO_MANIFEST_DIR"), "/src").into();
    let files = sources(PathBuf::from(
        set("TSLP_NEAR_MISS_SOURCES").unwrap_or_else(own),
    ));
    let count = set("TSLP_NEAR_MISSES").map_or(500, |it| it.parse().unwrap());
    let mut state = 44_u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % below
    };
    let (mut tried, mut made, mut wrong) = ([0; 5], [0; 5], Vec::new());
    for _ in 0..count {
        let file = &files[random(files.len())];
        let lines: Vec<&str> = file.split_inclusive('\n').collect();
        let length = 2 + random(9);
        let from = random(lines.len() - length);
        let at = from + random(length);
        let kind = random(5);
        let place = from..from + length;
        let indent = |line: &str| line[..line.len() - line.trim_start().len()].to_string();
        if lines[at].trim().is_empty() || !lines[at].ends_with('\n') {
            continue;
        }
        let changed = format!("{}changed();\n", indent(lines[at]));
        let mut text: Vec<String> = lines.iter().map(|line| (*line).into()).collect();
        let mut old: Vec<String> = text[place.clone()].to_vec();
        let mut new = old.clone();
        new[at - from].clone_from(&changed);
        let is_apart = |one: usize| !place.contains(&one);
        match kind {
            0 => {
                for line in old.iter_mut().chain(&mut new) {
                    let inner = line.trim().split(' ').filter(|word| !word.is_empty());
                    *line = format!(
                        "{}{} \n",
                        indent(line),
                        inner.collect::<Vec<_>>().join("  ")
                    );
                }
            }
            1 => {
                for line in old.iter_mut().chain(&mut new) {
                    *line = line.replace("    ", if at % 2 == 0 { "  " } else { "\t" });
                }
            }
            2 => {
                let other = place.start + random(length);
                if other == at {
                    continue;
                }
                text[other] = format!("{}since();\n", indent(lines[other]));
            }
            3 => {
                let copy = text[place.clone()].to_vec();
                text.extend(["\n".into()].into_iter().chain(copy));
                old.iter_mut()
                    .for_each(|line| *line = format!(" {}", line.replace(' ', "  ")));
            }
            _ => old[at - from] = lines[at].trim_end().to_string() + "z\n",
        }
        let mut meant = text.clone();
        meant[at].clone_from(&changed);
        let (text, meant) = (text.concat(), meant.concat());
        let (old, new) = (old.concat(), new.concat());
        if text.contains(&old) {
            continue;
        }
        tried[kind] += 1;
        let fitted = match file.contains(&old) {
            true => since(&old, &new, file, &text),
            false => in_layout(&old, &new, &text),
        };
        let Some((found, written)) = fitted else {
            continue;
        };
        let hunk = Hunk::Replace {
            old: found,
            new: written,
            place: edit::EditPosition::Once,
            unit: edit::MatchUnit::Text,
        };
        // A client that finds the text twice makes no edit.
        let Ok(edited) = edit::apply(from_ref(&hunk), BaseTexts::Whole(&text)) else {
            continue;
        };
        let result = edited.into_iter().next().flatten().unwrap();
        made[kind] += 1;
        // What the edit itself writes has its own blanks; every other line stays byte for byte.
        let same = |one: &str, other: &str| one.split_whitespace().eq(other.split_whitespace());
        let pairs = result.lines().zip(meant.lines()).enumerate();
        let differs = pairs
            .filter(|(line, (one, other))| one != other && (is_apart(*line) || !same(one, other)));
        if differs.count() > 0 || result.lines().count() != meant.lines().count() || kind >= 3 {
            wrong.push((kind, old, hunk));
        }
    }
    assert_eq!(wrong, [], "{} of {made:?} made of {tried:?}", wrong.len());
    assert!(
        made[0] * 2 > tried[0] && made[1] * 3 > tried[1] && made[2] * 4 > tried[2],
        "{made:?} of {tried:?}"
    );
}
