//! What a shell command says of files: the here-documents that it writes, the files that it shows.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::line::{line_at, without_end};

mod bare;
mod shown;

pub(super) use bare::bare_here_documents;
pub(super) use shown::{Shows, shows};

/// A here-document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HereDocument<'t> {
    /// Its lines in the script.
    pub(super) body: Range<usize>,
    /// What they say to the command.
    pub(super) code: Cow<'t, str>,
    /// The file that it goes to.
    pub(super) path: Option<String>,
}

/// All here-documents of a script, in order. One without an end goes to the script's.
pub(super) fn here_documents(script: &str) -> Vec<HereDocument<'_>> {
    match memchr::memmem::find(script.as_bytes(), b"<<") {
        Some(_) => Reader::of(script).documents,
        None => Vec::new(),
    }
}

/// The file that a command line hands its here-document to, if it opens one.
pub(super) fn here_document_of(command: &str) -> Option<Option<String>> {
    let documents = here_documents(command);
    documents.into_iter().next().map(|document| document.path)
}

/// Here-documents that one line announces, at most: each is looked for among the line's commands.
const HERE_DOCUMENTS_OF_LINE_MAX: usize = 16;

/// Reads a script from its first character to its last; what is quoted or expanded isn't looked into.
struct Reader<'t> {
    script: &'t str,
    at: usize,
    /// Simple commands that are complete.
    runs: Vec<Run>,
    run: Run,
    /// How many commands stood before this pipeline.
    pipeline: usize,
    folder: String,
    /// Here-documents whose lines come after this one.
    awaited: Vec<Awaited>,
    documents: Vec<HereDocument<'t>>,
}

/// A simple command.
#[derive(Default)]
struct Run {
    words: Vec<String>,
    /// Where it writes to.
    target: Option<String>,
    /// The folder that it is run in, as far as the script says.
    folder: String,
}

/// A here-document that was announced.
struct Awaited {
    word: String,
    strips_tabs: bool,
    is_quoted: bool,
    /// Which command it belongs to.
    run: usize,
    /// How many commands stood before its pipeline.
    pipeline: usize,
}

impl Run {
    /// A path as the script means it.
    fn place(&self, path: &str) -> String {
        // Where a variable or the user's own folder leads to isn't known.
        let path = match path.rsplit_once('/') {
            Some((folder, name)) if folder.contains('$') || folder.starts_with('~') => name,
            _ => path,
        };
        let is_absolute = path.starts_with(['/', '\\']) || path.get(1..2) == Some(":");
        match self.folder.is_empty() || is_absolute {
            true => path.to_string(),
            false => format!("{}/{path}", self.folder.trim_end_matches('/')),
        }
    }

    /// The file that it writes to.
    fn writes(&self) -> Option<String> {
        let tee = self.words.iter().position(|word| word == "tee");
        let teed = tee.and_then(|tee| {
            let mut words = self.words[tee + 1..].iter();
            words.find(|word| !word.starts_with('-'))
        });
        let path = teed.or(self.target.as_ref())?;
        Some(self.place(path))
    }
}

impl<'t> Reader<'t> {
    fn of(script: &'t str) -> Self {
        let mut reader = Self {
            script,
            at: 0,
            runs: Vec::new(),
            run: Run::default(),
            pipeline: 0,
            folder: String::new(),
            awaited: Vec::new(),
            documents: Vec::new(),
        };
        while reader.at < script.len() {
            reader.step();
        }
        reader.end_pipeline();
        reader.take_documents();
        reader
    }

    fn rest(&self) -> &'t str {
        &self.script[self.at..]
    }

    fn step(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return;
        };
        match first {
            '\n' => {
                self.at += 1;
                self.end_pipeline();
                self.take_documents();
            }
            '#' => self.at += without_end(&rest[line_at(rest, 0)]).len(),
            '(' if rest.starts_with("((") => {
                let end = rest.find("))").map_or(rest.len(), |end| end + 2);
                self.at += end;
            }
            ';' | '(' | ')' => {
                self.at += 1;
                self.end_pipeline();
            }
            '&' => self.ampersand(),
            '|' if rest.starts_with("||") => {
                self.at += 2;
                self.end_pipeline();
            }
            '|' => {
                self.at += 1;
                self.end_run();
            }
            '<' | '>' => self.redirect(1),
            c if c.is_whitespace() => self.at += c.len_utf8(),
            _ => self.word_or_descriptor(),
        }
    }

    /// `&&`, `&`, `&>file`.
    fn ampersand(&mut self) {
        self.at += 1;
        if self.rest().starts_with('>') {
            self.redirect(1);
            return;
        }
        self.end_pipeline();
    }

    /// A word, or the number in front of a redirection.
    fn word_or_descriptor(&mut self) {
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && rest[digits..].starts_with(['<', '>']) {
            self.at += digits;
            let descriptor = rest[..digits].parse().unwrap_or(u32::MAX);
            self.redirect(descriptor);
            return;
        }
        let (word, _) = self.word();
        self.run.words.push(word);
    }

    fn redirect(&mut self, descriptor: u32) {
        let rest = self.rest();
        if let Some(after) = rest.strip_prefix("<<<") {
            self.at = self.script.len() - after.len();
            self.skip_blanks();
            self.word();
        } else if let Some(after) = rest.strip_prefix("<<") {
            self.at = self.script.len() - after.len();
            self.here_document();
        } else {
            let operator = rest.find(|c| !matches!(c, '<' | '>' | '|' | '&'));
            self.at += operator.unwrap_or(rest.len());
            self.skip_blanks();
            let (target, _) = self.word();
            let operator = &rest[..operator.unwrap_or(rest.len())];
            let is_written = operator.starts_with('>') && !operator.contains('&');
            if is_written && descriptor == 1 && !target.starts_with("/dev/") && !target.is_empty() {
                self.run.target.get_or_insert(target);
            }
        }
    }

    fn here_document(&mut self) {
        let strips_tabs = self.rest().starts_with('-');
        self.at += usize::from(strips_tabs);
        self.skip_blanks();
        let (word, is_quoted) = self.word();
        let is_word =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '!' | '@' | '+');
        let is_room = self.awaited.len() < HERE_DOCUMENTS_OF_LINE_MAX;
        if is_room && !word.is_empty() && word.chars().all(is_word) {
            self.awaited.push(Awaited {
                word,
                strips_tabs,
                is_quoted,
                run: self.runs.len(),
                pipeline: self.pipeline,
            });
        }
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    /// A word without its quotes, and whether it had some.
    fn word(&mut self) -> (String, bool) {
        let mut word = String::new();
        let mut is_quoted = false;
        while let Some(c) = self.rest().chars().next() {
            match c {
                '\'' => {
                    is_quoted = true;
                    let inside = &self.rest()[1..];
                    let end = memchr::memchr(b'\'', inside.as_bytes()).unwrap_or(inside.len());
                    word.push_str(&inside[..end]);
                    self.at = (self.at + end + 2).min(self.script.len());
                }
                '"' => {
                    is_quoted = true;
                    self.at += 1;
                    self.double_quoted(&mut word);
                }
                '\\' => {
                    is_quoted = true;
                    self.at += 1;
                    if let Some(c) = self.rest().chars().next() {
                        self.at += c.len_utf8();
                        word.extend((c != '\n').then_some(c));
                    }
                }
                c if c.is_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>' | '(' | ')') => {
                    break;
                }
                c => {
                    word.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        (word, is_quoted)
    }

    fn double_quoted(&mut self, word: &mut String) {
        while let Some(c) = self.rest().chars().next() {
            self.at += c.len_utf8();
            match c {
                '"' => return,
                '\\' => {
                    if let Some(c) = self.rest().chars().next() {
                        self.at += c.len_utf8();
                        word.push(c);
                    }
                }
                c => word.push(c),
            }
        }
    }

    fn end_run(&mut self) {
        let mut run = core::mem::take(&mut self.run);
        run.folder.clone_from(&self.folder);
        if let [cd, folder] = run.words.as_slice()
            && cd == "cd"
            && !folder.starts_with('-')
            && !folder.contains('$')
        {
            self.folder = run.place(folder);
        }
        let is_empty = run.words.is_empty() && run.target.is_none();
        let is_awaited = self
            .awaited
            .iter()
            .any(|awaited| awaited.run == self.runs.len());
        if !is_empty || is_awaited {
            self.runs.push(run);
        }
    }

    fn end_pipeline(&mut self) {
        self.end_run();
        self.pipeline = self.runs.len();
    }

    /// The lines of what was announced, which start here.
    fn take_documents(&mut self) {
        for awaited in core::mem::take(&mut self.awaited) {
            let start = self.at;
            let mut end = self.script.len();
            let mut code = String::new();
            while self.at < self.script.len() {
                let line = line_at(self.script, self.at);
                let text = &self.script[line.clone()];
                let text = match awaited.strips_tabs {
                    true => text.trim_start_matches('\t'),
                    false => text,
                };
                self.at = line.end;
                if without_end(text) == awaited.word {
                    end = line.start;
                    break;
                }
                code.push_str(text);
            }
            let body = start..end;
            if !awaited.is_quoted {
                code = unescaped(&code);
            }
            let code = match &self.script[body.clone()] == code.as_str() {
                true => Cow::Borrowed(&self.script[body.clone()]),
                false => Cow::Owned(code),
            };
            let runs = self.runs.get(awaited.run..).unwrap_or_default();
            let own = runs.first().and_then(Run::writes);
            let last = self.runs.len();
            let piped = || {
                let pipeline = self.runs.get(awaited.pipeline.min(last)..)?;
                let behind = pipeline.get(awaited.run - awaited.pipeline..)?;
                behind.iter().find_map(Run::writes)
            };
            self.documents.push(HereDocument {
                path: own.or_else(piped),
                body,
                code,
            });
        }
    }
}

/// What a here-document says whose word isn't quoted; what it has the shell expand stays as it is written.
fn unescaped(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let skipped = match after[1..].chars().next() {
            Some(c @ ('\\' | '$' | '`')) => {
                out.push(c);
                2
            }
            Some('\n') => 2,
            _ => {
                out.push('\\');
                1
            }
        };
        rest = &after[skipped..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests;
