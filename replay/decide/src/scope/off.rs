//! What a model is sent without the files that the user turned off, whoever brings them (docs/scope.md).
//!
//! A text is a file's by the path that goes with it: that of the call whose result it is, of its block, or in front of a line. What
//! has no path is the file's by its lines.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::ops::Range;

use memchr::memmem;
use tslp_projections::state::StateView;

use crate::prompt::sight::{ShownText, TextSlot};
use crate::scope::place::{self, Standpoint};
use tslp_core::capture::{self, json_text, vocabulary};
use tslp_core::delimiter::{STATE_CLOSE, STATE_OPEN};
use tslp_core::guardian::{self, CallPart};
use tslp_core::hash::ArtifactHash;
use tslp_core::message::Role;
use tslp_core::passages::{Passages, Suspicion};
use tslp_core::path::RelPath;
use tslp_core::request::Request;
use tslp_core::scope::OffRules;

/// What stands in a file's place.
pub const WITHHELD: &str = "withheld: off by the user";

/// Longest text of a call's argument that is a path or a command, and no file's content.
const COMMAND_BYTES_MAX: usize = 200;

/// Longest string beside a path in JSON that is no content of the file.
const NAME_BYTES_MAX: usize = 24;

/// Lines at the head of a part of a client's that may name its file.
const HEAD_LINES: usize = 3;

/// What is known of the files that are off.
#[derive(Default)]
pub struct OffKnowledge {
    rules: OffRules,
    passages: Passages,
    /// Texts that show nothing of them: clients send all of a conversation again with each prompt. Affects only speed.
    clean: RefCell<BTreeSet<(ArtifactHash, Suspicion, bool)>>,
}

/// Texts in the cache.
const CLEAN_TEXTS: usize = 16_384;

impl OffKnowledge {
    /// Nothing yet, by these rules.
    #[must_use]
    pub fn by_rules(rules: OffRules) -> Self {
        Self {
            rules,
            ..Self::default()
        }
    }

    /// By which rules it was gathered.
    #[must_use]
    pub const fn rules(&self) -> &OffRules {
        &self.rules
    }

    /// Takes in files' texts, each with whether it is code. What one has that isn't off says nothing of those before it.
    pub fn learn(&mut self, files: impl IntoIterator<Item = (RelPath, String, bool)>) {
        for (path, text, is_code) in files {
            match self.rules.is_off(path.as_str()) {
                true => {
                    self.passages.add(&path, &text, is_code);
                    self.clean.get_mut().clear();
                }
                false => self.passages.spare(&text),
            }
        }
    }
}

/// A part of a text, and the file that it is of.
type FilePart = (Range<usize>, RelPath);

/// What goes out otherwise than it came.
#[derive(Debug, Default)]
pub(crate) struct OffTexts {
    /// The texts that change, with what they say instead.
    pub(crate) rewritten: BTreeMap<(usize, TextSlot), String>,
    /// The files that they showed.
    pub(crate) files: BTreeSet<RelPath>,
}

/// The rules by which files are off, and what is known of those files.
pub(crate) struct OffFilter<'v> {
    off: &'v OffRules,
    view: &'v StateView<'v>,
    at: Standpoint<'v>,
    known: &'v OffKnowledge,
    /// Files of the conversation that are shown all the same.
    locked: Vec<RelPath>,
    /// A text that names no file by one of these names none that is off.
    literals: Vec<&'v str>,
}

impl<'v> OffFilter<'v> {
    /// The filter; `None` if nothing is off.
    pub(crate) fn of(
        view: &'v StateView<'v>,
        at: Standpoint<'v>,
        known: &'v OffKnowledge,
    ) -> Option<Self> {
        let scope = view.state.scope();
        let names = scope.off().patterns().chain(scope.off().aliases());
        let literals: Vec<&str> = names.map(longest_literal).collect();
        let is_any_off = scope.off().patterns().next().is_some();
        (is_any_off && !literals.is_empty()).then_some(Self {
            off: scope.off(),
            view,
            at,
            known,
            locked: scope.locked(at.session),
            literals,
        })
    }

    /// What changes of a request's texts. `before` are changes that were made for another reason.
    pub(crate) fn filter(
        &self,
        request: &Request,
        texts: &[ShownText<'_>],
        before: &BTreeMap<(usize, TextSlot), String>,
    ) -> OffTexts {
        let calls = self.off_calls(request);
        let mut off = OffTexts::default();
        for shown in texts {
            let place = (shown.message, shown.slot);
            let text = before.get(&place).map_or(shown.text, String::as_str);
            let message = &request.messages[shown.message];
            let call = calls.get(&place);
            let named = call.and_then(|call| call.off.as_ref());
            let new = match (shown.slot, named) {
                (TextSlot::Before | TextSlot::After, _) => {
                    self.without_own_code(text, &mut off.files)
                }
                (TextSlot::Arguments(_), Some(path)) => {
                    let new = without_contents(text);
                    off.files.extend(new.is_some().then(|| path.clone()));
                    new
                }
                (_, Some(path)) => {
                    off.files.insert(path.clone());
                    Some(String::from(WITHHELD))
                }
                (_, None) => {
                    let suspicion = match message.role {
                        Role::User => Suspicion::Typed,
                        _ => call.map_or(Suspicion::Any, Named::suspicion),
                    };
                    let mut clean = self.known.clean.borrow_mut();
                    let key = (shown.hash, suspicion, message.role == Role::Other);
                    if !before.contains_key(&place) && clean.contains(&key) {
                        continue;
                    }
                    let new = self.without_parts(message.role, suspicion, text, &mut off.files);
                    // While a file is locked it is shown.
                    if new.is_none() && self.locked.is_empty() {
                        if clean.len() >= CLEAN_TEXTS {
                            clean.clear();
                        }
                        clean.insert(key);
                    }
                    new
                }
            };
            if let Some(new) = new {
                off.rewritten.insert(place, new);
            }
        }
        off
    }

    /// A text of the proxy's own, or of messages that it puts together.
    pub(crate) fn filter_text(&self, text: &str, files: &mut BTreeSet<RelPath>) -> Option<String> {
        self.without_parts(Role::Other, Suspicion::Any, text, files)
    }

    /// The texts of calls that name files, and of their results.
    fn off_calls(&self, request: &Request) -> BTreeMap<(usize, TextSlot), Named> {
        let mut found = BTreeMap::new();
        // The calls of the last message that made any, with their ids.
        let mut open: Vec<(&str, Named)> = Vec::new();
        let mut answered = 0;
        for (index, message) in request.messages.iter().enumerate() {
            if !message.tool_calls.is_empty() {
                if message.role == Role::Assistant {
                    (open, answered) = (Vec::new(), 0);
                }
                for (at, call) in message.tool_calls.iter().enumerate() {
                    let mut named = self.named_in(&capture::short_strings(&call.arguments));
                    if prints_no_content(&call.name, &call.arguments) {
                        named = Named::of_names(named);
                    }
                    found.insert((index, TextSlot::Arguments(at)), named.clone());
                    open.push((&call.id, named));
                }
            }
            if message.role == Role::Tool {
                let by_id = open
                    .iter()
                    .find(|(id, _)| !id.is_empty() && *id == message.answers);
                let call = by_id.or(open.get(answered).filter(|_| message.answers.is_empty()));
                answered += 1;
                if let Some((_, named)) = call {
                    for part in 0..message.parts.len() {
                        found.insert((index, TextSlot::Part(part)), named.clone());
                    }
                }
            }
        }
        found
    }

    /// Which files a call names by its arguments. What follows `cd` or stands beside a working folder is relative to it.
    fn named_in(&self, arguments: &[String]) -> Named {
        let words = || {
            arguments
                .iter()
                .flat_map(|it| it.split(ends_word))
                .filter(|it| !it.is_empty())
        };
        let pairs = words().zip(words().skip(1));
        let after_cd = pairs.filter_map(|(word, next)| (word == "cd").then_some(next));
        let whole = arguments.iter().map(String::as_str);
        let whole = whole.filter(|it| !it.contains(char::is_whitespace));
        let folders: Vec<&str> = after_cd.chain(whole).collect();
        let mut named = Named::default();
        for word in words() {
            if word.contains(['*', '?']) {
                named.may_mean |= self.known.passages.is_any_meant(word);
                continue;
            }
            let Some(path) = self.path_of(word) else {
                continue;
            };
            named.names_other |= word.contains(['.', '/']) && !self.is_off(&path);
            named.off = named.off.or_else(|| self.off_path(path));
        }
        if named.off.is_none() && arguments.iter().any(|it| self.may_name(it)) {
            let joined = words()
                .flat_map(|word| folders.iter().map(move |folder| format!("{folder}/{word}")));
            named.off = joined
                .filter_map(|path| self.off_path(self.path_of(&path)?))
                .next();
        }
        named
    }

    /// A text without what it shows of the files.
    fn without_parts(
        &self,
        speaker: Role,
        suspicion: Suspicion,
        text: &str,
        files: &mut BTreeSet<RelPath>,
    ) -> Option<String> {
        let may_name = self.may_name(text);
        if !may_name && self.known.passages.is_empty() {
            return None;
        }
        // In JSON a path is followed by what there is to say of the file.
        let mut last_path = None;
        json_text::change_strings(text, &mut |string| {
            if may_name && string.len() < text.len() {
                let path = self
                    .path_of(string)
                    .filter(|_| !string.contains(char::is_whitespace));
                let is_path = path.is_some() && string.contains(['.', '/']);
                match last_path
                    .as_ref()
                    .filter(|_| !is_path && string.len() > NAME_BYTES_MAX)
                {
                    Some(path) => {
                        files.insert(RelPath::clone(path));
                        return Some(String::from(WITHHELD));
                    }
                    None if is_path => last_path = path.filter(|path| self.is_off(path)),
                    None => {}
                }
            }
            let mut found = Vec::new();
            if may_name {
                self.find_blocks(string, &mut found);
                match speaker {
                    Role::User | Role::Other => {
                        self.find_foreign_parts(speaker, string, &mut found)
                    }
                    _ => self.find_lines(string, 0, &mut found),
                }
            }
            self.find_passages(string, suspicion, &mut found);
            without_found(string, found, files)
        })
    }

    /// Code blocks that say that they are of such a file.
    fn find_blocks(&self, text: &str, found: &mut Vec<FilePart>) {
        for block in capture::blocks(text) {
            let path = block.path.as_deref().and_then(|path| self.path_of(path));
            if let Some(path) = path.filter(|path| self.is_off(path)) {
                found.push((block.verbatim.unwrap_or(block.outer), path));
            }
        }
    }

    /// Parts of a message that a client put into it, with the path at their head; what is nobody's words is one as a whole.
    fn find_foreign_parts(&self, speaker: Role, text: &str, found: &mut Vec<FilePart>) {
        let mut parts: Vec<Range<usize>> = Vec::new();
        match speaker {
            Role::User => parts.extend(capture::foreign_parts(text).into_iter().map(|it| it.range)),
            _ => parts.push(0..text.len()),
        }
        for part in parts {
            let inside = &text[part.clone()];
            let head = inside
                .lines()
                .take(HEAD_LINES)
                .flat_map(|line| line.split(ends_word));
            let mut paths = head.filter_map(|word| self.path_of(word));
            if let Some(path) = paths.find(|path| self.is_off(path)) {
                let first = inside.find('\n').map_or(part.end, |at| part.start + at + 1);
                found.push((first..part.end, path));
            } else {
                self.find_lines(inside, part.start, found);
            }
        }
    }

    /// Lines with such a path in front, and all below a heading with the path: to the next heading of a file, or of a file's numbered
    /// lines where the path stands alone. The text begins at `from`.
    fn find_lines(&self, text: &str, from: usize, found: &mut Vec<FilePart>) {
        let (mut below, mut is_numbered) = (None, false);
        let mut start = from;
        for line in text.split_inclusive('\n') {
            let range = start..start + line.len();
            start = range.end;
            let said = line.trim();
            let word = said.split(char::is_whitespace).next().unwrap_or_default();
            if let Some(rest) = HEADINGS.iter().find_map(|mark| said.strip_prefix(mark)) {
                let path = rest.split_whitespace().next().unwrap_or_default();
                let path = path
                    .strip_prefix("a/")
                    .or(path.strip_prefix("b/"))
                    .unwrap_or(path);
                (below, is_numbered) = (self.path_of(path).filter(|path| self.is_off(path)), false);
                continue;
            }
            let goes_on = !is_numbered
                || said.starts_with(|c: char| c.is_ascii_digit())
                || said.starts_with("Line ");
            below = below.filter(|_| goes_on);
            // `path:12:code`, `path-12-code`, `path:code`.
            let in_front = word
                .split_once(':')
                .map(|(path, _)| path)
                .or_else(|| dashed(word));
            let is_alone = word.len() == said.len()
                && in_front.is_none_or(|path| path.len() + 1 == word.len());
            let named = self
                .path_of(in_front.unwrap_or(word))
                .filter(|path| self.is_off(path));
            match (&below, named) {
                (Some(path), _) => found.push((range, RelPath::clone(path))),
                (None, Some(path)) if is_alone => (below, is_numbered) = (Some(path), true),
                (None, Some(path)) if in_front.is_some() => found.push((range, path)),
                (None, _) => {}
            }
        }
    }

    /// What shows a part of such a file wherever it stands.
    fn find_passages(&self, text: &str, suspicion: Suspicion, found: &mut Vec<FilePart>) {
        let passages = self.known.passages.shown_in(text, suspicion).into_iter();
        let passages = passages.filter(|(_, path)| !self.locked.contains(path));
        found.extend(passages.map(|(range, path)| (range, path.clone())));
    }

    /// What the proxy added before, without its blocks of such files. Of its notices only what shows code: else they hold names alone.
    fn without_own_code(&self, text: &str, files: &mut BTreeSet<RelPath>) -> Option<String> {
        let blocks = text.match_indices(STATE_OPEN).filter_map(|(start, _)| {
            let block = &text[start..];
            let (_, entity) = block.split_once("\nEntity: ")?;
            let path = self.path_of(entity.split([':', '\n']).next()?)?;
            let end = block.find(STATE_CLOSE)? + STATE_CLOSE.len();
            self.is_off(&path).then_some((start..start + end, path))
        });
        let mut found = blocks.collect();
        self.find_passages(text, Suspicion::Any, &mut found);
        without_found(text, found, files)
    }

    fn may_name(&self, text: &str) -> bool {
        let mut literals = self.literals.iter();
        literals.any(|literal| memmem::find(text.as_bytes(), literal.as_bytes()).is_some())
    }

    fn path_of(&self, written: &str) -> Option<RelPath> {
        let written = written
            .trim_end_matches(['/', '.', ',', ':', ';'])
            .trim_start_matches('@');
        place::spelled(self.view, self.at, written).ok()
    }

    fn is_off(&self, path: &RelPath) -> bool {
        self.off.is_off(path.as_str()) && !self.locked.contains(path)
    }

    /// The path if it is off, or is a folder all of whose files are.
    fn off_path(&self, path: RelPath) -> Option<RelPath> {
        let inside = format!("{path}/_");
        (self.is_off(&path) || self.off.is_off(&inside)).then_some(path)
    }
}

/// What a tool of tslp's own has printed, without what it shows of files that are off; `None` if it shows nothing of them.
#[must_use]
pub fn output_without_off(
    view: &StateView<'_>,
    (at, known): (Standpoint<'_>, &OffKnowledge),
    command: &str,
    output: &str,
) -> Option<String> {
    let filter = OffFilter::of(view, at, known)?;
    let mut named = filter.named_in(&[String::from(command)]);
    if is_of_names(command) {
        named = Named::of_names(named);
    }
    if named.off.is_some() {
        return Some(String::from(WITHHELD));
    }
    filter.without_parts(Role::Tool, named.suspicion(), output, &mut BTreeSet::new())
}

/// Which files a call names.
#[derive(Clone, Debug, Default)]
struct Named {
    /// One that is off.
    off: Option<RelPath>,
    /// Whether it names another one.
    names_other: bool,
    /// Whether a pattern in it means one that is off.
    may_mean: bool,
}

impl Named {
    /// Of a call that prints no content: what it prints is looked through.
    fn of_names(self) -> Self {
        Self {
            may_mean: self.may_mean || self.off.is_some(),
            off: None,
            ..self
        }
    }

    fn suspicion(&self) -> Suspicion {
        match (self.may_mean, self.names_other) {
            (true, _) => Suspicion::Meant,
            (false, true) => Suspicion::Foreign,
            (false, false) => Suspicion::Any,
        }
    }
}

/// Programs that print names and figures of files and nothing that is in them.
const NAMES_ALONE: [&str; 12] = [
    "ls", "wc", "stat", "du", "tree", "cd", "pwd", "test", "mkdir", "touch", "chmod", "rm",
];

/// Whether a call, by its tool or its command line, prints nothing that is in files.
fn prints_no_content(tool: &str, arguments: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    if vocabulary::LISTING_TOOLS.contains(&&*tool) {
        return true;
    }
    let parts = guardian::call_parts(&tool, arguments);
    let mut commands = parts
        .iter()
        .filter(|(part, _)| *part == CallPart::Shell)
        .peekable();
    commands.peek().is_some() && commands.all(|(_, line)| is_of_names(line))
}

fn is_of_names(line: &str) -> bool {
    let commands = guardian::split(line);
    commands.is_ok_and(|it| it.iter().all(|it| NAMES_ALONE.contains(&it.program_name())))
}

/// How tools announce a file's lines.
const HEADINGS: [&str; 8] = [
    "diff --git ",
    "+++ ",
    "--- ",
    "==> ",
    "*** Update File: ",
    "*** Add File: ",
    "*** Delete File: ",
    "*** End Patch",
];

/// The path in `path-12-code`, as grep prints the lines around a match.
fn dashed(word: &str) -> Option<&str> {
    let mut dashes = word.match_indices('-').map(|(at, _)| at);
    dashes.find_map(|at| {
        let rest = word[at + 1..].trim_start_matches(|c: char| c.is_ascii_digit());
        let has_number = rest.len() < word.len() - at - 1;
        (has_number && rest.starts_with('-')).then(|| &word[..at])
    })
}

/// The longest piece of a pattern that each path has that it means.
fn longest_literal(pattern: &str) -> &str {
    let pieces = pattern.split(['*', '?', '/']);
    pieces.max_by_key(|piece| piece.len()).unwrap_or_default()
}

fn ends_word(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '\'' | '"' | '`' | '(' | ')' | '<' | '>' | ';' | '|' | '&' | ',' | '=' | ':'
        )
}

/// A call's arguments without the longer texts in them.
fn without_contents(arguments: &str) -> Option<String> {
    json_text::change_strings(arguments, &mut |string| {
        let is_content = string.contains('\n') || string.len() > COMMAND_BYTES_MAX;
        is_content.then(|| String::from(WITHHELD))
    })
}

/// A text with a word in the place of each part; `None` without parts.
fn without_found(
    text: &str,
    mut found: Vec<FilePart>,
    files: &mut BTreeSet<RelPath>,
) -> Option<String> {
    files.extend(found.iter().map(|(_, path)| path.clone()));
    found.sort_by_key(|(range, _)| range.start);
    let mut out = String::new();
    let (mut copied, mut said_at) = (0, None);
    for (range, _) in &found {
        let start = range.start.max(copied);
        if range.end <= copied {
            continue;
        }
        let between = &text[copied..start];
        out.push_str(between);
        if !between.trim().is_empty() || said_at.is_none() {
            out.push_str("[withheld: off by the user]");
            if text[..range.end].ends_with('\n') {
                out.push('\n');
            }
        }
        said_at = Some(out.len());
        copied = range.end;
    }
    out.push_str(&text[copied..]);
    (!found.is_empty()).then_some(out)
}
