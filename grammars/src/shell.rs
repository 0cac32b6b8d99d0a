//! Splits a command line into commands, if that needs no shell: words, quotes, `&&`, `||`, `;` and `|`.
//!
//! The parser separates words from operators; every unquoted byte must be a plain one as well, so that nothing depends on how
//! well the grammar knows bash.

use std::ops::Range;

use tree_sitter::Node;
use tslp_core::guardian::{COMMANDS_MAX, Join, LINE_BYTES_MAX, SimpleCommand, SplitError};

use crate::parse::parse_line;

/// Words with a meaning to a shell in place of a program's name; so have jobs, which begin with `%`.
const KEYWORDS: &[&str] = &[
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while",
];

/// The commands of a line, in order.
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
    let pieces = read_pieces(line).map_err(|reason| first_special(line).unwrap_or(reason))?;
    group_commands(line, pieces)
}

fn read_pieces(line: &str) -> Result<Vec<ShellPiece>, SplitError> {
    let tree = parse_line(&tree_sitter_bash::LANGUAGE.into(), line)?;
    let mut pieces = Vec::new();
    collect_pieces(tree.root_node(), line, &mut pieces)?;
    // The first special character explains a parse error better than the parser does.
    if tree.root_node().has_error() {
        return Err(SplitError::Syntax);
    }
    Ok(pieces)
}

/// A word's part, or an operator.
struct ShellPiece {
    span: Range<usize>,
    /// The operator, or the part without its quotes.
    is: PieceKind,
}

enum PieceKind {
    Operator(Join),
    Plain,
    Quoted(String),
}

fn collect_pieces(
    node: Node<'_>,
    line: &str,
    pieces: &mut Vec<ShellPiece>,
) -> Result<(), SplitError> {
    let span = node.byte_range();
    let text = line.get(span.clone()).ok_or(SplitError::Syntax)?;
    let is = match node.kind() {
        "word" | "number" => SplitError::of_word(text).map_or(Ok(PieceKind::Plain), Err)?,
        "raw_string" => {
            let inner = text.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
            PieceKind::Quoted(inner.ok_or(SplitError::Syntax)?.to_owned())
        }
        "string" => {
            let inner = text.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
            PieceKind::Quoted(unescaped(inner.ok_or(SplitError::Syntax)?)?)
        }
        "program" | "list" | "pipeline" | "command" | "command_name" | "concatenation" => {
            let mut cursor = node.walk();
            let mut children = node.children(&mut cursor);
            return children.try_for_each(|child| collect_pieces(child, line, pieces));
        }
        "variable_assignment" | "variable_assignments" => return Err(SplitError::Assignment),
        "ERROR" => return Err(SplitError::Syntax),
        statement if statement.ends_with("_statement") => return Err(SplitError::Keyword),
        operator => PieceKind::Operator(Join::of_operator(operator).ok_or(SplitError::Construct)?),
    };
    pieces.push(ShellPiece { span, is });
    Ok(())
}

/// The content of double quotes: a backslash escapes the five characters that have a meaning there, and is literal otherwise.
fn unescaped(inner: &str) -> Result<String, SplitError> {
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '$' | '`' => return Err(SplitError::Substitution),
            '"' => return Err(SplitError::Syntax),
            '\\' => match characters.next() {
                Some(protected @ ('$' | '`' | '"' | '\\')) => text.push(protected),
                Some('\n') => return Err(SplitError::LineBreak),
                Some(other) => text.extend(['\\', other]),
                None => return Err(SplitError::Syntax),
            },
            other => text.push(other),
        }
    }
    Ok(text)
}

/// The first character outside of quotes that isn't plain.
fn first_special(line: &str) -> Option<SplitError> {
    let mut quote = None;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some('"'), '\\') => drop(characters.next()),
            (Some('"'), '$' | '`') => return Some(SplitError::Substitution),
            (Some(open), _) if open == character => quote = None,
            (None, ' ' | '\t' | ';' | '|') => {}
            (None, '&') if characters.next_if_eq(&'&').is_some() => {}
            (None, other) => {
                if let Some(reason) = SplitError::of_unquoted(other) {
                    return Some(reason);
                }
            }
            (Some(_), _) => {}
        }
    }
    None
}

fn group_commands(line: &str, pieces: Vec<ShellPiece>) -> Result<Vec<SimpleCommand>, SplitError> {
    let mut commands: Vec<SimpleCommand> = Vec::new();
    let mut join = Some(Join::First);
    let mut end = 0;
    for ShellPiece { span, is } in pieces {
        let gap = line.get(end..span.start).ok_or(SplitError::Syntax)?;
        if let Some(other) = gap.chars().find(|c| !matches!(c, ' ' | '\t')) {
            return Err(SplitError::of_unquoted(other).unwrap_or(SplitError::Syntax));
        }
        let goes_on = gap.is_empty() && end > 0;
        let text = match is {
            PieceKind::Operator(operator) => {
                // An operator with nothing in front of it.
                if join.is_some() {
                    return Err(SplitError::Syntax);
                }
                join = Some(operator);
                end = span.end;
                continue;
            }
            PieceKind::Plain => line[span.clone()].to_owned(),
            PieceKind::Quoted(text) => text,
        };
        match (join.take(), commands.last_mut()) {
            (Some(join), _) => commands.push(SimpleCommand {
                join,
                words: vec![text],
                span: span.clone(),
            }),
            (None, Some(command)) => {
                command.span.end = span.end;
                match command.words.last_mut().filter(|_| goes_on) {
                    Some(word) => word.push_str(&text),
                    None => command.words.push(text),
                }
            }
            (None, None) => return Err(SplitError::Syntax),
        }
        end = span.end;
    }
    match join {
        None | Some(Join::Then) if end == line.len() => {}
        _ if line.is_empty() => return Err(SplitError::Empty),
        _ => return Err(SplitError::Syntax),
    }
    if commands.len() > COMMANDS_MAX {
        return Err(SplitError::TooMany);
    }
    commands
        .iter()
        .try_for_each(|command| check_program_name(line, command))?;
    Ok(commands)
}

/// Whether a command's first word names a program, and nothing of the shell's own.
fn check_program_name(line: &str, command: &SimpleCommand) -> Result<(), SplitError> {
    let written = &line[command.span.clone()];
    let name = written
        .split_once([' ', '\t'])
        .map_or(written, |(name, _)| name);
    let variable = name.split_once('=').map(|(variable, _)| variable);
    let is_name = |text: &str| {
        let mut bytes = text.trim_end_matches('+').bytes();
        bytes
            .next()
            .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
            && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    if variable.is_some_and(is_name) {
        Err(SplitError::Assignment)
    } else if KEYWORDS.contains(&name) || command.program_name().starts_with('%') {
        Err(SplitError::Keyword)
    } else if command.program_name().is_empty() {
        Err(SplitError::NoProgram)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
