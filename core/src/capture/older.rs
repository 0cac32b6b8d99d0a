//! Goes through what an older message says and has each piece of code in it judged: blocks, and what else shows code, such
//! as here-documents, terminals' output and quotes. What a judge takes out is replaced in its place, all else stays byte
//! for byte.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::block_quote;
use super::json_text::{self, NoJson};
use super::line::{line_at, lines_from};
use super::quoted::unnumbered;
use super::terminal::{self, Headings, Of};
use super::tool_call::{self, Held, PATH};
use super::{Block, shell};
use crate::message::ToolCall;

mod source;

use source::{Shell, Source};

/// A piece of code.
pub struct Piece<'p> {
    /// The code; of a block, its own.
    pub code: &'p str,
    /// The block that it is, if it is one.
    pub block: Option<&'p Block<'p>>,
    /// The path that it is said to be of, as it was written.
    pub path: Option<&'p str>,
    /// Whose word the path is.
    pub by: By,
    /// Other files that may stand in it.
    pub named: &'p [String],
    /// Whether it is lines that were searched for, so nothing whole but what stands whole in them.
    pub is_search: bool,
}

/// Who says what file a piece is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A tool that was asked to write the file.
    Writer,
    /// A script that writes it: a relative path may be of any folder.
    Script,
    /// A tool that was asked to read the file.
    Reader,
    /// A tool that was asked to search there.
    Search,
    /// What a terminal showed: a relative path may be of any folder.
    Terminal,
}

/// What becomes of a piece.
pub enum Verdict {
    /// It goes.
    Goes(Gone),
    /// It stays as it is.
    Stays,
    /// It stays, but for what goes of the pieces in it.
    Open,
}

/// What takes the place of a piece, or of its beginning.
pub struct Gone {
    /// How many of the piece's bytes what goes reaches to.
    pub reach: usize,
    /// What stands there instead.
    pub marker: String,
}

/// Says what becomes of a piece.
pub type Judge<'j> = dyn FnMut(&Piece<'_>) -> Verdict + 'j;

/// JSON in JSON in JSON, a quote in a quote in a quote: what is nested deeper isn't looked into.
const NESTED_MAX: u32 = 3;

/// What somebody says, without the pieces that go; `None` if all stay.
pub fn talk(text: &str, judge: &mut Judge<'_>) -> Option<String> {
    let mut walk = Walk { judge, depth: 0 };
    applied(text, walk.talk(text, Flow::Talk))
}

/// The same for a tool's result, which may be a file's bare text; `call` is what asked for it.
pub fn result(text: &str, call: Option<&ToolCall>, judge: &mut Judge<'_>) -> Option<String> {
    let asked = call.and_then(|call| tool_call::asked(&call.arguments));
    let source = asked.map_or_else(Source::default, Source::of);
    let mut walk = Walk { judge, depth: 0 };
    applied(text, walk.result(text, &source))
}

/// The same for a call's arguments. If `goes` has a marker, all texts in them go that hold code.
pub fn arguments(call: &ToolCall, goes: Option<&str>, judge: &mut Judge<'_>) -> Option<String> {
    let path = tool_call::path_of_call(&call.arguments);
    tool_call::with_other_texts(&call.arguments, &mut |held, text| match (held, goes) {
        (Held::Code, Some(marker)) => Some(marker.to_string()),
        (Held::Code, None) => {
            let piece = Piece {
                code: text,
                block: None,
                path: path.as_deref(),
                by: By::Writer,
                named: &[],
                is_search: false,
            };
            match judge(&piece) {
                Verdict::Goes(gone) => Some(gone.marker),
                Verdict::Stays | Verdict::Open => None,
            }
        }
        (Held::Command, _) => {
            let mut walk = Walk { judge, depth: 0 };
            applied(text, walk.cuts(shell::here_documents(text)))
        }
    })
}

/// A part of a text and what takes its place.
type Cut = (Range<usize>, String);

fn applied(text: &str, cuts: Vec<Cut>) -> Option<String> {
    if cuts.is_empty() {
        return None;
    }
    let mut out = String::new();
    let mut copied = 0;
    for (range, instead) in cuts {
        debug_assert!(range.start >= copied, "pieces don't overlap");
        out.push_str(text.get(copied..range.start).unwrap_or_default());
        out.push_str(&instead);
        copied = copied.max(range.end);
    }
    out.push_str(&text[copied..]);
    Some(out)
}

fn shifted(cuts: Vec<Cut>, by: usize) -> impl Iterator<Item = Cut> {
    cuts.into_iter()
        .map(move |(range, instead)| (range.start + by..range.end + by, instead))
}

/// What a message is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// Somebody's words.
    Talk,
    /// A tool's result, whose edits say what has changed.
    Result,
}

struct Walk<'w, 'j> {
    judge: &'w mut Judge<'j>,
    depth: u32,
}

impl Walk<'_, '_> {
    fn code(&mut self, code: &str, source: &Source) -> Verdict {
        if code.trim().is_empty() {
            return Verdict::Stays;
        }
        (self.judge)(&Piece {
            code,
            block: None,
            path: source.path.as_deref(),
            by: source.by,
            named: &source.named,
            is_search: source.is_search,
        })
    }

    /// Blocks and what stands between them.
    fn talk(&mut self, text: &str, flow: Flow) -> Vec<Cut> {
        let mut cuts = Vec::new();
        let mut at = 0;
        for block in super::blocks(text) {
            cuts.extend(self.between(text, at..block.outer.start.max(at), flow));
            cuts.extend(self.block(text, &block, flow));
            at = block.outer.end;
        }
        cuts.extend(self.between(text, at..text.len(), flow));
        cuts
    }

    fn block(&mut self, text: &str, block: &Block<'_>, flow: Flow) -> Vec<Cut> {
        if flow == Flow::Result && block.edit.is_some() {
            return Vec::new();
        }
        let shell = Shell::of(block);
        let script = block.verbatim.clone().filter(|_| shell.is_some());
        if let (Some(shell), Some(script)) = (shell, script)
            && let Some(cuts) = self.shell(&text[script.clone()], shell)
        {
            return shifted(cuts, script.start).collect();
        }
        let verdict = (self.judge)(&Piece {
            code: &block.code,
            block: Some(block),
            path: block.path.as_deref(),
            by: By::Writer,
            named: &[],
            is_search: false,
        });
        match verdict {
            Verdict::Goes(gone) => [(block.outer.clone(), gone.marker + "\n")].into(),
            Verdict::Stays => Vec::new(),
            Verdict::Open => shell.map_or_else(Vec::new, |shell| self.in_fence(block, shell)),
        }
    }

    /// What a fence holds that says of itself what it is; `None` if it doesn't.
    fn shell(&mut self, text: &str, shell: Shell) -> Option<Vec<Cut>> {
        let cuts = self.parts(text, Headings::Sure, &Source::default());
        if cuts.is_some() || shell == Shell::Unsaid {
            return cuts;
        }
        let documents = shell::here_documents(text);
        (!documents.is_empty()).then(|| self.cuts(documents))
    }

    /// The here-documents in a fence that doesn't say that it is a script, or is indented.
    fn in_fence(&mut self, block: &Block<'_>, shell: Shell) -> Vec<Cut> {
        let Some(script) = &block.verbatim else {
            // A part of it can't be replaced.
            let cuts = self.shell(&block.code, shell).unwrap_or_default();
            let first = cuts.into_iter().next();
            return first
                .map(|(_, marker)| (block.outer.clone(), marker))
                .into_iter()
                .collect();
        };
        let documents = shell::bare_here_documents(&block.code, 0..block.code.len());
        let documents = documents.into_iter().map(|(_, document)| document);
        shifted(self.cuts(documents), script.start).collect()
    }

    fn cuts<'t>(
        &mut self,
        documents: impl IntoIterator<Item = shell::HereDocument<'t>>,
    ) -> Vec<Cut> {
        let documents = documents.into_iter();
        documents
            .filter_map(|document| self.here_document(document))
            .collect()
    }

    fn here_document(&mut self, document: shell::HereDocument<'_>) -> Option<Cut> {
        let source = Source {
            path: document.path,
            by: By::Script,
            named: Vec::new(),
            is_search: false,
        };
        match self.code(&document.code, &source) {
            Verdict::Goes(gone) => Some((document.body, gone.marker + "\n")),
            Verdict::Stays | Verdict::Open => None,
        }
    }

    /// What stands outside of blocks: quotes that hold some, and what a terminal showed.
    fn between(&mut self, text: &str, range: Range<usize>, flow: Flow) -> Vec<Cut> {
        let mut cuts = Vec::new();
        let mut at = range.start;
        for quote in block_quote::quotes(text, range.clone()) {
            cuts.extend(self.showed(text, at..quote.lines.start, flow));
            cuts.extend(self.quote(&quote, flow));
            at = quote.lines.end;
        }
        cuts.extend(self.showed(text, at..range.end, flow));
        cuts
    }

    fn showed(&mut self, text: &str, range: Range<usize>, flow: Flow) -> Vec<Cut> {
        // A result was told apart before.
        if flow == Flow::Result {
            return Vec::new();
        }
        let mut cuts = Vec::new();
        let mut at = range.start;
        for (start, document) in shell::bare_here_documents(text, range.clone()) {
            let before = at..start.max(at);
            cuts.extend(shifted(
                self.parts_of_talk(&text[before.clone()]),
                before.start,
            ));
            at = document.body.end;
            cuts.extend(self.here_document(document));
        }
        cuts.extend(shifted(self.parts_of_talk(&text[at..range.end]), at));
        cuts
    }

    fn parts_of_talk(&mut self, text: &str) -> Vec<Cut> {
        self.parts(text, Headings::Sure, &Source::default())
            .unwrap_or_default()
    }

    fn quote(&mut self, quote: &block_quote::Quote<'_>, flow: Flow) -> Vec<Cut> {
        let said = self.deeper(|walk| walk.talk(&quote.said, flow));
        let mut behind = quote.lines.start;
        let places = said.into_iter().map(|(range, marker)| {
            let (lines, front) = quote.place(&range);
            let lines = lines.start.max(behind)..lines.end.max(behind);
            behind = lines.end;
            (lines, format!("{front}{marker}"))
        });
        places.collect()
    }

    fn deeper(&mut self, look: impl FnOnce(&mut Self) -> Vec<Cut>) -> Vec<Cut> {
        if self.depth == NESTED_MAX {
            return Vec::new();
        }
        self.depth += 1;
        let cuts = look(self);
        self.depth -= 1;
        cuts
    }

    /// A tool's result, or a text in one.
    fn result(&mut self, text: &str, source: &Source) -> Vec<Cut> {
        if source.by != By::Reader
            && let Ok(cuts) = self.json(text, source)
        {
            return cuts;
        }
        let code = unnumbered(text);
        if let Cow::Borrowed(_) = code
            && !source.is_file()
            && let Some(cuts) = self.parts(text, Headings::Any, source)
        {
            return cuts;
        }
        match self.code(&code, source) {
            Verdict::Goes(gone) => return [(0..text.len(), gone.marker)].into(),
            Verdict::Stays => return Vec::new(),
            Verdict::Open => {}
        }
        self.json(text, source)
            .unwrap_or_else(|NoJson| self.talk(text, Flow::Result))
    }

    /// The strings of a JSON text, or of each line of one that has such lines alone.
    fn json(&mut self, text: &str, source: &Source) -> Result<Vec<Cut>, NoJson> {
        if !json_text::begins(text) {
            return Err(NoJson);
        }
        if let Ok(new) = self.strings(text, source) {
            return Ok(new.map(|new| (0..text.len(), new)).into_iter().collect());
        }
        let mut cuts = Vec::new();
        for (at, line) in lines_from(text, 0).filter(|(_, line)| !line.trim().is_empty()) {
            let new = self.strings(line, source)?;
            cuts.extend(new.map(|new| (at..at + line.len(), new)));
        }
        Ok(cuts)
    }

    fn strings(&mut self, json: &str, source: &Source) -> Result<Option<String>, NoJson> {
        json_text::with_others(json, &PATH, &mut |text| {
            // A word alone defines nothing.
            if !text.said.contains([' ', '\t', '\n', '=']) {
                return None;
            }
            let own = text.path.filter(|_| source.by != By::Reader);
            let own = own.map(|path| Source::shown(path.to_string()));
            let source = own.as_ref().unwrap_or(source);
            let cuts = self.deeper(|walk| walk.result(text.said, source));
            applied(text.said, cuts)
        })
    }

    /// The parts of an output; `None` if nothing tells them from each other.
    fn parts(&mut self, text: &str, headings: Headings, source: &Source) -> Option<Vec<Cut>> {
        let parts = terminal::parts(text, headings);
        if parts.is_empty() {
            return None;
        }
        let mut cuts = Vec::new();
        for part in parts {
            if headings == Headings::Sure && part.of == Of::Unsaid {
                continue;
            }
            let source = Source {
                is_search: part.is_search,
                ..source.of_part(part.of)
            };
            let code = unnumbered(&part.code);
            let is_verbatim = matches!((&part.code, &code), (Cow::Borrowed(_), Cow::Borrowed(_)));
            let gone = match self.code(&code, &source) {
                Verdict::Goes(gone) => gone,
                Verdict::Stays => continue,
                Verdict::Open => {
                    if is_verbatim && headings == Headings::Any {
                        let inside = self.talk(&part.code, Flow::Result);
                        cuts.extend(shifted(inside, part.lines.start));
                    }
                    continue;
                }
            };
            let end = match headings {
                // What follows the code may be the writer's own words again.
                Headings::Sure if is_verbatim => {
                    let last = (part.lines.start + gone.reach).saturating_sub(1);
                    line_at(text, last).end.min(part.lines.end)
                }
                _ => part.lines.end,
            };
            // What stands between lines that were searched for goes with them.
            while cuts
                .pop_if(|(cut, _): &mut Cut| cut.start >= part.lines.start)
                .is_some()
            {}
            cuts.push((part.lines.start..end, gone.marker + "\n"));
        }
        Some(cuts)
    }
}

#[cfg(test)]
mod tests;
