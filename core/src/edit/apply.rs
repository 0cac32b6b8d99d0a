//! Applies the hunks of an edit to texts in memory: exactly, and all of them or none.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use memchr::memmem;

use super::{EditError, Hunk, Place, Unit};
use crate::limits::{EDIT_WORK_BYTES_MAX, HUNKS_PER_EDIT_MAX};

/// What is known of the file that an edit changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bases<'a> {
    /// All of it.
    Whole(&'a str),
    /// Disjoint parts of it, such as its known definitions.
    Slices(&'a [&'a str]),
}

/// Applies all hunks, one after another on what came of those before, and gives the new text of each base; `None` for a
/// base that no hunk touched.
///
/// A text is looked for byte by byte first. If it isn't there, CRLF and LF count as the same, and what takes its place
/// gets the line ends of the base. Nothing else is fuzzy.
///
/// # Errors
/// If any hunk doesn't apply, or the work would exceed [`EDIT_WORK_BYTES_MAX`].
pub fn apply(hunks: &[Hunk], bases: Bases<'_>) -> Result<Vec<Option<String>>, EditError> {
    let mut file = File::new(bases)?;
    if hunks.len() > HUNKS_PER_EDIT_MAX {
        return Err(EditError::TooLarge);
    }
    for hunk in hunks {
        file.apply(hunk)?;
    }
    Ok(file
        .texts
        .into_iter()
        .map(|text| match text {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(text),
        })
        .collect())
}

/// A file under edit; texts that were touched are owned.
struct File<'a> {
    texts: Vec<Cow<'a, str>>,
    whole: bool,
    work_bytes: usize,
}

/// A text in one of the bases, and what takes its place.
struct Hit<'h> {
    base: usize,
    range: Range<usize>,
    new: Cow<'h, str>,
}

impl<'a> File<'a> {
    fn new(bases: Bases<'a>) -> Result<Self, EditError> {
        let (texts, whole): (Vec<Cow<'a, str>>, bool) = match bases {
            Bases::Whole(text) => ([Cow::Borrowed(text)].into(), true),
            Bases::Slices([]) => return Err(EditError::NoBase),
            Bases::Slices(slices) => (
                slices.iter().map(|text| Cow::Borrowed(*text)).collect(),
                false,
            ),
        };
        Ok(Self {
            texts,
            whole,
            work_bytes: 0,
        })
    }

    fn apply(&mut self, hunk: &Hunk) -> Result<(), EditError> {
        self.charge(self.texts.iter().map(|text| text.len()).sum())?;
        match hunk {
            Hunk::Replace {
                old,
                new,
                place,
                unit,
            } => {
                self.charge(old.len() + new.len())?;
                let hits = self.hits(old, new, place, *unit)?;
                self.replace(hits)
            }
            Hunk::Insert { after_lines, text } => {
                let at = line_start(self.whole()?, *after_lines).ok_or(EditError::NotFound)?;
                self.insert(at, text)
            }
            Hunk::Append(text) => {
                let at = self.whole()?.len();
                self.insert(at, text)
            }
        }
    }

    fn charge(&mut self, bytes: usize) -> Result<(), EditError> {
        self.work_bytes = self.work_bytes.saturating_add(bytes);
        match self.work_bytes > EDIT_WORK_BYTES_MAX {
            true => Err(EditError::TooLarge),
            false => Ok(()),
        }
    }

    fn whole(&self) -> Result<&str, EditError> {
        match self.whole {
            true => Ok(&self.texts[0]),
            false => Err(EditError::NeedsWholeFile),
        }
    }

    /// Puts whole lines at a line's start, or at the end.
    fn insert(&mut self, at: usize, text: &str) -> Result<(), EditError> {
        let base = self.whole()?;
        let mut new = with_line_ends_of(base, text).into_owned();
        if at == base.len() && !base.is_empty() && !base.ends_with('\n') {
            new.insert_str(0, line_end_of(base));
        } else if at < base.len() && !new.ends_with('\n') {
            new.push_str(line_end_of(base));
        }
        let hit = Hit {
            base: 0,
            range: at..at,
            new: new.into(),
        };
        self.replace([hit].into())
    }

    fn hits<'h>(
        &self,
        old: &str,
        new: &'h str,
        place: &Place,
        unit: Unit,
    ) -> Result<Vec<Hit<'h>>, EditError> {
        let search = Search { old, new, unit };
        match place {
            Place::Once => {
                let hits = self.first_two(&search);
                match hits.len() {
                    0 => Err(EditError::NotFound),
                    1 => Ok(hits),
                    _ => Err(EditError::NotUnique),
                }
            }
            Place::Everywhere => {
                let mut hits = Vec::new();
                for form in [Form::Exact, Form::Folded] {
                    for (base, text) in self.texts.iter().enumerate() {
                        hits.extend(search.all(base, text, form));
                    }
                    if !hits.is_empty() {
                        return Ok(hits);
                    }
                }
                Err(EditError::NotFound)
            }
            Place::After(context) => {
                let (base, after) = self.only_line(context)?;
                [Form::Exact, Form::Folded]
                    .into_iter()
                    .find_map(|form| search.next(base, &self.texts[base], form, after))
                    .map(|hit| [hit].into())
                    .ok_or(EditError::NotFound)
            }
            Place::End => {
                let text = self.whole()?;
                [Form::Exact, Form::Folded]
                    .into_iter()
                    .find_map(|form| search.at_end(0, text, form))
                    .map(|hit| [hit].into())
                    .ok_or(EditError::NotFound)
            }
        }
    }

    /// The first two places of a text over all bases; exact ones, or else ones with other line ends.
    fn first_two<'h>(&self, search: &Search<'h, '_>) -> Vec<Hit<'h>> {
        for form in [Form::Exact, Form::Folded] {
            let mut hits = Vec::new();
            for (base, text) in self.texts.iter().enumerate() {
                let mut from = 0;
                while hits.len() < 2 {
                    let Some(hit) = search.next(base, text, form, from) else {
                        break;
                    };
                    from = hit.range.start + 1;
                    hits.push(hit);
                }
            }
            if !hits.is_empty() {
                return hits;
            }
        }
        Vec::new()
    }

    /// Where the one line ends that is `context`, blanks at its ends aside.
    fn only_line(&self, context: &str) -> Result<(usize, usize), EditError> {
        let context = context.trim();
        let mut found = None;
        for (base, text) in self.texts.iter().enumerate() {
            let mut end = 0;
            for line in text.split_inclusive('\n') {
                end += line.len();
                if line.trim() == context && found.replace((base, end)).is_some() {
                    return Err(EditError::NotUnique);
                }
            }
        }
        found.ok_or(EditError::NotFound)
    }

    /// Carries out hits that are in order and don't overlap.
    fn replace(&mut self, hits: Vec<Hit<'_>>) -> Result<(), EditError> {
        self.charge(
            hits.iter()
                .fold(0_usize, |sum, hit| sum.saturating_add(hit.new.len())),
        )?;
        for base in 0..self.texts.len() {
            let mut of_base = hits.iter().filter(|hit| hit.base == base).peekable();
            if of_base.peek().is_none() {
                continue;
            }
            let text = &self.texts[base];
            let mut result = String::with_capacity(text.len());
            let mut from = 0;
            for hit in of_base {
                result.push_str(&text[from..hit.range.start]);
                result.push_str(&hit.new);
                from = hit.range.end;
            }
            result.push_str(&text[from..]);
            self.texts[base] = Cow::Owned(result);
        }
        Ok(())
    }
}

/// How bytes are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As they are.
    Exact,
    /// With CRLF as LF.
    Folded,
}

/// What one hunk looks for.
struct Search<'h, 'o> {
    old: &'o str,
    new: &'h str,
    unit: Unit,
}

impl<'h> Search<'h, '_> {
    /// The first place at or after `from`, overlapping ones included.
    fn next(&self, base: usize, text: &str, form: Form, from: usize) -> Option<Hit<'h>> {
        self.find(base, text, form, from, 1).pop()
    }

    /// All places that don't overlap, in order.
    fn all(&self, base: usize, text: &str, form: Form) -> Vec<Hit<'h>> {
        self.find(base, text, form, 0, usize::MAX)
    }

    fn at_end(&self, base: usize, text: &str, form: Form) -> Option<Hit<'h>> {
        if !self.can_match(text, form) {
            return None;
        }
        let view = View::of(text, form);
        let found = tail(&view.text, &folded(self.old, form), self.unit)?;
        Some(self.hit(base, text, &view, found, form))
    }

    fn find(&self, base: usize, text: &str, form: Form, from: usize, most: usize) -> Vec<Hit<'h>> {
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
        let view = View::of(text, form);
        let old = folded(self.old, form);
        let finder = Finder::new(&old, self.unit);
        let mut hits = Vec::new();
        let mut at = view.from_text(from);
        while hits.len() < most {
            let Some(found) = finder.next(&view.text, at) else {
                break;
            };
            at = found.end;
            hits.push(self.hit(base, text, &view, found, form));
        }
        hits
    }

    /// Whether the lines, old or new, end without a newline, as only a file's last line does.
    fn ends_the_file(&self) -> bool {
        let is_bare = |text: &str| !text.is_empty() && !text.ends_with('\n');
        self.unit == Unit::Lines && (is_bare(self.old) || is_bare(self.new))
    }

    /// What would split a CRLF is compared with line ends folded only, which can only make a difference where there is a
    /// carriage return.
    fn can_match(&self, text: &str, form: Form) -> bool {
        let splits = self.old.starts_with('\n') || self.old.ends_with('\r');
        let fits = match form {
            Form::Exact => !(splits && text.contains("\r\n")),
            Form::Folded => text.contains('\r') || self.old.contains('\r'),
        };
        fits && !self.old.is_empty()
    }

    fn hit(
        &self,
        base: usize,
        text: &str,
        view: &View<'_>,
        found: Range<usize>,
        form: Form,
    ) -> Hit<'h> {
        let range = view.in_text(found.start)..view.in_text(found.end);
        let matched = &text[range.clone()];
        let sample = if matched.contains('\n') {
            matched
        } else {
            text
        };
        let stays_bare =
            self.unit == Unit::Lines && self.old.ends_with('\n') && !matched.ends_with('\n');
        let new = match form {
            Form::Exact if !stays_bare => Cow::Borrowed(self.new),
            _ => with_line_ends_of(sample, self.new),
        };
        Hit {
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

/// New lines for the place of a last line that has no newline: it counts as a line and stays without one.
fn without_line_end(text: Cow<'_, str>) -> Cow<'_, str> {
    fn cut(text: &str) -> &str {
        let text = text.strip_suffix('\n').unwrap_or(text);
        text.strip_suffix('\r').unwrap_or(text)
    }
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(cut(text)),
        Cow::Owned(text) => Cow::Owned(cut(&text).into()),
    }
}

/// Finds a text in another, as whole lines or anywhere.
struct Finder<'o> {
    old: &'o str,
    unit: Unit,
    /// Lines are found with the newline before them, so that each find is one.
    needle: Cow<'o, str>,
}

impl<'o> Finder<'o> {
    fn new(old: &'o str, unit: Unit) -> Self {
        let needle = match unit {
            Unit::Text => Cow::Borrowed(old),
            Unit::Lines => {
                let mut needle = String::with_capacity(old.len() + 1);
                needle.push('\n');
                needle.push_str(old);
                Cow::Owned(needle)
            }
        };
        Self { old, unit, needle }
    }

    fn next(&self, text: &str, from: usize) -> Option<Range<usize>> {
        if self.unit == Unit::Text {
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
        tail(text, self.old, Unit::Lines)
            .filter(|range| range.start >= from && !text.ends_with('\n'))
    }
}

/// The place of a text at the very end of another; a last line without a newline counts as a line.
fn tail(text: &str, old: &str, unit: Unit) -> Option<Range<usize>> {
    let ends = |old: &str| {
        let start = text
            .len()
            .checked_sub(old.len())
            .filter(|_| text.ends_with(old))?;
        let fits = unit == Unit::Text || start == 0 || text.as_bytes()[start - 1] == b'\n';
        (fits && !old.is_empty()).then_some(start..text.len())
    };
    ends(old).or_else(|| match unit {
        Unit::Lines if !text.ends_with('\n') => ends(old.strip_suffix('\n')?),
        _ => None,
    })
}

/// A text as it is compared, and where its bytes stand in the original.
struct View<'a> {
    text: Cow<'a, str>,
    /// Positions in `text` of newlines that had a carriage return before them.
    folds: Vec<usize>,
}

impl<'a> View<'a> {
    fn of(text: &'a str, form: Form) -> Self {
        if form == Form::Exact || !text.contains("\r\n") {
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

    /// Where a position stands in the original; that of a folded newline is before its carriage return.
    fn in_text(&self, at: usize) -> usize {
        at + self.folds.partition_point(|fold| *fold < at)
    }

    /// The first position that stands at or after `original`.
    fn from_text(&self, original: usize) -> usize {
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

fn folded(text: &str, form: Form) -> Cow<'_, str> {
    match form {
        Form::Folded if text.contains("\r\n") => Cow::Owned(text.replace("\r\n", "\n")),
        _ => Cow::Borrowed(text),
    }
}

/// The line end that a text has first; LF if it has none.
fn line_end_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

fn with_line_ends_of<'n>(base: &str, new: &'n str) -> Cow<'n, str> {
    let unix = folded(new, Form::Folded);
    match base.contains('\n') {
        false => Cow::Borrowed(new),
        true if line_end_of(base) == "\n" => unix,
        true => Cow::Owned(unix.replace('\n', "\r\n")),
    }
}

/// Where the line after `lines` lines starts; the text's end counts.
fn line_start(text: &str, lines: u32) -> Option<usize> {
    if lines == 0 {
        return Some(0);
    }
    let mut end = 0;
    let mut count = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        count += 1;
        if count == lines {
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests;
