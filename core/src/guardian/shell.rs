//! Reads a command line as a shell does: its commands in order, what they redirect, and the scripts in their substitutions.
//! Nothing is expanded but variables that the line itself sets, and the home folder, which stays `~`.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::command::{COMMANDS_MAX, Join, LINE_BYTES_MAX, SimpleCommand, SplitError};

/// Words with a meaning to a shell in place of a program's name; so have jobs, which begin with `%`.
pub(super) const KEYWORDS: &[&str] = &[
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while",
];

/// One command of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShellCommand {
    /// How it goes on from the one before; `None` for the first.
    pub(super) join: Option<Join>,
    /// Its words without their quotes.
    pub(super) words: Vec<String>,
    /// Files that it redirects output to.
    pub(super) writes: Vec<String>,
    /// Files that it reads by redirection.
    pub(super) reads: Vec<String>,
    /// The text of its here-documents and here-strings.
    pub(super) input: String,
    /// The scripts in its substitutions.
    pub(super) scripts: Vec<String>,
    /// Variables in its words that the line doesn't set.
    pub(super) variables: Vec<String>,
    /// Whether variables are assigned in front of it.
    assigns: bool,
    /// Whether its first word is written with quotes.
    is_quoted: bool,
}

/// What the word that comes next is, after a redirection.
#[derive(Clone, Copy, Default)]
enum WordIs {
    #[default]
    Argument,
    Written,
    Read,
    HereDocument,
    HereString,
}

/// The commands of a line that needs no shell, in order.
///
/// # Errors
/// The reason why only a shell could interpret the line.
pub fn split(line: &str) -> Result<Vec<SimpleCommand>, SplitError> {
    if line.len() > LINE_BYTES_MAX {
        return Err(SplitError::TooLong);
    }
    let line = line.trim_matches([' ', '\t', '\n']);
    let is_control = |c: char| c.is_control() && !matches!(c, '\t' | '\n');
    if line.chars().any(is_control) {
        return Err(SplitError::Control);
    }
    let mut reader = LineReader::new(line);
    reader.read();
    if let Some(reason) = reader.special {
        return Err(reason);
    }
    if line.is_empty() {
        return Err(SplitError::Empty);
    }
    if reader.is_broken || !matches!(reader.join, None | Some(Join::Then)) {
        return Err(reader.construct.unwrap_or(SplitError::Syntax));
    }
    if reader.commands.len() > COMMANDS_MAX {
        return Err(SplitError::TooMany);
    }
    let commands = reader.commands.into_iter();
    commands.map(|command| command.into_simple()).collect()
}

/// The commands of any line, as well as they can be told without running it.
pub(super) fn read_line(line: &str) -> Vec<ShellCommand> {
    let mut reader = LineReader::new(line);
    reader.read();
    reader.commands
}

impl ShellCommand {
    fn into_simple(self) -> Result<SimpleCommand, SplitError> {
        let name = self.words.first().map_or("", String::as_str);
        if self.assigns {
            Err(SplitError::Assignment)
        } else if !self.is_quoted && KEYWORDS.contains(&name) || name.starts_with('%') {
            Err(SplitError::Keyword)
        } else if name.is_empty() {
            Err(SplitError::NoProgram)
        } else {
            Ok(SimpleCommand {
                join: self.join.unwrap_or(Join::First),
                words: self.words,
            })
        }
    }
}

#[derive(Default)]
struct LineReader<'l> {
    line: &'l str,
    at: usize,
    commands: Vec<ShellCommand>,
    /// The command under way.
    command: ShellCommand,
    /// The word under way, and how long it was at its first quote.
    word: Option<(String, Option<usize>)>,
    word_is: WordIs,
    /// The operator that nothing came after yet.
    join: Option<Join>,
    /// Here-documents whose text begins in the next line: the number of their command, and the line that ends them.
    documents: Vec<(usize, String)>,
    /// Variables that the line sets.
    values: BTreeMap<String, String>,
    /// The first thing that only a shell understands.
    special: Option<SplitError>,
    construct: Option<SplitError>,
    /// Whether a quote isn't closed, or an operator has nothing in front of it.
    is_broken: bool,
}

impl<'l> LineReader<'l> {
    fn new(line: &'l str) -> Self {
        Self {
            line,
            ..Self::default()
        }
    }

    fn rest(&self) -> &'l str {
        &self.line[self.at..]
    }

    fn next_is(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        self.at += if is_next { text.len() } else { 0 };
        is_next
    }

    fn note(&mut self, reason: SplitError) {
        self.special.get_or_insert(reason);
    }

    fn push(&mut self, text: &str) {
        self.word.get_or_insert_default().0.push_str(text);
    }

    fn begin_quote(&mut self) {
        let (text, quoted_at) = self.word.get_or_insert_default();
        quoted_at.get_or_insert(text.len());
    }

    fn read(&mut self) {
        while let Some(next) = self.rest().chars().next() {
            let start = self.at;
            self.at += next.len_utf8();
            match next {
                ' ' | '\t' => self.end_word(),
                '\n' | '\r' => {
                    self.note(SplitError::LineBreak);
                    self.end_command(Join::Then, true);
                    self.read_documents();
                }
                '\'' => {
                    self.begin_quote();
                    let rest = self.rest();
                    let end = rest.find('\'');
                    self.is_broken |= end.is_none();
                    let text = &rest[..end.unwrap_or(rest.len())];
                    self.at += text.len() + usize::from(end.is_some());
                    self.push(text);
                }
                '"' => {
                    self.begin_quote();
                    self.read_quoted();
                }
                '\\' => {
                    self.note(SplitError::Escape);
                    self.begin_quote();
                    if let Some(escaped) = self.rest().chars().next() {
                        self.at += escaped.len_utf8();
                        if escaped != '\n' {
                            self.push(escaped.encode_utf8(&mut [0; 4]));
                        }
                    }
                }
                '$' | '`' => self.expand(next),
                '#' if self.word.is_none() => {
                    self.note(SplitError::Mark);
                    let rest = self.rest();
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                '<' | '>' => self.redirect(next),
                '&' if self.next_is("&") => self.end_command(Join::And, false),
                '&' if self.rest().starts_with('>') => {}
                '&' => {
                    self.note(SplitError::Background);
                    self.end_command(Join::Then, true);
                }
                '|' if self.next_is("|") => self.end_command(Join::Or, false),
                '|' => {
                    if self.next_is("&") {
                        self.note(SplitError::Background);
                    }
                    self.end_command(Join::Pipe, false);
                }
                ';' => {
                    if self.next_is(";") {
                        self.is_broken = true;
                        self.construct.get_or_insert(SplitError::Construct);
                    }
                    self.end_command(Join::Then, false);
                }
                '(' | ')' => {
                    self.note(SplitError::Subshell);
                    self.end_command(Join::Then, true);
                }
                plain => {
                    let before = self.line[..start].chars().next_back();
                    let is_name = plain == '~' && before.is_some_and(|c| c.is_ascii_alphanumeric());
                    if let Some(reason) = SplitError::of_unquoted(plain).filter(|_| !is_name) {
                        self.note(reason);
                    }
                    self.push(plain.encode_utf8(&mut [0; 4]));
                }
            }
        }
        self.end_command(Join::Then, true);
    }

    /// The rest of a text in double quotes: a backslash escapes the characters that have a meaning there, and is literal
    /// otherwise.
    fn read_quoted(&mut self) {
        loop {
            let Some(next) = self.rest().chars().next() else {
                self.is_broken = true;
                return;
            };
            self.at += next.len_utf8();
            match next {
                '"' => return self.push(""),
                '$' | '`' => self.expand(next),
                '\\' => match self.rest().chars().next() {
                    Some('\n') => {
                        self.note(SplitError::LineBreak);
                        self.at += 1;
                    }
                    Some(escaped @ ('$' | '`' | '"' | '\\')) => {
                        self.at += 1;
                        self.push(escaped.encode_utf8(&mut [0; 4]));
                    }
                    _ => self.push("\\"),
                },
                other => self.push(other.encode_utf8(&mut [0; 4])),
            }
        }
    }

    /// A variable or a substitution, after its first character.
    fn expand(&mut self, mark: char) {
        self.note(SplitError::Substitution);
        let rest = self.rest();
        if mark == '`' {
            let end = rest.find('`').unwrap_or(rest.len());
            self.at += (end + 1).min(rest.len());
            self.command.scripts.push(rest[..end].to_string());
            return self.push("$()");
        }
        if rest.starts_with('(') {
            return self.take_script();
        }
        if let Some(quoted) = rest.strip_prefix('\'') {
            let end = quoted.find('\'').unwrap_or(quoted.len());
            self.at += (end + 2).min(rest.len());
            return self.push(&unescaped(&quoted[..end]));
        }
        let braced = rest.strip_prefix('{');
        let named = braced.map_or(rest, |inner| inner.trim_start_matches(['!', '#']));
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = &named[..named.find(|c| !is_name(c)).unwrap_or(named.len())];
        self.at += match braced {
            Some(inner) => (inner.find('}').unwrap_or(inner.len()) + 2).min(rest.len()),
            None => name.len(),
        };
        match (name, self.values.get(name).cloned()) {
            ("", _) => self.push("$"),
            ("HOME", None) => self.push("~"),
            ("PWD", None) => self.push("."),
            (_, Some(value)) => self.push(&value),
            (name, None) => {
                self.command.variables.push(name.to_string());
                self.push("$");
                self.push(name);
            }
        }
    }

    /// A script in the parentheses that come next.
    fn take_script(&mut self) {
        let rest = self.rest();
        let script = parenthesised(rest);
        self.at += (script.len() + 2).min(rest.len());
        self.command.scripts.push(script.to_string());
        self.push("$()");
    }

    fn redirect(&mut self, mark: char) {
        self.note(SplitError::Redirection);
        // A number right in front is a descriptor, and so is a lone `&`.
        let is_number = |(text, _): &(String, Option<usize>)| text.parse::<u8>().is_ok();
        if self.word.as_ref().is_some_and(is_number) {
            self.word = None;
        }
        self.end_word();
        if self.rest().starts_with('(') {
            return self.take_script();
        }
        self.word_is = if mark == '<' {
            if self.next_is("<<") {
                WordIs::HereString
            } else if self.next_is("<") {
                self.next_is("-");
                WordIs::HereDocument
            } else {
                WordIs::Read
            }
        } else {
            let _ = self.next_is(">") || self.next_is("|");
            WordIs::Written
        };
        if let Some(rest) = self.rest().strip_prefix('&') {
            self.at += 1;
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-');
            let descriptor = end.unwrap_or(rest.len());
            if descriptor > 0 {
                self.at += descriptor;
                self.word_is = WordIs::Argument;
            }
        }
    }

    /// The texts of the here-documents that began in the line before.
    fn read_documents(&mut self) {
        for (number, end) in core::mem::take(&mut self.documents) {
            let mut text = String::new();
            while self.at < self.line.len() {
                let rest = self.rest();
                let line = rest.split_inclusive('\n').next().unwrap_or(rest);
                self.at += line.len();
                if line.trim() == end {
                    break;
                }
                text.push_str(line);
            }
            if let Some(command) = self.commands.get_mut(number) {
                command.input.push_str(&text);
            }
        }
    }

    fn end_word(&mut self) {
        let Some((text, quoted_at)) = self.word.take() else {
            return;
        };
        match core::mem::take(&mut self.word_is) {
            WordIs::Written => self.command.writes.push(text),
            WordIs::Read => self.command.reads.push(text),
            WordIs::HereString => self.command.input.push_str(&text),
            WordIs::HereDocument => self.documents.push((self.commands.len(), text)),
            WordIs::Argument if self.command.words.is_empty() => {
                match assignment(&text, quoted_at) {
                    Some((name, value)) => {
                        self.command.assigns = true;
                        self.values.insert(name.to_string(), value.to_string());
                    }
                    None => {
                        self.command.is_quoted = quoted_at.is_some();
                        self.command.words.push(text);
                    }
                }
            }
            WordIs::Argument => {
                let is_export = matches!(&*self.command.words[0], "export" | "local" | "declare");
                if let Some((name, value)) = assignment(&text, quoted_at).filter(|_| is_export) {
                    self.values.insert(name.to_string(), value.to_string());
                }
                self.command.words.push(text);
            }
        }
    }

    fn is_empty(&self) -> bool {
        let command = &self.command;
        let is_unnamed = command.words.is_empty() && command.writes.is_empty();
        is_unnamed && command.scripts.is_empty() && !command.assigns
    }

    /// `may_be_empty`: whether the command may be missing, as before a line break.
    fn end_command(&mut self, next: Join, may_be_empty: bool) {
        self.end_word();
        if self.is_empty() {
            self.is_broken |= !may_be_empty;
            return;
        }
        let mut command = core::mem::take(&mut self.command);
        command.join = self.join.replace(next);
        self.commands.push(command);
    }
}

/// The name and the value of `NAME=value`, where no quote comes before the value.
fn assignment(text: &str, quoted_at: Option<usize>) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let bare = name.strip_suffix('+').unwrap_or(name);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_plain = quoted_at.is_none_or(|at| at > name.len());
    let fits = bare.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && bare.chars().all(is_name);
    (is_plain && fits).then_some((bare, value))
}

/// What is between the parenthesis that a text begins with and the one that closes it.
fn parenthesised(text: &str) -> &str {
    let (mut depth, mut quote) = (0_u32, None);
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match (quote, character) {
            (None | Some('"'), '\\') => drop(characters.next()),
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None, '(') => depth += 1,
            (None, ')') if depth == 1 => return &text[1..at],
            (None, ')') => depth -= 1,
            _ => {}
        }
    }
    &text[1..]
}

/// The text of `$'…'`, as far as scripts are hidden in it.
fn unescaped(quoted: &str) -> String {
    let mut text = String::new();
    let mut rest = quoted;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let code = &rest[at + 1..];
        let digits = |from: &str, most: usize, radix: u32| {
            let is_digit = |c: &char| c.is_digit(radix);
            from.chars().take(most).take_while(is_digit).count()
        };
        let (start, length, radix) = match code.chars().next() {
            Some('x') => (1, digits(&code[1..], 2, 16), 16),
            Some('0'..='7') => (0, digits(code, 3, 8), 8),
            _ => (0, 0, 10),
        };
        let number = u32::from_str_radix(&code[start..start + length], radix);
        if let Some(character) = number.ok().and_then(char::from_u32) {
            text.push(character);
            rest = &code[start + length..];
            continue;
        }
        let Some(escaped) = code.chars().next() else {
            return text;
        };
        text.push(match escaped {
            'n' => '\n',
            't' => '\t',
            other => other,
        });
        rest = &code[escaped.len_utf8()..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests;
