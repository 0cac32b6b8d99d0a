//! Data files that are read when the program is compiled: one entry a line, words separated by spaces, remarks after `#`.

/// The next line that is no remark, and what follows it.
pub(super) const fn next_entry(text: &'static [u8]) -> (Option<&'static [u8]>, &'static [u8]) {
    let mut rest = text;
    while !rest.is_empty() {
        let mut length = 0;
        while length < rest.len() && rest[length] != b'\n' {
            length += 1;
        }
        let (line, after) = rest.split_at(length);
        rest = match after {
            [b'\n', after @ ..] => after,
            _ => after,
        };
        if !line.is_empty() && line[0] != b'#' {
            return (Some(line), rest);
        }
    }
    (None, rest)
}

/// The next word of a line, and what follows it.
pub(super) const fn next_word(line: &'static [u8]) -> (&'static [u8], &'static [u8]) {
    let mut length = 0;
    while length < line.len() && line[length] != b' ' {
        length += 1;
    }
    let (word, mut rest) = line.split_at(length);
    while let [b' ', after @ ..] = rest {
        rest = after;
    }
    (word, rest)
}

/// How many entries there are.
pub(super) const fn count_entries(mut text: &'static [u8]) -> usize {
    let mut count = 0;
    while let (Some(_), after) = next_entry(text) {
        count += 1;
        text = after;
    }
    count
}
