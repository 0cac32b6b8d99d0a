//! Applies the hunks of an edit to texts in memory: exactly, and all of them or none.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::search::{Form, Hit, Search, line_end_of, with_line_ends_of};
use super::{EditError, EditPosition, Hunk, MatchUnit};
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
        if self.work_bytes > EDIT_WORK_BYTES_MAX {
            Err(EditError::TooLarge)
        } else {
            Ok(())
        }
    }

    fn whole(&self) -> Result<&str, EditError> {
        if self.whole {
            Ok(&self.texts[0])
        } else {
            Err(EditError::NeedsWholeFile)
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
        place: &EditPosition,
        unit: MatchUnit,
    ) -> Result<Vec<Hit<'h>>, EditError> {
        let search = Search { old, new, unit };
        match place {
            EditPosition::Once => {
                let hits = self.first_two(&search);
                match hits.len() {
                    0 => Err(EditError::NotFound),
                    1 => Ok(hits),
                    _ => Err(EditError::NotUnique),
                }
            }
            EditPosition::Everywhere => {
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
            EditPosition::After(context) => {
                let (base, after) = self.only_line(context)?;
                [Form::Exact, Form::Folded]
                    .into_iter()
                    .find_map(|form| search.next(base, &self.texts[base], form, after))
                    .map(|hit| [hit].into())
                    .ok_or(EditError::NotFound)
            }
            EditPosition::End => {
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
