//! Searches a text for another: byte by byte, or with CRLF as LF, as whole lines or anywhere. Linear in both.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use memchr::memmem;

use super::MatchUnit;

/// A match in one of the bases, and its replacement.
pub(super) struct TextMatch<'h> {
    pub(super) base: usize,
    pub(super) range: Range<usize>,
    pub(super) new: Cow<'h, str>,
}

/// How line ends are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEndMode {
    /// As they are.
    Exact,
    /// With CRLF as LF.
    Folded,
}

/// The search for one hunk's old text.
pub(super) struct HunkSearch<'h, 'o> {
    pub(super) old: &'o str,
    pub(super) new: &'h str,
    pub(super) unit: MatchUnit,
}

impl<'h> HunkSearch<'h, '_> {
    /// The first match at or after `from`; it may overlap earlier ones.
    pub(super) fn next_match(
        &self,
        base: usize,
        text: &str,
        form: LineEndMode,
        from: usize,
    ) -> Option<TextMatch<'h>> {
        self.find_matches(base, text, form, from, 1).pop()
    }

    /// All matches that don't overlap, in order.
    pub(super) fn all_matches(
        &self,
        base: usize,
        text: &str,
        form: LineEndMode,
    ) -> Vec<TextMatch<'h>> {
        self.find_matches(base, text, form, 0, usize::MAX)
    }

    pub(super) fn at_end(
        &self,
        base: usize,
        text: &str,
        form: LineEndMode,
    ) -> Option<TextMatch<'h>> {
        if !self.can_match(text, form) {
            return None;
        }
        let view = ComparedText::of(text, form);
        let found = match_at_end(&view.text, &with_lf(self.old, form), self.unit)?;
        Some(self.match_in_original(base, text, &view, found, form))
    }

    fn find_matches(
        &self,
        base: usize,
        text: &str,
        form: LineEndMode,
        from: usize,
        most: usize,
    ) -> Vec<TextMatch<'h>> {
        if self.ends_the_file() {
            return self
                .at_end(base, text, form)
                .into_iter()
                .filter(|hit| hit.range.start >= from)
                .collect();
        }
        if !self.can_match(text, form) {
            return Vec::new();
        }
        let view = ComparedText::of(text, form);
        let old = with_lf(self.old, form);
        let finder = TextFinder::new(&old, self.unit);
        let mut hits = Vec::new();
        let mut at = view.first_at(from);
        while hits.len() < most {
            let Some(found) = finder.next(&view.text, at) else {
                break;
            };
            at = found.end;
            hits.push(self.match_in_original(base, text, &view, found, form));
        }
        hits
    }

    /// Whether the old or new lines end without a newline, which only a file's last line does.
    fn ends_the_file(&self) -> bool {
        let is_bare = |text: &str| !text.is_empty() && !text.ends_with('\n');
        self.unit == MatchUnit::Lines && (is_bare(self.old) || is_bare(self.new))
    }

    /// Whether a search in this mode can find anything. A text that would split a CRLF is only searched with folded line ends, and
    /// folding only makes a difference if there is a carriage return.
    fn can_match(&self, text: &str, form: LineEndMode) -> bool {
        let splits = self.old.starts_with('\n') || self.old.ends_with('\r');
        let fits = match form {
            LineEndMode::Exact => !(splits && text.contains("\r\n")),
            LineEndMode::Folded => text.contains('\r') || self.old.contains('\r'),
        };
        fits && !self.old.is_empty()
    }

    fn match_in_original(
        &self,
        base: usize,
        text: &str,
        view: &ComparedText<'_>,
        found: Range<usize>,
        form: LineEndMode,
    ) -> TextMatch<'h> {
        let range = view.in_text(found.start)..view.in_text(found.end);
        let matched = &text[range.clone()];
        let sample = if matched.contains('\n') {
            matched
        } else {
            text
        };
        let stays_bare =
            self.unit == MatchUnit::Lines && self.old.ends_with('\n') && !matched.ends_with('\n');
        let new = match form {
            LineEndMode::Exact if !stays_bare => Cow::Borrowed(self.new),
            _ => with_line_ends_of(sample, self.new),
        };
        TextMatch {
            base,
            range,
            new: if stays_bare {
                without_line_end(new)
            } else {
                new
            },
        }
    }
}

/// The replacement of a last line that has no newline: it stays without one.
fn without_line_end(text: Cow<'_, str>) -> Cow<'_, str> {
    fn cut_line_end(text: &str) -> &str {
        let text = text.strip_suffix('\n').unwrap_or(text);
        text.strip_suffix('\r').unwrap_or(text)
    }
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(cut_line_end(text)),
        Cow::Owned(text) => Cow::Owned(cut_line_end(&text).into()),
    }
}

/// Searches for one text, as whole lines or anywhere.
struct TextFinder<'o> {
    old: &'o str,
    unit: MatchUnit,
    /// What is searched for: lines with the newline before them, so that each match begins a line.
    needle: Cow<'o, str>,
}

impl<'o> TextFinder<'o> {
    fn new(old: &'o str, unit: MatchUnit) -> Self {
        let needle = match unit {
            MatchUnit::Text => Cow::Borrowed(old),
            MatchUnit::Lines => {
                let mut needle = String::with_capacity(old.len() + 1);
                needle.push('\n');
                needle.push_str(old);
                Cow::Owned(needle)
            }
        };
        Self { old, unit, needle }
    }

    fn next(&self, text: &str, from: usize) -> Option<Range<usize>> {
        if self.unit == MatchUnit::Text {
            let at = from + memmem::find(&text.as_bytes()[from..], self.needle.as_bytes())?;
            return Some(at..at + self.old.len());
        }
        if self.old.ends_with('\n') {
            if from == 0 && text.starts_with(self.old) {
                return Some(0..self.old.len());
            }
            let before = from.saturating_sub(1);
            let found = memmem::find(&text.as_bytes()[before..], self.needle.as_bytes());
            if let Some(at) = found {
                let start = before + at + 1;
                return Some(start..start + self.old.len());
            }
        }
        match_at_end(text, self.old, MatchUnit::Lines)
            .filter(|range| range.start >= from && !text.ends_with('\n'))
    }
}

/// The range of `old` at the very end of `text`; a last line without a newline counts as a line.
fn match_at_end(text: &str, old: &str, unit: MatchUnit) -> Option<Range<usize>> {
    let ends = |old: &str| {
        let start = text
            .len()
            .checked_sub(old.len())
            .filter(|_| text.ends_with(old))?;
        let fits = unit == MatchUnit::Text || start == 0 || text.as_bytes()[start - 1] == b'\n';
        (fits && !old.is_empty()).then_some(start..text.len())
    };
    ends(old).or_else(|| match unit {
        MatchUnit::Lines if !text.ends_with('\n') => ends(old.strip_suffix('\n')?),
        _ => None,
    })
}

/// A text as it is compared, with a mapping of its positions to the original.
struct ComparedText<'a> {
    text: Cow<'a, str>,
    /// Positions in `text` of newlines that had a carriage return before them.
    folds: Vec<usize>,
}

impl<'a> ComparedText<'a> {
    fn of(text: &'a str, form: LineEndMode) -> Self {
        if form == LineEndMode::Exact || !text.contains("\r\n") {
            return Self {
                text: Cow::Borrowed(text),
                folds: Vec::new(),
            };
        }
        let mut result = String::with_capacity(text.len());
        let mut folds = Vec::new();
        for (index, piece) in text.split("\r\n").enumerate() {
            if index > 0 {
                folds.push(result.len());
                result.push('\n');
            }
            result.push_str(piece);
        }
        Self {
            text: Cow::Owned(result),
            folds,
        }
    }

    /// The position in the original; for a folded newline that of its carriage return.
    fn in_text(&self, at: usize) -> usize {
        at + self.folds.partition_point(|fold| *fold < at)
    }

    /// The first position whose original is at or after `original`.
    fn first_at(&self, original: usize) -> usize {
        let (mut low, mut high) = (original.saturating_sub(self.folds.len()), original);
        while low < high {
            let middle = (low + high) / 2;
            if self.in_text(middle) < original {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let mut at = low.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at += 1;
        }
        at
    }
}

fn with_lf(text: &str, form: LineEndMode) -> Cow<'_, str> {
    match form {
        LineEndMode::Folded if text.contains("\r\n") => Cow::Owned(text.replace("\r\n", "\n")),
        _ => Cow::Borrowed(text),
    }
}

/// The first line end in a text; LF if it has none.
pub(super) fn line_end_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

pub(super) fn with_line_ends_of<'n>(base: &str, new: &'n str) -> Cow<'n, str> {
    let unix = with_lf(new, LineEndMode::Folded);
    if !base.contains('\n') {
        Cow::Borrowed(new)
    } else if line_end_of(base) == "\n" {
        unix
    } else {
        Cow::Owned(unix.replace('\n', "\r\n"))
    }
}
