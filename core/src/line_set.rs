//! Lines of files, by which a text is recognised that shows a part of one, with line numbers or other marks in front.

use alloc::vec::Vec;

use hashbrown::HashMap;

use crate::hash::quick_hash;
use crate::path::RelPath;
use crate::scope::is_meant;

/// Letters and digits that a line needs to be told from others.
const LINE_CHARS_MIN: u32 = 4;

/// Letters and digits of the lines that are one file's beyond doubt: of settings or keys, the same where a call names another file, of
/// code, and of what may well be another file's.
const DATA_CHARS_MIN: u32 = 8;
const OTHER_DATA_CHARS_MIN: u32 = 16;
const CODE_CHARS_MIN: u32 = 32;
const OTHER_CHARS_MIN: u32 = 48;

/// Lines that these are at least.
const OTHER_LINES_MIN: usize = 3;

/// Marks in front of a line that are taken off one after the other: a path, a number, a diff's sign.
const MARKS_MAX: usize = 4;

/// How lines begin that many files share.
const SHARED_BEGINNINGS: [&str; 7] = [
    "import ", "from ", "#include", "using ", "use ", "package ", "require",
];

/// The lines of some files.
#[derive(Clone, Debug, Default)]
pub struct LineSet {
    lines: HashMap<u64, FileLine>,
    files: Vec<RelPath>,
}

/// Where a line is from.
#[derive(Clone, Copy, Debug)]
struct FileLine {
    file: u32,
    is_code: bool,
}

/// How much it takes for a text's lines to count as a file's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suspicion {
    /// A call names files by a pattern that means one of them.
    Meant,
    /// Nothing speaks for another file.
    Any,
    /// A call names another file, whose own lines some may be.
    Foreign,
    /// A person wrote the text.
    Typed,
}

impl LineSet {
    /// Adds a file's lines. Those of code may be any file's; a line of settings or keys says more.
    pub fn add(&mut self, path: &RelPath, text: &str, is_code: bool) {
        let Ok(file) = u32::try_from(self.files.len()) else {
            return;
        };
        self.files.push(path.clone());
        for line in text.lines().map(str::trim) {
            if weight(line) >= LINE_CHARS_MIN {
                let line = self.lines.entry(quick_hash(line.as_bytes()));
                line.or_insert(FileLine { file, is_code });
            }
        }
    }

    /// Whether a pattern means one of the files.
    #[must_use]
    pub fn is_any_meant(&self, pattern: &str) -> bool {
        self.files
            .iter()
            .any(|file| is_meant(pattern, file.as_str()))
    }

    /// Whether it has no lines.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn find(&self, line: &str) -> Option<(FileLine, u32)> {
        let mut line = line.trim();
        for _ in 0..=MARKS_MAX {
            if let Some(found) = self.lines.get(&quick_hash(line.as_bytes())) {
                let is_shared = SHARED_BEGINNINGS.iter().any(|it| line.starts_with(it));
                return Some((*found, if is_shared { 0 } else { weight(line) }));
            }
            line = without_mark(line)?;
        }
        None
    }

    /// The ranges of whole lines that show a part of one of the files, each with the file.
    #[must_use]
    pub fn shown_in(
        &self,
        text: &str,
        suspicion: Suspicion,
    ) -> Vec<(core::ops::Range<usize>, &RelPath)> {
        let mut found = Vec::new();
        let mut run: Option<Run> = None;
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let range = start..start + line.len();
            start = range.end;
            match (self.find(line), &mut run) {
                (Some((from, weight)), Some(run)) => run.add(range, from, weight),
                (Some((from, weight)), None) => run = Some(Run::new(range, from, weight)),
                // A blank line or a brace ends nothing.
                (None, Some(_)) if self::weight(line) < LINE_CHARS_MIN => {}
                (None, _) => found.extend(run.take()),
            }
        }
        found.extend(run);
        found.retain(|run| run.counts(suspicion));
        let places = found.into_iter();
        places
            .map(|run| (run.range, &self.files[run.from.file as usize]))
            .collect()
    }
}

/// Lines that follow one another.
struct Run {
    range: core::ops::Range<usize>,
    from: FileLine,
    lines: usize,
    weight: u32,
}

impl Run {
    const fn new(range: core::ops::Range<usize>, from: FileLine, weight: u32) -> Self {
        Self {
            range,
            from,
            lines: 1,
            weight,
        }
    }

    fn add(&mut self, range: core::ops::Range<usize>, from: FileLine, weight: u32) {
        self.range.end = range.end;
        self.lines += 1;
        self.weight += weight;
        self.from.is_code &= from.is_code;
    }

    const fn counts(&self, suspicion: Suspicion) -> bool {
        match (suspicion, self.from.is_code) {
            (Suspicion::Meant, _) | (Suspicion::Any, false) => self.weight >= DATA_CHARS_MIN,
            (Suspicion::Any, true) => self.weight >= CODE_CHARS_MIN,
            (Suspicion::Foreign, false) => self.weight >= OTHER_DATA_CHARS_MIN,
            _ => self.lines >= OTHER_LINES_MIN && self.weight >= OTHER_CHARS_MIN,
        }
    }
}

/// The number of a text's letters and digits.
fn weight(text: &str) -> u32 {
    let count = text
        .bytes()
        .filter(|it| it.is_ascii_alphanumeric() || !it.is_ascii())
        .count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A line without the first mark in front of it; `None` if there is none.
fn without_mark(line: &str) -> Option<&str> {
    let line = line
        .strip_prefix("Line ")
        .or_else(|| line.strip_prefix('L'))
        .unwrap_or(line);
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < line.len() {
        let rest = rest.trim_start();
        return Some(
            rest.trim_start_matches([':', '-', '|', '→', '│', ')', '\t'])
                .trim_start(),
        );
    }
    if let Some(rest) = line.strip_prefix(['+', '-', '>', '|', '│']) {
        return Some(rest.trim_start());
    }
    // What tools print of a file begins with its path.
    let (path, rest) = line.split_once(':')?;
    (!path.is_empty() && !path.contains(char::is_whitespace)).then_some(rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &str = "# for the staging server\nAPI_KEY=abcd1234efgh\nPORT=80\n";
    const CODE: &str = "import os\n\ndef rotate(ring, steps):\n    for step in range(steps):\n        ring.append(ring.pop())\n    return ring\n";

    fn check(text: &str, suspicion: Suspicion, expected: &[&str]) {
        let mut set = LineSet::default();
        set.add(&RelPath::from_normalised("k.env"), KEYS, false);
        set.add(&RelPath::from_normalised("r.py"), CODE, true);
        let shown = set.shown_in(text, suspicion);
        let shown: Vec<&str> = shown.into_iter().map(|(range, _)| &text[range]).collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn parts_of_a_file_are_found_as_tools_print_them() {
        check(
            "a\nAPI_KEY=abcd1234efgh\nb",
            Suspicion::Any,
            &["API_KEY=abcd1234efgh\n"],
        );
        check(
            "     2\tAPI_KEY=abcd1234efgh\n",
            Suspicion::Any,
            &["     2\tAPI_KEY=abcd1234efgh\n"],
        );
        check(
            "x/k.env:2:API_KEY=abcd1234efgh\n",
            Suspicion::Any,
            &["x/k.env:2:API_KEY=abcd1234efgh\n"],
        );
        check(
            "-API_KEY=abcd1234efgh\n+API_KEY=new",
            Suspicion::Any,
            &["-API_KEY=abcd1234efgh\n"],
        );
        let numbered = "3→def rotate(ring, steps):\n4→    for step in range(steps):\n";
        check(numbered, Suspicion::Any, &[numbered]);
    }

    #[test]
    fn what_other_files_have_as_well_is_no_part() {
        check("import os\nimport sys\n", Suspicion::Any, &[]);
        check("    return ring\n", Suspicion::Any, &[]);
        check("PORT=80\n", Suspicion::Any, &[]);
        check("API_KEY=abcd1234efgh\n", Suspicion::Typed, &[]);
        check(CODE, Suspicion::Foreign, &[CODE]);
    }
}
