//! Applies the hunks of an edit to texts in memory: exactly, and all of them or none.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::search::{HunkSearch, LineEndMode, TextMatch, line_end_of, with_line_ends_of};
use super::{EditError, EditPosition, Hunk, MatchUnit};
use crate::limits::{EDIT_WORK_BYTES_MAX, HUNKS_PER_EDIT_MAX};

/// The known text of the file that an edit changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseTexts<'a> {
    /// All of it.
    Whole(&'a str),
    /// Disjoint parts of it, such as its known definitions.
    Slices(&'a [&'a str]),
}

/// Applies all hunks, each to the result of those before, and returns the new text of each base; `None` for a base that no
/// hunk changed.
///
/// Texts are first searched byte by byte. If one isn't found, CRLF and LF count as the same, and its replacement gets the line
/// ends of the base. Nothing else is fuzzy.
///
/// # Errors
/// The first hunk's error if it doesn't apply; [`EditError::NoBase`] without a base; [`EditError::TooLarge`] for more than
/// [`HUNKS_PER_EDIT_MAX`] hunks, or if the work would exceed [`EDIT_WORK_BYTES_MAX`].
pub fn apply(hunks: &[Hunk], bases: BaseTexts<'_>) -> Result<Vec<Option<String>>, EditError> {
    let mut file = FileUnderEdit::new(bases)?;
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

/// A file under edit; changed texts are owned.
struct FileUnderEdit<'a> {
    texts: Vec<Cow<'a, str>>,
    whole: bool,
    work_bytes: usize,
}

impl<'a> FileUnderEdit<'a> {
    fn new(bases: BaseTexts<'a>) -> Result<Self, EditError> {
        let (texts, whole): (Vec<Cow<'a, str>>, bool) = match bases {
            BaseTexts::Whole(text) => ([Cow::Borrowed(text)].into(), true),
            BaseTexts::Slices([]) => return Err(EditError::NoBase),
            BaseTexts::Slices(slices) => (
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
        // Charged before the work, per hunk: many hunks on a large file would otherwise cost their product.
        self.charge_work(self.texts.iter().map(|text| text.len()).sum())?;
        match hunk {
            Hunk::Replace {
                old,
                new,
                place,
                unit,
            } => {
                self.charge_work(old.len() + new.len())?;
                let hits = self.find_matches(old, new, place, *unit)?;
                self.replace_matches(hits)
            }
            Hunk::Insert { after_lines, text } => {
                let at = line_start(self.whole_text()?, *after_lines).ok_or(EditError::NotFound)?;
                self.insert_lines(at, text)
            }
            Hunk::Append(text) => {
                let at = self.whole_text()?.len();
                self.insert_lines(at, text)
            }
        }
    }

    fn charge_work(&mut self, bytes: usize) -> Result<(), EditError> {
        self.work_bytes = self.work_bytes.saturating_add(bytes);
        if self.work_bytes > EDIT_WORK_BYTES_MAX {
            Err(EditError::TooLarge)
        } else {
            Ok(())
        }
    }

    fn whole_text(&self) -> Result<&str, EditError> {
        if self.whole {
            Ok(&self.texts[0])
        } else {
            Err(EditError::NeedsWholeFile)
        }
    }

    /// Inserts whole lines at a line's start, or at the end.
    fn insert_lines(&mut self, at: usize, text: &str) -> Result<(), EditError> {
        let base = self.whole_text()?;
        let mut new = with_line_ends_of(base, text).into_owned();
        if at == base.len() && !base.is_empty() && !base.ends_with('\n') {
            new.insert_str(0, line_end_of(base));
        } else if at < base.len() && !new.ends_with('\n') {
            new.push_str(line_end_of(base));
        }
        let hit = TextMatch {
            base: 0,
            range: at..at,
            new: new.into(),
        };
        self.replace_matches([hit].into())
    }

    fn find_matches<'h>(
        &self,
        old: &str,
        new: &'h str,
        place: &EditPosition,
        unit: MatchUnit,
    ) -> Result<Vec<TextMatch<'h>>, EditError> {
        let search = HunkSearch { old, new, unit };
        match place {
            EditPosition::Once => {
                let hits = self.first_two_matches(&search);
                match hits.len() {
                    0 => Err(EditError::NotFound),
                    1 => Ok(hits),
                    _ => Err(EditError::NotUnique),
                }
            }
            EditPosition::Everywhere => {
                let mut hits = Vec::new();
                for form in [LineEndMode::Exact, LineEndMode::Folded] {
                    for (base, text) in self.texts.iter().enumerate() {
                        hits.extend(search.all_matches(base, text, form));
                    }
                    if !hits.is_empty() {
                        return Ok(hits);
                    }
                }
                Err(EditError::NotFound)
            }
            EditPosition::After(context) => {
                let (base, after) = self.only_line(context)?;
                [LineEndMode::Exact, LineEndMode::Folded]
                    .into_iter()
                    .find_map(|form| search.next_match(base, &self.texts[base], form, after))
                    .map(|hit| [hit].into())
                    .ok_or(EditError::NotFound)
            }
            EditPosition::End => {
                let text = self.whole_text()?;
                [LineEndMode::Exact, LineEndMode::Folded]
                    .into_iter()
                    .find_map(|form| search.at_end(0, text, form))
                    .map(|hit| [hit].into())
                    .ok_or(EditError::NotFound)
            }
        }
    }

    /// The first two matches of a text in all bases: exact ones, or else ones with other line ends.
    fn first_two_matches<'h>(&self, search: &HunkSearch<'h, '_>) -> Vec<TextMatch<'h>> {
        for form in [LineEndMode::Exact, LineEndMode::Folded] {
            let mut hits = Vec::new();
            for (base, text) in self.texts.iter().enumerate() {
                let mut from = 0;
                while hits.len() < 2 {
                    let Some(hit) = search.next_match(base, text, form, from) else {
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

    /// The base and the end of the only line equal to `context`, ignoring whitespace at its ends.
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

    /// Replaces matches that are in order and don't overlap.
    fn replace_matches(&mut self, hits: Vec<TextMatch<'_>>) -> Result<(), EditError> {
        self.charge_work(
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

/// The start of the line after `lines` lines, which may be the text's end.
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
