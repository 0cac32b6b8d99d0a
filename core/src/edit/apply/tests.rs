//! Edits by hand, and random ones against a naïve model.

use alloc::format;
use alloc::string::ToString;
use alloc::vec;

use super::*;

fn replace(old: &str, new: &str, place: EditPosition, unit: MatchUnit) -> Hunk {
    Hunk::Replace {
        old: old.to_string(),
        new: new.to_string(),
        place,
        unit,
    }
}

fn lines(old: &str, new: &str) -> Hunk {
    replace(old, new, EditPosition::Once, MatchUnit::Lines)
}

fn text(old: &str, new: &str) -> Hunk {
    replace(old, new, EditPosition::Once, MatchUnit::Text)
}

fn check(base: &str, hunks: &[Hunk], expected: Result<&str, EditError>) {
    let result = apply(hunks, BaseTexts::Whole(base)).map(|mut texts| {
        let text = texts.remove(0);
        text.unwrap_or_else(|| base.to_string())
    });
    assert_eq!(
        result.as_deref().map_err(|error| *error),
        expected,
        "{base:?} {hunks:?}"
    );
}

#[test]
fn text_replaced() {
    check("a b c", &[text("b", "x")], Ok("a x c"));
    check("a b b", &[text("b", "x")], Err(EditError::NotUnique));
    check("aaa", &[text("aa", "x")], Err(EditError::NotUnique));
    check("éé", &[text("é", "x")], Err(EditError::NotUnique));
    check("a", &[text("b", "x")], Err(EditError::NotFound));
    check("a", &[text("", "x")], Err(EditError::NotFound));
    check("a b", &[text("a", "b"), text("b b", "c")], Ok("c"));
    check(
        "a b",
        &[text("a", "b"), text("b", "c")],
        Err(EditError::NotUnique),
    );
}

#[test]
fn whole_lines_replaced() {
    check(
        "xx = 1\nx = 1\n",
        &[lines("x = 1\n", "x = 2\n")],
        Ok("xx = 1\nx = 2\n"),
    );
    check(
        "xx = 1\n",
        &[lines("x = 1\n", "x = 2\n")],
        Err(EditError::NotFound),
    );
    check(
        "x = 1;\n",
        &[lines("x = 1\n", "x = 2\n")],
        Err(EditError::NotFound),
    );
    check("a\na\n", &[lines("a\n", "b\n")], Err(EditError::NotUnique));
    check("\n\n", &[lines("\n", "b\n")], Err(EditError::NotUnique));
    check(
        "a\nb\na\nb\na\n",
        &[lines("a\nb\na\n", "")],
        Err(EditError::NotUnique),
    );
    check("a\nb\n", &[lines("b\n", "")], Ok("a\n"));
    check("a\nb\n", &[lines("a\n", "c\nd\n")], Ok("c\nd\nb\n"));
}

#[test]
fn missing_last_newline() {
    check("a\nb", &[lines("b\n", "c\n")], Ok("a\nc"));
    check("a\nab", &[lines("b\n", "c\n")], Err(EditError::NotFound));
    check("b\nb", &[lines("b\n", "c\n")], Err(EditError::NotUnique));
    // `\ No newline at end of file` on one side or both.
    check("a\nb", &[lines("b", "c\n")], Ok("a\nc\n"));
    check("a\nb\n", &[lines("b", "c\n")], Err(EditError::NotFound));
    check("a\nb\n", &[lines("b\n", "c")], Ok("a\nc"));
    check("b\na\n", &[lines("b\n", "c")], Err(EditError::NotFound));
    check("a\nb", &[lines("b", "c")], Ok("a\nc"));
}

#[test]
fn other_positions() {
    let everywhere = |old, new, unit| replace(old, new, EditPosition::Everywhere, unit);
    check(
        "abab",
        &[everywhere("ab", "abc", MatchUnit::Text)],
        Ok("abcabc"),
    );
    check("aaa", &[everywhere("aa", "b", MatchUnit::Text)], Ok("ba"));
    check(
        "x",
        &[everywhere("y", "b", MatchUnit::Text)],
        Err(EditError::NotFound),
    );
    check(
        "a\na\nba\na",
        &[everywhere("a\n", "c\n", MatchUnit::Lines)],
        Ok("c\nc\nba\nc"),
    );

    let after = |line: &str| {
        replace(
            "x\n",
            "y\n",
            EditPosition::After(line.to_string()),
            MatchUnit::Lines,
        )
    };
    check("x\nf:\nx\nx\n", &[after(" f:")], Ok("x\nf:\ny\nx\n"));
    check("f:\nf:\nx\n", &[after("f:")], Err(EditError::NotUnique));
    check("x\nf:\n", &[after("f:")], Err(EditError::NotFound));
    check("x\n", &[after("g:")], Err(EditError::NotFound));

    let end = replace("x\n", "y\n", EditPosition::End, MatchUnit::Lines);
    check("x\na\nx\n", core::slice::from_ref(&end), Ok("x\na\ny\n"));
    check("x\na\nx", core::slice::from_ref(&end), Ok("x\na\ny"));
    check(
        "x\na\n",
        core::slice::from_ref(&end),
        Err(EditError::NotFound),
    );
    check(
        "ax\n",
        core::slice::from_ref(&end),
        Err(EditError::NotFound),
    );
}

#[test]
fn insert_and_append() {
    let insert = |after_lines, text: &str| Hunk::Insert {
        after_lines,
        text: text.to_string(),
    };
    check("a\nb\n", &[insert(0, "x")], Ok("x\na\nb\n"));
    check("a\nb\n", &[insert(1, "x\n")], Ok("a\nx\nb\n"));
    check("a\nb", &[insert(2, "x")], Ok("a\nb\nx"));
    check("a\nb\n", &[insert(3, "x")], Err(EditError::NotFound));
    check("a", &[Hunk::Append("b\n".to_string())], Ok("a\nb\n"));
    check("", &[Hunk::Append("b\n".to_string())], Ok("b\n"));
    check(
        "a\r\n",
        &[Hunk::Append("b\n".to_string())],
        Ok("a\r\nb\r\n"),
    );
}

/// Edited lines get the line endings of the base.
#[test]
fn line_endings() {
    check(
        "a\r\nb\r\nc\r\n",
        &[lines("a\nb\n", "x\ny\n")],
        Ok("x\r\ny\r\nc\r\n"),
    );
    check("a\nb\n", &[lines("a\r\n", "x\r\n")], Ok("x\nb\n"));
    check(
        "a\r\nb\r\na\r\n",
        &[lines("a\n", "x\n")],
        Err(EditError::NotUnique),
    );
    check("a\r\nb", &[lines("b\n", "x\ny\n")], Ok("a\r\nx\r\ny"));
    check("a\r\nb", &[text("\nb", "\nc")], Ok("a\r\nc"));
    check("a\r\nb", &[text("a\nb", "c\nd")], Ok("c\r\nd"));
    check(
        "a\r\nb\r\n",
        &[replace("b\n", "c\n", EditPosition::End, MatchUnit::Lines)],
        Ok("a\r\nc\r\n"),
    );
    // Exact bytes come first.
    check("a\r\na\n", &[lines("a\n", "b\n")], Ok("a\r\nb\n"));
}

/// Slices are searched together, and they have no line numbers of their own.
#[test]
fn counted_in_slices() {
    let slices = BaseTexts::Slices(&["int f() {}", "int g() {}"]);
    assert_eq!(
        apply(&[text("g()", "h()")], slices),
        Ok(vec![None, Some("int h() {}".to_string())])
    );
    assert_eq!(
        apply(&[text("int", "long")], slices),
        Err(EditError::NotUnique)
    );
    assert_eq!(
        apply(&[lines("int g() {}\n", "int g();\n")], slices),
        Ok(vec![None, Some("int g();".to_string())])
    );
    assert_eq!(
        apply(&[Hunk::Append("x".to_string())], slices),
        Err(EditError::NeedsWholeFile)
    );
    assert_eq!(
        apply(
            &[replace("}", "", EditPosition::End, MatchUnit::Text)],
            slices
        ),
        Err(EditError::NeedsWholeFile)
    );
    assert_eq!(apply(&[], BaseTexts::Slices(&[])), Err(EditError::NoBase));
}

#[test]
fn work_is_bounded() {
    let base = "a".repeat(1 << 20);
    let new = "b".repeat(1 << 12);
    check(
        &base,
        &[replace(
            "a",
            &new,
            EditPosition::Everywhere,
            MatchUnit::Text,
        )],
        Err(EditError::TooLarge),
    );
    let many = vec![text("a", "b"); HUNKS_PER_EDIT_MAX + 1];
    check("a", &many, Err(EditError::TooLarge));
    // Periodic texts, where a careless search compares everything with everything.
    let crlf = "\r\n".repeat(1 << 18);
    let old = "\n".repeat(1 << 17);
    check(&crlf, &[lines(&old, "")], Err(EditError::NotUnique));
    check(&crlf, &[text(&old, "")], Err(EditError::NotUnique));
    let long = format!("{}x\n", "a\n".repeat(1 << 17));
    check(
        &format!("{}b\n", "a\n".repeat(1 << 18)),
        &[lines(&long, "")],
        Err(EditError::NotFound),
    );
}

/// Random numbers, the same each time.
struct Dice(blake3::OutputReader);

impl Dice {
    fn new(round: u64) -> Self {
        Self(
            blake3::Hasher::new()
                .update(&round.to_le_bytes())
                .finalize_xof(),
        )
    }

    fn below(&mut self, bound: usize) -> usize {
        let mut bytes = [0; 4];
        self.0.fill(&mut bytes);
        u32::from_le_bytes(bytes) as usize % bound.max(1)
    }

    /// Lines of few words, so that some stand several times and some contain others.
    fn lines(&mut self, most: usize) -> Vec<&'static str> {
        const LINES: [&str; 9] = [
            "a\n",
            "aa\n",
            "b\n",
            "ba\n",
            "\n",
            " a\n",
            "x = 1;\n",
            "é\n",
            "xx = 1;\n",
        ];
        (0..self.below(most))
            .map(|_| LINES[self.below(LINES.len())])
            .collect()
    }
}

/// Every place where lines stand among others, one by one.
fn places(base: &[&str], old: &[&str]) -> Vec<usize> {
    (0..base.len())
        .filter(|at| base[*at..].starts_with(old))
        .collect()
}

#[test]
fn lines_like_naive_model() {
    let mut applied = 0;
    for round in 0..20_000 {
        let mut dice = Dice::new(round);
        let base = dice.lines(14);
        let start = dice.below(base.len());
        let end = (start + 1 + dice.below(4)).min(base.len());
        let mut old = base[start..end].to_vec();
        if dice.below(4) == 0 {
            old.extend(dice.lines(2));
        }
        if old.is_empty() {
            continue;
        }
        let new = dice.lines(4);
        let crlf = dice.below(2) == 0;
        let ends = |text: String| {
            if crlf {
                text.replace('\n', "\r\n")
            } else {
                text
            }
        };
        let found = places(&base, &old);
        let expected = match found[..] {
            [] => Err(EditError::NotFound),
            [at] => {
                let rest = &base[at + old.len()..];
                Ok(ends([&base[..at], &new, rest].concat().concat()))
            }
            _ => Err(EditError::NotUnique),
        };
        applied += usize::from(expected.is_ok());
        check(
            &ends(base.concat()),
            &[lines(&old.concat(), &new.concat())],
            expected.as_deref().map_err(|error| *error),
        );
    }
    assert!(applied > 5_000, "{applied}");
}

#[test]
fn texts_like_naive_model() {
    for round in 0..20_000 {
        let mut dice = Dice::new(round);
        let base = dice.lines(8).concat();
        let letters: Vec<usize> = base.char_indices().map(|(at, _)| at).collect();
        let Some(first) = letters.get(dice.below(letters.len())).copied() else {
            continue;
        };
        let last = letters[letters.len() - 1 - dice.below(letters.len())];
        let old = &base[first.min(last)..first.max(last)];
        if old.is_empty() {
            continue;
        }
        let new = dice.lines(3).concat();
        let count = letters
            .iter()
            .filter(|at| base[**at..].starts_with(old))
            .count();
        let expected = base.replacen(old, &new, 1);
        check(
            &base,
            &[text(old, &new)],
            if count == 1 {
                Ok(&expected)
            } else {
                Err(EditError::NotUnique)
            },
        );
        check(
            &base,
            &[replace(
                old,
                &new,
                EditPosition::Everywhere,
                MatchUnit::Text,
            )],
            Ok(&base.replace(old, &new)),
        );
        // A text with a character that no base has never applies.
        let mut corrupted = old.to_string();
        corrupted.insert(0, '\u{1}');
        for unit in [MatchUnit::Text, MatchUnit::Lines] {
            check(
                &base,
                &[replace(&corrupted, &new, EditPosition::Once, unit)],
                Err(EditError::NotFound),
            );
        }
    }
}
