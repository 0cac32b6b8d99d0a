//! Texts whose indentation says what belongs together.

use tslp_core::extract::ExtractError;
use tslp_core::slice::Span;

use super::extent::{BodyPlace, Extent};
use super::lex::{Kind, Lexed, NONE};
use super::outline::{Frame, Outline};

/// A logical line: brackets and backslashes join several.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Its first token.
    pub(super) first: usize,
    /// One past its last token.
    pub(super) past: usize,
    /// How far it is indented; a tab reaches to the next multiple of eight.
    pub(super) column: usize,
}

/// All logical lines of a text.
pub(super) fn lines(source: &[u8], lexed: &Lexed) -> Vec<Line> {
    let tokens = &lexed.tokens;
    let mut lines: Vec<Line> = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let joined = at
            .checked_sub(1)
            .is_some_and(|before| tokens[before].is(b'\\'));
        if lines.is_empty() || token.begins_line && !joined {
            lines.push(Line {
                first: at,
                past: at,
                column: column(source, token.start as usize),
            });
        }
        at = match token.mate {
            NONE => at + 1,
            mate => (mate as usize).max(at) + 1,
        };
        if let Some(line) = lines.last_mut() {
            line.past = at;
        }
    }
    lines
}

fn column(source: &[u8], at: usize) -> usize {
    let blanks = source[..at]
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | 0x0c))
        .count();
    source[at - blanks..at]
        .iter()
        .fold(0, |column, byte| match byte {
            b'\t' => column / 8 * 8 + 8,
            0x0c => 0,
            _ => column + 1,
        })
}

/// Places where the indentation makes no sense: deeper without reason, or back to where nothing stands.
pub(super) fn suspects(lexed: &Lexed, lines: &[Line]) -> Vec<u32> {
    let mut suspects = Vec::new();
    let mut columns: Vec<usize> = Vec::new();
    let mut opens = false;
    for line in lines {
        let start = lexed.tokens[line.first].start;
        match columns.last() {
            None => columns.push(line.column),
            Some(last) if line.column > *last => {
                if !opens {
                    suspects.push(start);
                }
                columns.push(line.column);
            }
            Some(_) => {
                if opens {
                    suspects.push(start);
                }
                while columns.last().is_some_and(|last| *last > line.column) {
                    columns.pop();
                }
                if columns.last() != Some(&line.column) {
                    // A fragment may begin deeper than what follows it.
                    if !columns.is_empty() {
                        suspects.push(start);
                    }
                    columns.push(line.column);
                }
            }
        }
        opens = opens_block(lexed, *line);
    }
    suspects
}

/// Whether a text ends where a block should begin.
pub(super) fn lacks_block(lexed: &Lexed, lines: &[Line]) -> bool {
    let Some(last) = lines.last().filter(|line| opens_block(lexed, **line)) else {
        return false;
    };
    let end = lexed.tokens[last.past - 1].end;
    !lexed
        .comments
        .iter()
        .any(|comment| comment.span.start >= end)
}

fn opens_block(lexed: &Lexed, line: Line) -> bool {
    lexed.tokens[line.past - 1].is(b':')
}

/// Lines of three bare dots that stand for code: those that aren't all there is of a block.
pub(super) fn elisions(lexed: &Lexed, lines: &[Line]) -> Vec<Span> {
    let is_dots = |line: &Line| {
        line.past - line.first == 3 && (line.first..line.past).all(|at| lexed.tokens[at].is(b'.'))
    };
    let is_text =
        |line: &Line| line.past - line.first == 1 && lexed.tokens[line.first].kind == Kind::Text;
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| is_dots(line)) {
        let before = lines[..index]
            .iter()
            .rev()
            .find(|before| before.column != line.column || !is_text(before));
        let begins_block = before.is_some_and(|before| before.column < line.column);
        let ends_block = lines
            .get(index + 1)
            .is_none_or(|next| next.column < line.column);
        if !begins_block || !ends_block {
            found.push(Span {
                start: lexed.tokens[line.first].start,
                end: lexed.tokens[line.past - 1].end,
            });
        }
    }
    found
}

impl<'a> Outline<'a> {
    /// Looks for definitions in the lines from `from` to `to`. What `if`, `try` and the like enclose counts as if it
    /// stood outside.
    ///
    /// # Errors
    /// When there are more places to look at than anybody writes.
    pub(super) fn indented(
        &mut self,
        from: usize,
        to: usize,
        frame: &Frame<'a>,
    ) -> Result<(), ExtractError> {
        let Some(base) = self.lines.get(from).map(|line| line.column) else {
            return Ok(());
        };
        let is_top = frame.place == "top";
        let frame = match is_top && base > 0 {
            true => &frame.of_fragment(),
            false => frame,
        };
        let nested = frame.at("nested");
        let mut decorated: Option<Line> = None;
        let mut at = from;
        while at < to.min(self.lines.len()) {
            let line = self.lines[at];
            if self.past_annotations(line.first, line.past) >= line.past {
                let above = decorated.filter(|above| above.column == line.column);
                decorated = Some(above.unwrap_or(line));
                at += 1;
                continue;
            }
            let first = decorated
                .take()
                .filter(|above| above.column == line.column)
                .map_or(line.first, |above| above.first);
            let at_base = line.column == base || !is_top;
            let frame = if at_base { frame } else { &nested };
            let past = self.item(first, line.first, line.past, frame)?;
            at = match past {
                Some(past) => self.lines.partition_point(|line| line.first < past),
                None => at + 1,
            }
            .max(at + 1);
        }
        Ok(())
    }

    /// The extent of a definition whose block is indented below it, or follows on its line.
    pub(super) fn indentation(&self, item: usize, after: usize) -> Option<Extent> {
        let index = self.lines.partition_point(|line| line.first < item);
        let line = *self.lines.get(index).filter(|line| line.first == item)?;
        let mut colon = after;
        while !self.token(colon).filter(|_| colon < line.past)?.is(b':') {
            colon = self.past(colon).unwrap_or(colon + 1);
        }
        let head_end = self.token(colon.checked_sub(1)?)?.end;
        let on_line = colon + 1 < line.past;
        let past_line = match on_line {
            true => index + 1,
            false => self.lines[index + 1..]
                .iter()
                .position(|below| below.column <= line.column)
                .map_or(self.lines.len(), |found| index + 1 + found),
        };
        let past = self.lines[past_line - 1].past;
        let end = self.with_comments(past, line.column);
        Some(Extent {
            head_end,
            body: BodyPlace::Between(self.body_start(colon, past), end),
            past,
            end,
            certain: on_line || past_line > index + 1,
            inside: Some((index + 1, past_line)),
        })
    }

    /// Where the body after a colon begins, its documentation left out.
    fn body_start(&self, colon: usize, past: usize) -> u32 {
        let documented = self
            .token(colon + 1)
            .filter(|token| colon + 1 < past && token.kind == Kind::Text)
            .filter(|_| {
                self.token(colon + 2)
                    .is_none_or(|next| next.begins_line || next.is(b';') || colon + 2 >= past)
            });
        documented.map_or(self.lexed.tokens[colon].end, |text| text.end)
    }

    /// The end of a block's last token, or of the comments that follow and are indented deeper than its head.
    fn with_comments(&self, past: usize, column_of_head: usize) -> u32 {
        let mut end = self.lexed.tokens[past - 1].end;
        let limit = self.token(past).map_or(u32::MAX, |next| next.start);
        let comments = &self.lexed.comments;
        let first = comments.partition_point(|comment| comment.span.start < end);
        for comment in &comments[first..] {
            let start = comment.span.start as usize;
            let same_line = !self.source[end as usize..start.max(end as usize)].contains(&b'\n');
            if comment.span.start >= limit
                || !same_line && column(self.source, start) <= column_of_head
            {
                break;
            }
            end = comment.span.end;
        }
        end
    }
}
