//! Generated C files and chat requests: the same ones in every run.

use std::fmt::Write as _;

/// Functions in one generated file.
pub(crate) const FUNCTIONS_PER_FILE: usize = 1000;

const NOUNS: [&str; 16] = [
    "ring", "page", "node", "lock", "queue", "frame", "token", "cursor", "bucket", "parser",
    "table", "index", "stream", "packet", "timer", "cache",
];
const VERBS: [&str; 16] = [
    "push", "pop", "seek", "flush", "merge", "split", "count", "reset", "drain", "verify",
    "insert", "remove", "resize", "commit", "rewind", "encode",
];
const WORDS: [&str; 48] = [
    "the",
    "buffer",
    "is",
    "read",
    "before",
    "it",
    "has",
    "been",
    "written",
    "and",
    "when",
    "a",
    "caller",
    "asks",
    "for",
    "more",
    "than",
    "fits",
    "we",
    "return",
    "early",
    "so",
    "that",
    "nobody",
    "waits",
    "on",
    "an",
    "empty",
    "slot",
    "please",
    "keep",
    "error",
    "paths",
    "short",
    "because",
    "this",
    "runs",
    "under",
    "interrupt",
    "but",
    "don't",
    "change",
    "its",
    "signature,",
    "which",
    "other",
    "modules",
    "use.",
];

/// Numbers that look like chance and never change.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

fn dice(seed: usize) -> Dice {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (seed as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9));
    for _ in 0..4 {
        dice.below(2);
    }
    dice
}

/// Path of the file with this number.
pub(crate) fn path(file: usize) -> String {
    format!("src/part{:02}/module_{file:03}.c", file % 10)
}

/// Name of one function of a file.
pub(crate) fn function(file: usize, at: usize) -> String {
    let noun = NOUNS[at % 16];
    let verb = VERBS[at / 16 % 16];
    format!("{noun}_{verb}_{file:03}{at:04}")
}

/// A C file of [`FUNCTIONS_PER_FILE`] functions, about 280 bytes each.
pub(crate) fn c_file(file: usize) -> String {
    let mut text = String::from("#include <stddef.h>\n#include \"module.h\"\n\n");
    let mut dice = dice(file);
    for at in 0..FUNCTIONS_PER_FILE {
        let name = function(file, at);
        let callee = function(file, dice.below(at + 1));
        let _ = write!(
            text,
            "int {name}(struct slot *slot, size_t length)\n{{\n    size_t left = length;\n    if (slot == NULL || length > {}u)\n        \
             return -1;\n    while (left-- > {}u) {{\n        slot->value += (int)left ^ 0x{:04x};\n        if (slot->value < 0)\n            \
             return {callee}(slot->next, left);\n    }}\n    return slot->value;\n}}\n\n",
            dice.below(65536),
            dice.below(64),
            dice.below(65536),
        );
    }
    text
}

/// The user's message that pastes a file with its path.
pub(crate) fn paste(file: usize) -> String {
    format!(
        "Here is the next file.\n\n{}\n```c\n{}```\n",
        path(file),
        c_file(file)
    )
}

/// Sentences of about this many bytes.
pub(crate) fn prose(seed: usize, bytes: usize) -> String {
    let mut dice = dice(seed);
    let mut text = String::with_capacity(bytes + 16);
    let mut line = 0;
    while text.len() < bytes {
        text.push_str(WORDS[dice.below(WORDS.len())]);
        line += 1;
        text.push(if line % 16 == 0 { '\n' } else { ' ' });
    }
    text.truncate(bytes);
    text
}

/// Prose with a block of code in it, as models answer.
fn answer(seed: usize, bytes: usize) -> String {
    let code = "```c\nint answer(int x)\n{\n    return x * 2 + 1;\n}\n```\n";
    let around = bytes.saturating_sub(code.len() + 1);
    format!(
        "{}\n{code}{}",
        prose(seed, around / 2),
        prose(seed + 1, around - around / 2)
    )
}

/// One message of a request.
pub(crate) fn message(role: &str, text: &str) -> String {
    format!(
        "{{\"role\":\"{role}\",\"content\":{}}}",
        serde_json::Value::from(text)
    )
}

/// A request body of these messages, streamed.
pub(crate) fn body(messages: &[String]) -> String {
    format!(
        "{{\"model\":\"bench\",\"stream\":true,\"temperature\":0.2,\"messages\":[{}]}}",
        messages.join(",")
    )
}

/// A conversation of about `bytes`: an eighth system prompt, half of it history, the rest the current prompt, which
/// is new each `turn` and names `mentions`.
pub(crate) fn chat(bytes: usize, turn: usize, mentions: &[String]) -> String {
    let mut messages = vec![message("system", &prose(1, bytes / 8))];
    let mut history = bytes / 2;
    let one = (history / 4).clamp(256, 8192);
    let mut at = 2;
    while history >= 2 * one {
        messages.push(message("user", &prose(at, one)));
        messages.push(message("assistant", &answer(at + 1, one)));
        history -= 2 * one;
        at += 2;
    }
    let mut prompt = format!("Turn {turn}: ");
    let named: Vec<String> = mentions
        .iter()
        .enumerate()
        .map(|(at, mention)| match at % 2 {
            0 => format!("`{mention}`"),
            _ => format!("{mention}()"),
        })
        .collect();
    prompt.push_str(&format!("please look at {}. ", named.join(" and ")));
    let used = prompt.len() + messages.iter().map(String::len).sum::<usize>() + 120;
    prompt.push_str(&prose(1000 + turn, bytes.saturating_sub(used)));
    messages.push(message("user", &prompt));
    body(&messages)
}
