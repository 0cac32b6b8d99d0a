//! Torn texts: if a parser and the layout of lines disagree about the end of a block, layout wins.
//!
//! A stray bracket makes a parser read the rest of a file as part of the function around it, or the function's rest as part of
//! the file. People indent, though: a block ends at the bracket in the column of its first line, in Python before the next line
//! of that column. Such a *block* is torn if no node of the tree covers exactly it and it can't be read by itself. Some indent
//! closing brackets like what they close: a block at whose end something ends that began before it in an outer column isn't torn, if
//! the parser reads that without errors and nothing in that column closes it.
//! The inside of the innermost torn ones is blanked, which counts as an error there, and the text is parsed again.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::language::Language;
use crate::node::offset;
use crate::parse;
use crate::readable::{self, Readable};

/// Most blocks of a text that are parsed by themselves; a text with more suspects isn't code.
const PARSED_MAX: usize = 100;

/// Columns that a tab goes on to a multiple of.
const TAB: usize = 8;

/// The statement that replaces those of a block delimited by indentation alone.
const STAND_IN: &[u8] = b"pass";

/// A block by the layout of lines.
#[derive(Debug)]
struct LayoutBlock {
    /// From its first word to its last bracket.
    span: Range<usize>,
    /// The last line of its head that begins in its column.
    last_line: usize,
    /// The lines between the one that opens it last and the one that closes it.
    inside: Range<usize>,
    /// The bracket that opens it last, if it isn't indentation.
    bracket: Option<usize>,
    /// Whether no line closes that bracket.
    is_open: bool,
}

impl LayoutBlock {
    /// The positions at which a node for this block may begin: the lines above the last one of its head may be another statement.
    fn starts(&self) -> [usize; 2] {
        [self.span.start, self.last_line]
    }
}

/// A block whose end hasn't been reached.
struct BegunBlock {
    column: usize,
    start: usize,
    last_line: usize,
    /// Where the line ends that opened it last, and whether indentation alone says what it holds.
    opened: Option<(usize, bool)>,
    /// Whether a line in it is indented.
    holds_lines: bool,
    /// Whether a bracket in another column may close it.
    may_be_closed: bool,
}

/// A torn block's inside, and the position of the first error in it.
#[derive(Debug)]
pub(crate) struct TornBlock {
    pub(crate) inside: Range<usize>,
    pub(crate) error: u32,
    /// The position of what stands in for the rest, so that the definition still extends to its end: a statement, or the bracket that
    /// is lost.
    stand_in: Option<(usize, &'static [u8])>,
}

/// The innermost torn blocks of a text, in source order.
pub(crate) fn torn_blocks(
    language: &Language,
    source: &[u8],
    text: &[u8],
    tree: &Tree,
) -> Vec<TornBlock> {
    let mut blocks = layout_blocks(source, language.is_indented);
    // A macro in front may be blanked.
    let past_blanks = |start: usize, end: usize| {
        let blanks = text[start..end]
            .iter()
            .take_while(|it| it.is_ascii_whitespace());
        start + blanks.count()
    };
    for block in &mut blocks {
        block.span.start = past_blanks(block.span.start, block.span.end);
        block.last_line = past_blanks(block.last_line, block.span.end);
    }
    let brackets = blocks.iter().filter_map(|it| it.bracket);
    let starts = blocks
        .iter()
        .flat_map(LayoutBlock::starts)
        .chain(brackets)
        .collect();
    let ends = blocks.iter().map(|it| it.span.end).collect();
    let (nodes, sound_to) = nodes_at(tree, text, starts, ends);
    let is_node = |block: &LayoutBlock| {
        let line_end = block.span.end + end_of_line(&text[block.span.end..]);
        let mut ends = block.span.end..=line_end;
        let starts = block.starts();
        ends.any(|end| starts.iter().any(|start| nodes.contains(&(*start, end))))
    };
    let is_pair = |block: &LayoutBlock| {
        let bracket = block.bracket.iter();
        let end = block.span.end;
        bracket.copied().any(|at| nodes.contains(&(at, end)))
    };
    // From the outside inwards.
    let mut closed: HashSet<usize> = HashSet::new();
    blocks.reverse();
    blocks.retain(|block| {
        let start = sound_to.get(&block.span.end);
        let closes = !start.is_some_and(|it| *it < block.span.start && !closed.contains(it));
        closed.extend(block.starts().into_iter().filter(|_| closes));
        closes
    });
    blocks.reverse();
    let in_question = |block: &&LayoutBlock| !is_pair(block) && !is_node(block);
    // Inner blocks come before those around them.
    let mut torn: Vec<TornBlock> = Vec::new();
    let mut parsed = 0;
    for block in blocks.iter().filter(in_question) {
        let holds_torn = torn
            .last()
            .is_some_and(|it| it.inside.start >= block.span.start);
        let is_blank = text[block.inside.clone()].trim_ascii().is_empty();
        if holds_torn || is_blank || parsed >= PARSED_MAX {
            continue;
        }
        parsed += 1;
        let error_from = |start: usize| {
            let tree = parse::parse_bounded(language, &text[start..block.span.end]).ok()?;
            Some(start + first_error(&tree)?)
        };
        if let [Some(_), Some(error)] = block.starts().map(error_from) {
            let stand_in: Option<(usize, &'static [u8])> = match block.bracket.map(|at| text[at]) {
                Some(b'{') if block.is_open => Some((block.inside.end - 1, b"}")),
                Some(b'(') if block.is_open => Some((block.inside.end - 1, b")")),
                Some(b'[') if block.is_open => Some((block.inside.end - 1, b"]")),
                None if language.is_indented => {
                    last_of(STAND_IN.len(), text, &block.inside).map(|at| (at, STAND_IN))
                }
                _ => None,
            };
            let last = stand_in.map_or(block.inside.end - 1, |(at, _)| at);
            debug_assert!(block.inside.start <= last, "the inside isn't empty");
            torn.push(TornBlock {
                error: offset(error.clamp(block.inside.start, last)),
                inside: block.inside.clone(),
                stand_in,
            });
        }
    }
    torn
}

/// Blanks torn blocks; each counts as an error at its position.
pub(crate) fn pass_over(readable: &mut Readable, source: &[u8], torn: &[TornBlock]) {
    readable.changed = Some(with_blanked(readable.text(source), torn));
    readable.suspects.extend(torn.iter().map(|it| it.error));
    readable.suspects.sort_unstable();
    readable.suspects.dedup();
}

/// The text with these stretches blanked; lines stay.
fn with_blanked(text: &[u8], torn: &[TornBlock]) -> Vec<u8> {
    let mut text = text.to_vec();
    for stretch in torn {
        readable::blank(&mut text[stretch.inside.clone()]);
        if let Some((at, stand_in)) = stretch.stand_in {
            text[at..at + stand_in.len()].copy_from_slice(stand_in);
        }
    }
    text
}

/// The blocks of a text by its lines alone, each before those around it.
fn layout_blocks(source: &[u8], is_indented: bool) -> Vec<LayoutBlock> {
    let mut blocks = Vec::new();
    let mut begun: Vec<BegunBlock> = Vec::new();
    let (mut at, mut last_end, mut goes_on) = (0, 0, false);
    for line in source.split_inclusive(|byte| *byte == b'\n') {
        let (line_start, words) = (at, line.trim_ascii());
        at += line.len();
        // Lines of a directive are no lines of the code around it.
        if std::mem::replace(&mut goes_on, words.ends_with(b"\\")) {
            continue;
        }
        let column = line.len() - line.trim_ascii_start().len();
        let opens = opens_block(words, is_indented).map(|by_indent| (at, by_indent));
        match words.first() {
            Some(b'}' | b')' | b']') => {
                begun.retain(|it| it.column <= column);
                // Each bracket closes one.
                let awaits_one =
                    |it: &BegunBlock| matches!(it.opened, Some((_, false))) && !it.may_be_closed;
                let own = begun.last().filter(|it| it.column == column);
                if !own.is_some_and(awaits_one)
                    && let Some(around) = begun.iter_mut().rev().find(|it| awaits_one(it))
                {
                    around.may_be_closed = true;
                }
                if let Some(top) = begun.last_mut().filter(|it| it.column == column)
                    && let Some((opened, false)) = top.opened
                {
                    if opens.is_some() {
                        top.opened = opens;
                    } else {
                        blocks.push(LayoutBlock {
                            span: top.start..line_start + column + 1,
                            last_line: top.last_line,
                            inside: opened..line_start,
                            bracket: source[..opened].trim_ascii_end().len().checked_sub(1),
                            is_open: false,
                        });
                        begun.pop();
                    }
                }
            }
            Some(b'{') => {
                begun.retain(|it| it.column <= column);
                if let Some(top) = begun.last_mut().filter(|it| it.column == column) {
                    top.opened = top.opened.or(opens);
                }
            }
            Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | 0x80..) => {
                let head = begun
                    .last()
                    .filter(|it| it.goes_on(column, &source[..line_start]));
                let start = head.map_or(line_start + column, |head| head.start);
                while let Some(ended) = begun.pop_if(|it| it.column >= column) {
                    blocks.extend(ended.by_indent(source, last_end));
                }
                if let Some(around) = begun.last_mut() {
                    around.holds_lines = true;
                }
                begun.push(BegunBlock {
                    column,
                    start,
                    last_line: line_start + column,
                    opened: opens,
                    holds_lines: false,
                    may_be_closed: false,
                });
            }
            // Comments, directives, marks of a merge: nothing ends or begins there.
            _ => {}
        }
        if !words.is_empty() {
            last_end = line_start + column + words.len();
        }
    }
    while let Some(ended) = begun.pop() {
        blocks.extend(ended.by_indent(source, last_end));
    }
    blocks
}

impl BegunBlock {
    /// Whether what has begun goes on in the next line, as a head over several lines does. So much stands before that line.
    fn goes_on(&self, column: usize, before: &[u8]) -> bool {
        let line = before.trim_ascii_end();
        let is_next = before[line.len()..]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            == 1;
        self.column == column && self.opened.is_none() && is_next && !line.ends_with(b";")
    }

    /// The block that ends where lines are indented less: by that alone, or because its closing bracket is lost.
    fn by_indent(self, source: &[u8], end: usize) -> Option<LayoutBlock> {
        let (opened, by_indent) = self.opened?;
        let bracket = source[..opened].trim_ascii_end().len().checked_sub(1);
        // The members of a namespace aren't indented.
        let is_block = opened < end && (by_indent || self.holds_lines && !self.may_be_closed);
        is_block.then_some(LayoutBlock {
            span: self.start..end,
            last_line: self.last_line,
            inside: opened..end,
            bracket: bracket.filter(|_| !by_indent),
            is_open: !by_indent,
        })
    }
}

/// Whether a line opens a block, and whether indentation alone says what it holds.
fn opens_block(words: &[u8], is_indented: bool) -> Option<bool> {
    match words.last()? {
        b'{' | b'(' | b'[' => Some(false),
        b':' if is_indented => Some(true),
        _ => None,
    }
}

/// The first word of the last line of a stretch that has as many bytes.
fn last_of(bytes: usize, text: &[u8], stretch: &Range<usize>) -> Option<usize> {
    let (mut at, mut found) = (stretch.start, None);
    for line in text[stretch.clone()].split_inclusive(|byte| *byte == b'\n') {
        if line.trim_ascii().len() >= bytes && line[0].is_ascii_whitespace() {
            found = Some(at + line.len() - line.trim_ascii_start().len());
        }
        at += line.len();
    }
    found
}

fn end_of_line(text: &[u8]) -> usize {
    text.iter().take_while(|byte| **byte != b'\n').count()
}

/// The ranges of the nodes that begin at one of these positions, and where the largest node without errors begins that ends at
/// one of those, in a column before its last bracket's.
fn nodes_at(
    tree: &Tree,
    text: &[u8],
    starts: HashSet<usize>,
    ends: HashSet<usize>,
) -> (HashSet<(usize, usize)>, HashMap<usize, usize>) {
    let column = |at: usize| {
        let line = text[..at].iter().rposition(|byte| *byte == b'\n');
        let line = &text[line.map_or(0, |end| end + 1)..at];
        line.iter().fold(0, |column, byte| match byte {
            b'\t' => (column / TAB + 1) * TAB,
            _ => column + 1,
        })
    };
    let (mut found, mut sound_to) = (HashSet::new(), HashMap::new());
    visit_nodes(tree, |node| {
        let (start, end) = (node.start_byte(), node.end_byte());
        if !node.is_error() && starts.contains(&start) {
            found.insert((start, end));
        }
        // Outer nodes come before inner ones.
        if start + 1 < end
            && !node.has_error()
            && ends.contains(&end)
            && column(start) < column(end - 1)
        {
            sound_to.entry(end).or_insert(start);
        }
        true
    });
    (found, sound_to)
}

fn first_error(tree: &Tree) -> Option<usize> {
    let mut first = None;
    visit_nodes(tree, |node| {
        if first.is_none() && (node.is_error() || node.is_missing()) {
            first = Some(node.start_byte());
        }
        first.is_none() && node.has_error()
    });
    first
}

/// Calls `visit` for nodes in source order, and descends into those for which it returns true.
fn visit_nodes<'tree>(tree: &'tree Tree, mut visit: impl FnMut(Node<'tree>) -> bool) {
    let mut cursor = tree.walk();
    loop {
        if visit(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}
