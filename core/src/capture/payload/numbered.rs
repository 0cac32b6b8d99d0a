//! Text in which each line begins with its number, as tools quote files.

use alloc::string::String;

use crate::capture::block::StatedExtent;
use crate::capture::line::without_end;
use crate::capture::vocabulary::READING_REMARKS;

/// A text in which each line begins with its number.
pub(in crate::capture) struct NumberedLines {
    /// The lines without their numbers.
    pub(in crate::capture) code: String,
    /// All of the file, or some lines of it.
    pub(in crate::capture) stated_extent: StatedExtent,
    /// The number of lines.
    lines: u32,
}

/// Reads ` 4 | int x;`, `4: int x;`, `4<TAB>int x;`, `4→int x;`, with remarks of the tool's before and after.
pub(in crate::capture) fn read_numbered_lines(text: &str) -> Option<NumberedLines> {
    let mut read = NumberedLines {
        code: String::new(),
        stated_extent: StatedExtent::Range,
        lines: 0,
    };
    let mut last: Option<LineNumber<'_>> = None;
    let mut remarks_end = false;
    let mut whole = false;
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            continue;
        }
        if is_remark(line) {
            remarks_end = last.is_some();
            whole |= line.trim_start().starts_with("(End of file");
            continue;
        }
        let number =
            LineNumber::of(line).filter(|number| !remarks_end && number.follows(last.as_ref()))?;
        whole &= last.is_some() || number.value == 1;
        if last.is_none() && number.value == 1 {
            read.stated_extent = StatedExtent::Whole;
        }
        read.code.push_str(number.rest);
        if !number.rest.ends_with('\n') {
            read.code.push('\n');
        }
        read.lines += 1;
        last = Some(number);
    }
    last?;
    // Lines from 1 on may still be an excerpt: only a remark about the file's end proves that this is all of it.
    if !(whole && read.stated_extent == StatedExtent::Whole) {
        read.stated_extent = StatedExtent::Range;
    }
    Some(read)
}

/// Whether a fence's content is two or more numbered lines.
pub(super) fn is_numbered(code: &str) -> bool {
    code.lines()
        .next()
        .is_some_and(|line| LineNumber::of(line).is_some() || is_remark(line))
        && read_numbered_lines(code).is_some_and(|numbered| numbered.lines > 1)
}

/// `[Showing lines 1-200 of 900]`, `(End of file - total 9 lines)`.
pub(in crate::capture) fn is_remark(line: &str) -> bool {
    let line = line.trim_start();
    READING_REMARKS
        .iter()
        .any(|remark| line.starts_with(remark))
}

/// A line's number, the divider after it, and the line itself.
pub(in crate::capture) struct LineNumber<'t> {
    value: u32,
    pub(in crate::capture) divider: char,
    rest: &'t str,
}

impl<'t> LineNumber<'t> {
    pub(in crate::capture) fn of(line: &'t str) -> Option<Self> {
        let unindented = line.trim_start_matches(' ');
        let digits = unindented.bytes().take_while(u8::is_ascii_digit).count();
        if !(1..=7).contains(&digits) {
            return None;
        }
        let value = unindented[..digits].parse().ok()?;
        let rest = &unindented[digits..];
        let mut after = rest
            .strip_prefix(' ')
            .filter(|rest| rest.starts_with('|'))
            .unwrap_or(rest)
            .chars();
        let divider = after
            .next()
            .filter(|c| matches!(c, '|' | ':' | '\t' | '→'))?;
        let rest = after.as_str();
        let rest = match (divider, rest.strip_prefix(' ')) {
            ('|' | ':', Some(rest)) => rest,
            (':', None) if !without_end(rest).is_empty() => return None,
            _ => rest,
        };
        Some(Self {
            value,
            divider,
            rest,
        })
    }

    pub(in crate::capture) fn follows(&self, last: Option<&Self>) -> bool {
        last.is_none_or(|last| last.divider == self.divider && last.value + 1 == self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_numbers() {
        for text in [
            " 9 | int a;\n10 |\n11 |   b\n",
            "9: int a;\n10:\n11:   b\n",
            "[Showing lines 9-11 of 40]\n9\tint a;\n10\t\n11\t  b\n",
            "    9→int a;\n   10→\n   11→  b\n(File has more lines)",
        ] {
            let read = read_numbered_lines(text).expect(text);
            assert_eq!(read.code, "int a;\n\n  b\n", "{text}");
            assert_eq!(read.stated_extent, StatedExtent::Range);
        }
        for text in [
            "1 | a\n3 | b\n",
            "1 | a\nx\n",
            "1 | a\n2: b\n",
            "",
            "\n",
            "int x;",
            "1:a\n2:b\n",
        ] {
            assert!(read_numbered_lines(text).is_none(), "{text}");
        }
        let whole = read_numbered_lines("1: a\n2: b\n(End of file - total 2 lines)\n");
        assert_eq!(whole.expect("numbered").stated_extent, StatedExtent::Whole);
    }
}
