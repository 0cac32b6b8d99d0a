//! A command line split into commands, where every shell would split it the same way.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::stored::{Archive, Load, Store, stored_words};

/// Longest command line that is looked at; people and models write a few hundred bytes.
pub const LINE_BYTES_MAX: usize = 8 << 10;

/// Most commands in one line.
pub const COMMANDS_MAX: usize = 32;

stored_words! {
    /// How a command goes on from the one before it.
    Join, "join of commands" {
        /// It is the first one.
        First = "first",
        /// `&&`: if that one succeeded.
        And = "&&",
        /// `||`: if that one failed.
        Or = "||",
        /// `;`: in any case.
        Then = ";",
        /// `|`: it reads what that one prints.
        Pipe = "|",
    }
}

/// One program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct SimpleCommand {
    /// How it goes on from the one before.
    pub join: Join,
    /// Its words without their quotes; the first names the program.
    pub words: Vec<String>,
}

impl SimpleCommand {
    /// The word that names the program.
    #[must_use]
    pub fn program_name(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}

/// Why a line can't be split into commands without a shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SplitError {
    /// Nothing is to be run.
    #[error("there is no command")]
    Empty,
    /// More than [`LINE_BYTES_MAX`].
    #[error("the line is longer than {LINE_BYTES_MAX} bytes")]
    TooLong,
    /// More than [`COMMANDS_MAX`].
    #[error("the line has more than {COMMANDS_MAX} commands")]
    TooMany,
    /// More than one line.
    #[error("a line break; one line at a time, joined by && or ;")]
    LineBreak,
    /// A control character.
    #[error("a control character")]
    Control,
    /// A letter outside of ASCII that isn't quoted, which may look like an operator or a space.
    #[error("a character outside of ASCII without quotes")]
    NotAscii,
    /// `$` or a backtick: variables, arithmetic, command substitution.
    #[error("a substitution ($ or `); in single quotes it is plain text")]
    Substitution,
    /// `<` or `>`.
    #[error("a redirection (< or >); output and errors are both returned anyway")]
    Redirection,
    /// A lone `&`.
    #[error("a background job (&)")]
    Background,
    /// Parentheses.
    #[error("a subshell or function (parentheses)")]
    Subshell,
    /// `*`, `?`, `[` or `]`.
    #[error("a file name pattern (* ? [ ]); quote it, or name the files")]
    Glob,
    /// Braces.
    #[error("braces")]
    Brace,
    /// `~`.
    #[error("a home folder (~)")]
    Tilde,
    /// A backslash that isn't in quotes.
    #[error("a backslash without quotes")]
    Escape,
    /// `#` or `!`.
    #[error("a comment or negation (# !)")]
    Mark,
    /// `NAME=value` in front of a program.
    #[error("a variable assignment")]
    Assignment,
    /// `if`, `for`, `time` and the like in a program's place.
    #[error("a word of the shell's own")]
    Keyword,
    /// A program without a name.
    #[error("an empty program name")]
    NoProgram,
    /// A quote that isn't closed, an operator with nothing after it.
    #[error("broken syntax")]
    Syntax,
    /// Anything else that isn't a word, a quote or one of the four operators.
    #[error("more than words, quotes, &&, ||, ; and |")]
    Construct,
}

impl SplitError {
    /// What a character outside of quotes means to a shell, unless it is a plain one.
    pub(super) const fn of_unquoted(character: char) -> Option<Self> {
        Some(match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' => return None,
            '_' | '@' | '%' | '+' | '=' | ':' | ',' | '.' | '/' | '-' | '^' => return None,
            '\n' | '\r' => Self::LineBreak,
            '$' | '`' => Self::Substitution,
            '<' | '>' => Self::Redirection,
            '&' => Self::Background,
            '(' | ')' => Self::Subshell,
            '*' | '?' | '[' | ']' => Self::Glob,
            '{' | '}' => Self::Brace,
            '~' => Self::Tilde,
            '\\' => Self::Escape,
            '#' | '!' => Self::Mark,
            '\0'..=' ' | '\x7f' => Self::Control,
            '\u{80}'.. => Self::NotAscii,
            _ => Self::Construct,
        })
    }
}
