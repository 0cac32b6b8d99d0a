//! What is redacted, and what looks like it and is not: the lists in `credentials/`.

use std::borrow::Cow;

use tslp_core::redact::{self, MARKER};

const CAUGHT: &str = include_str!("credentials/caught.txt");
const MISSED: &str = include_str!("credentials/missed.txt");
const PASSED: &str = include_str!("credentials/passed.txt");

/// Random numbers, the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1);
        (self.0 >> 33) as usize % end
    }

    fn of_class(&mut self, class: char, count: usize) -> String {
        const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
        const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        const DIGITS: &str = "0123456789";
        let characters = match class {
            'a' | 'k' | 'b' | 'p' | 'q' | 'v' | 't' => [LOWER, UPPER, DIGITS].concat(),
            'd' => DIGITS.to_owned(),
            'u' => [UPPER, DIGITS].concat(),
            'l' => [LOWER, DIGITS].concat(),
            'h' => "0123456789abcdef".to_owned(),
            'x' => "0123456789ABCDEFabcdef".to_owned(),
            _ => panic!("no class {class}"),
        };
        let signs = match class {
            'k' | 't' => "-_",
            'b' => "+/",
            _ => "",
        };
        let mut drawn: Vec<u8> = (0..count)
            .map(|_| characters.as_bytes()[self.below(characters.len())])
            .collect();
        // A key has few of them, and doesn't end with one here, so that what is left of it is seen.
        if count > 20 && !signs.is_empty() {
            let at = 10 + self.below(count - 15);
            drawn[at] = signs.as_bytes()[self.below(signs.len())];
        }
        // Each key has a digit, which a random one of twenty characters may lack.
        if count > 5 && class != 'd' {
            drawn[count / 2] = b'0' + self.below(10) as u8;
        }
        String::from_utf8(drawn).expect("ASCII")
    }
}

/// A line's kind, its text, and the secrets in it.
struct Line {
    kind: String,
    text: String,
    secrets: Vec<String>,
}

fn lines(list: &str, seed: u64) -> Vec<Line> {
    let entries = list
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with(['#', '=']));
    let drawn = entries.enumerate().map(|(number, entry)| {
        let mut dice = Dice(seed + number as u64 * 7919);
        let (kind, pattern) = entry.split_once(' ').expect("a kind and a text");
        let mut text = String::new();
        let mut secrets = Vec::new();
        for (index, part) in pattern.trim_start().split(['‹', '›']).enumerate() {
            if index % 2 == 0 {
                text.push_str(part);
                continue;
            }
            let secret = match part.strip_prefix('=') {
                Some(secret) => secret.to_owned(),
                None => {
                    let class = part.chars().next().expect("a class");
                    dice.of_class(class, part[1..].parse().expect("a count"))
                }
            };
            text.push_str(&secret);
            secrets.push(secret);
        }
        Line {
            kind: kind.to_owned(),
            text: text.replace('⏎', "\n"),
            secrets,
        }
    });
    drawn.collect()
}

/// Nothing of the secrets is left, and redacting it again changes nothing.
fn lets_through(line: &Line, text: &str) -> Option<String> {
    let clean = redact::without_credentials(text);
    assert_eq!(redact::without_credentials(&clean), clean, "{}", line.kind);
    let mut long = line.secrets.iter().filter(|secret| secret.len() > 5);
    let left = long.any(|secret| clean.contains(secret.as_str()));
    (left || !clean.contains(MARKER)).then(|| format!("{}: {text}\n    {clean}\n", line.kind))
}

#[test]
fn nothing_recorded() {
    let (forms, named) = CAUGHT.split_once("== lines").unwrap();
    let mut through = Vec::new();
    let mut kinds = 0;
    for seed in [1, 2] {
        for line in lines(named, seed) {
            kinds += 1;
            through.extend(lets_through(&line, &line.text));
        }
        let (cut, _) = named.split_once("# Keys of several lines.").unwrap();
        let (_, cut) = cut.split_once("# Cut keys.").unwrap_or(("", ""));
        for line in lines(cut, seed) {
            let clean = redact::without_credentials(&line.text);
            let left = line
                .secrets
                .iter()
                .filter(|secret| clean.contains(&***secret));
            through.extend(left.map(|secret| format!("{}: {secret}\n    {clean}\n", line.kind)));
        }
        for line in lines(forms, seed) {
            kinds += 1;
            let key = &line.text;
            for text in [
                key.clone(),
                format!("let x = \"{key}\";"),
                format!("the key is {key}, and so on"),
                format!("{{\"text\": \"one\\n{key}\\ntwo\"}}"),
                format!("https://example.com/a?k={key}&b=1"),
                format!("MY_{key}"),
                format!("({key})\n"),
            ] {
                // What may begin with a dot, a hyphen or an underscore doesn't follow one.
                let needs_start = ["jwt", "jwe", "infisical", "authress"];
                if text.starts_with("MY_")
                    && needs_start.iter().any(|kind| line.kind.starts_with(kind))
                {
                    continue;
                }
                through.extend(lets_through(&line, &text));
            }
        }
    }
    assert!(kinds >= 2 * 250, "{kinds}");
    assert!(
        through.is_empty(),
        "{} got through:\n{}",
        through.len(),
        through.concat()
    );
}

#[test]
fn look_alikes_stay() {
    let mut changed = String::new();
    let mut kinds = 0;
    for seed in 1..20 {
        for line in lines(PASSED, seed) {
            kinds += 1;
            if let Cow::Owned(clean) = redact::without_credentials(&line.text) {
                changed += &format!("{}: {}\n    {clean}\n", line.kind, line.text);
            }
        }
    }
    assert!(kinds >= 19 * 100, "{kinds}");
    assert!(changed.is_empty(), "{changed}");
}

/// A rule that catches one of these moves it to the other list.
#[test]
fn known_misses() {
    for line in lines(MISSED, 1) {
        let caught = lets_through(&line, &line.text).is_none();
        assert!(
            !caught,
            "{} is caught now: move it to caught.txt",
            line.kind
        );
    }
}
