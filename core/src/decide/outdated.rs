//! Code in older messages that isn't true any more: superseded, removed, or contradicted by disk (spec §15.6).
//!
//! It is told by its structure: a block goes if anything that it defines is, in canonical form, a version that is no
//! longer authoritative, or one whose entity is STALE.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use super::found_code::{self, Reading};
use super::{compose, receive};
use crate::capture::{self, Block};
use crate::edit::{Edit, Hunk};
use crate::entity::{EntityId, Symbol};
use crate::event::History;
use crate::extract::LanguageId;
use crate::hash::{ArtifactHash, SliceHash};
use crate::ids::SessionId;
use crate::limits::{
    NAMESAKES_COMPARED_MAX, OLDER_CODE_BYTES_MAX, OLDER_DEFINITIONS_KEPT,
    OLDER_FILES_LOOKED_AT_MAX, WORDS_LOOKED_UP_MAX,
};
use crate::message::{Message, Request, Role, ToolCall};
use crate::path::RelPath;
use crate::reason::Reason;
use crate::slice;
use crate::view::{Exchange, Former};

/// What a text defines: each symbol with the hash of its canonical form.
type Definitions = Arc<Vec<(Symbol, SliceHash)>>;

/// What older messages' code defines, as far as it was read lately: clients send their whole history with each prompt.
#[derive(Debug, Default)]
pub struct ReadCode(RefCell<Generations>);

#[derive(Debug, Default)]
struct Generations {
    young: BTreeMap<(ArtifactHash, LanguageId), Definitions>,
    old: BTreeMap<(ArtifactHash, LanguageId), Definitions>,
    weight: usize,
}

impl ReadCode {
    fn get(&self, key: (ArtifactHash, LanguageId)) -> Option<Definitions> {
        let mut generations = self.0.borrow_mut();
        if let Some(known) = generations.young.get(&key) {
            return Some(Arc::clone(known));
        }
        let known = generations.old.remove(&key)?;
        generations.put(key, &known);
        Some(known)
    }

    fn put(&self, key: (ArtifactHash, LanguageId), definitions: &Definitions) {
        self.0.borrow_mut().put(key, definitions);
    }
}

impl Generations {
    fn put(&mut self, key: (ArtifactHash, LanguageId), definitions: &Definitions) {
        if self.weight > OLDER_DEFINITIONS_KEPT {
            self.old = core::mem::take(&mut self.young);
            self.weight = 0;
        }
        self.weight += 1 + definitions.len();
        self.young.insert(key, Arc::clone(definitions));
    }
}

/// Takes out of older messages what isn't true any more.
pub struct Outdated<'r> {
    reading: Reading<'r>,
    known: &'r ReadCode,
    /// Bytes that may still be parsed for this prompt.
    left: Cell<usize>,
}

/// Some code of an older message.
#[derive(Clone, Copy)]
struct Code<'t> {
    text: &'t str,
    path: Option<&'t RelPath>,
    tag: Option<&'t str>,
}

/// What is known of definitions in canonical form.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It is authoritative, and disk doesn't contradict it.
    True,
    /// It was authoritative once, or disk contradicts it.
    Outdated,
    /// It never was.
    Unknown,
}

impl<'r> Outdated<'r> {
    /// Judges by the state as `reading` sees it.
    #[must_use]
    pub const fn new(reading: Reading<'r>, known: &'r ReadCode) -> Self {
        Self {
            reading,
            known,
            left: Cell::new(OLDER_CODE_BYTES_MAX),
        }
    }

    /// The text with a marker in the place of each block that is outdated; `None` if there is none.
    #[must_use]
    pub fn withheld(&self, text: &str) -> Option<String> {
        self.without(text, |block| self.is_outdated(block))
    }

    fn without(&self, text: &str, goes: impl Fn(&Block<'_>) -> bool) -> Option<String> {
        let mut out = String::new();
        let mut copied = 0;
        for block in capture::blocks(text) {
            if !goes(&block) {
                continue;
            }
            out.push_str(&text[copied..block.outer.start]);
            out.push_str(&marker(block.path.as_deref()));
            out.push('\n');
            copied = block.outer.end;
        }
        if copied == 0 {
            return None;
        }
        out.push_str(&text[copied..]);
        Some(out)
    }

    /// The same for a tool's result, which may be a file's bare text; `call` is what asked for it. What it was asked to read
    /// of a file that nothing is known of is that file's, and a diff that it returns says what has changed.
    #[must_use]
    pub fn withheld_result(&self, text: &str, call: Option<&ToolCall>) -> Option<String> {
        let written = call.and_then(|call| capture::path_of_call(&call.arguments));
        let named = written.as_deref().map(|path| self.usable(path));
        if matches!(named, Some(Err(Reason::PathEscapesWorkspace))) {
            return None;
        }
        let path = named.and_then(Result::ok);
        let unnumbered = capture::unnumbered(text);
        let code = Code {
            text: &unnumbered,
            path: path.as_ref(),
            tag: None,
        };
        if path
            .as_ref()
            .is_some_and(|path| self.holds_it_alone(path, &code))
        {
            return None;
        }
        if self.is_code_outdated(&code) {
            return Some(marker(written.as_deref()));
        }
        let in_json = capture::with_other_strings(text, &mut |text| {
            self.is_code_outdated(&Code { text, ..code })
                .then(|| marker(written.as_deref()))
        });
        let is_outdated = |block: &Block<'_>| block.edit.is_none() && self.is_outdated(block);
        in_json.or_else(|| self.without(text, is_outdated))
    }

    /// Whether a file has its text for itself: nothing true stands in it, and this was never true there.
    fn holds_it_alone(&self, path: &RelPath, code: &Code<'_>) -> bool {
        let view = self.reading.view;
        if view.tracks(path) {
            return false;
        }
        let artifact = ArtifactHash::of(code.text.as_bytes());
        let definitions = self.definitions(code, artifact);
        let slices = definitions.iter().map(|(_, slice)| *slice);
        let was_here =
            |slice| matches!(view.former(slice), Former::Of(entity) if entity.path == *path);
        !slices
            .chain([slice::hash_of_whole(code.text.as_bytes())])
            .any(was_here)
    }

    /// A tool call's arguments with a marker in the place of the texts that hold what is outdated; `None` if none does.
    #[must_use]
    pub fn withheld_arguments(&self, call: &ToolCall) -> Option<String> {
        let written = capture::path_of_call(&call.arguments);
        let path = self.path(written.as_deref());
        let blocks = capture::tool_call(&call.name, &call.arguments);
        let is_outdated = blocks.iter().any(|block| self.is_outdated(block));
        capture::with_other_texts(&call.arguments, &mut |text| {
            let code = Code {
                text,
                path: path.as_ref(),
                tag: None,
            };
            (is_outdated || self.is_code_outdated(&code)).then(|| marker(written.as_deref()))
        })
    }

    /// Adds the files that the text's code may be true of, as far as there is room: what disk holds of them decides
    /// whether it is.
    pub fn add_files(&self, text: &str, files: &mut BTreeSet<RelPath>) {
        for block in capture::blocks(text) {
            let path = self.path(block.path.as_deref());
            self.add_files_of(&block.code, path, block.language.as_deref(), files);
        }
    }

    /// The same for a tool's result; `call` is what asked for it.
    pub fn add_files_of_result(
        &self,
        text: &str,
        call: Option<&ToolCall>,
        files: &mut BTreeSet<RelPath>,
    ) {
        let path = self.path_of_call(call);
        self.add_files_of(&capture::unnumbered(text), path, None, files);
        self.add_files(text, files);
    }

    /// The same for a call's arguments.
    pub fn add_files_of_call(&self, call: &ToolCall, files: &mut BTreeSet<RelPath>) {
        if let Some(path) = self.path_of_call(Some(call)) {
            self.add_files_of("", Some(path), None, files);
        }
    }

    fn path_of_call(&self, call: Option<&ToolCall>) -> Option<RelPath> {
        let written = capture::path_of_call(&call?.arguments);
        self.path(written.as_deref())
    }

    fn add_files_of(
        &self,
        text: &str,
        path: Option<RelPath>,
        tag: Option<&str>,
        files: &mut BTreeSet<RelPath>,
    ) {
        let view = self.reading.view;
        let mut add = |path: RelPath| {
            if files.len() < OLDER_FILES_LOOKED_AT_MAX {
                files.insert(path);
            }
        };
        if let Some(path) = path.filter(|path| view.tracks(path)) {
            add(path);
            return;
        }
        let path = None;
        let code = Code { text, path, tag };
        let definitions = self.definitions(&code, ArtifactHash::of(text.as_bytes()));
        for (symbol, slice) in definitions.iter() {
            view.entities_named(symbol.last_component(), NAMESAKES_COMPARED_MAX)
                .into_iter()
                .filter(|entity| self.slice(entity) == Some(*slice))
                .for_each(|entity| add(entity.path));
        }
    }

    fn is_outdated(&self, block: &Block<'_>) -> bool {
        let path = self.path(block.path.as_deref());
        let code = |text| Code {
            text,
            path: path.as_ref(),
            tag: block.language.as_deref(),
        };
        let Some(edit) = &block.edit else {
            return self.is_code_outdated(&code(&block.code));
        };
        let artifact = ArtifactHash::of(block.code.as_bytes());
        self.reading.view.artifact_is_current(artifact) == Some(false)
            || edit.iter().flat_map(texts_of).any(|text| {
                let artifact = ArtifactHash::of(text.as_bytes());
                let code = code(text);
                self.all(&code, &self.definitions(&code, artifact)) == Standing::Outdated
            })
    }

    fn path(&self, written: Option<&str>) -> Option<RelPath> {
        self.usable(written?).ok()
    }

    fn usable(&self, written: &str) -> Result<RelPath, Reason> {
        found_code::usable_path(self.reading.view, self.reading.root, written)
    }

    fn is_code_outdated(&self, code: &Code<'_>) -> bool {
        if code.text.trim().is_empty() {
            return false;
        }
        let artifact = ArtifactHash::of(code.text.as_bytes());
        let definitions = self.definitions(code, artifact);
        let all = self.all(code, &definitions);
        // Bytes may be true in one place and no longer in another.
        match (all, self.reading.view.artifact_is_current(artifact)) {
            (Standing::Outdated, _) | (Standing::Unknown, Some(false)) => return true,
            (_, Some(true)) => return false,
            _ => {}
        }
        let bytes = code.text.as_bytes();
        let as_slice = slice::hash_of_slice(bytes);
        let is_definition = definitions.iter().any(|(_, slice)| *slice == as_slice);
        !is_definition && self.was_whole(code.path, slice::hash_of_whole(bytes))
    }

    /// How definitions stand together: none makes nothing true.
    fn all(&self, code: &Code<'_>, definitions: &[(Symbol, SliceHash)]) -> Standing {
        let mut all = match definitions {
            [] => Standing::Unknown,
            _ => Standing::True,
        };
        for (symbol, slice) in definitions {
            match self.standing(code.path, symbol, *slice) {
                Standing::True => {}
                Standing::Unknown => all = Standing::Unknown,
                Standing::Outdated => return Standing::Outdated,
            }
        }
        all
    }

    /// How a definition stands. What is true in another file stays, unless the file that the code names has left it
    /// behind.
    fn standing(&self, path: Option<&RelPath>, symbol: &Symbol, slice: SliceHash) -> Standing {
        let view = self.reading.view;
        let own = path.map(|path| EntityId::symbol(path.clone(), symbol.clone()));
        let here = own.as_ref().and_then(|own| self.slice(own));
        if let Some(own) = own.filter(|_| here == Some(slice)) {
            return self.standing_of_true(&own);
        }
        let namesakes = view.entities_named(symbol.last_component(), NAMESAKES_COMPARED_MAX);
        let mut elsewhere = namesakes
            .iter()
            .filter(|entity| self.slice(entity) == Some(slice))
            .map(|entity| self.standing_of_true(entity))
            .peekable();
        let is_true = elsewhere.peek().is_some();
        if elsewhere.any(|standing| standing == Standing::Outdated) {
            return Standing::Outdated;
        }
        if is_true && path.is_none() {
            return Standing::True;
        }
        match view.former(slice) {
            Former::Never => Standing::Unknown,
            Former::Of(entity) if is_true && here.is_none() && path != Some(&entity.path) => {
                Standing::Unknown
            }
            Former::Of(_) | Former::Unreadable => Standing::Outdated,
        }
    }

    fn standing_of_true(&self, entity: &EntityId) -> Standing {
        match self.reading.view.divergence(entity) {
            None => Standing::True,
            Some(_) => Standing::Outdated,
        }
    }

    /// Whether the text as a whole was true once and is no longer, or is true and STALE.
    fn was_whole(&self, path: Option<&RelPath>, whole: SliceHash) -> bool {
        let view = self.reading.view;
        let own = path.map(|path| EntityId::file(path.clone()));
        if let Some(own) = own.filter(|own| self.slice(own) == Some(whole)) {
            return view.divergence(&own).is_some();
        }
        match view.former(whole) {
            Former::Never => false,
            Former::Unreadable => true,
            Former::Of(entity) => {
                self.slice(&entity) != Some(whole) || view.divergence(&entity).is_some()
            }
        }
    }

    fn slice(&self, entity: &EntityId) -> Option<SliceHash> {
        Some(self.reading.view.current(entity)?.slice)
    }

    fn definitions(&self, code: &Code<'_>, artifact: ArtifactHash) -> Definitions {
        let Some(language) = self.language(code) else {
            return Definitions::default();
        };
        let key = (artifact, language);
        if let Some(known) = self.known.get(key) {
            return known;
        }
        let Some(left) = self.left.get().checked_sub(code.text.len()) else {
            return Definitions::default();
        };
        self.left.set(left);
        let bytes = code.text.as_bytes();
        let extraction = self.reading.grammars.extract(language, bytes).ok();
        let slices = extraction.iter().flat_map(|found| found.slices(bytes));
        let definitions = Definitions::new(
            slices
                .map(|(symbol, slice)| (symbol.clone(), slice))
                .collect(),
        );
        self.known.put(key, &definitions);
        definitions
    }

    /// The language by the file, by the fence, or by what is known under the first name in it that is.
    fn language(&self, code: &Code<'_>) -> Option<LanguageId> {
        let grammars = self.reading.grammars;
        let by_path = code.path.and_then(|path| grammars.language_of_path(path));
        let by_tag = || grammars.language_of_tag(code.tag?);
        by_path.or_else(by_tag).or_else(|| {
            words(code.text).take(WORDS_LOOKED_UP_MAX).find_map(|word| {
                let known = self.reading.view.entities_named(word, 1).pop()?;
                grammars.language_of_path(&known.path)
            })
        })
    }
}

/// The files that code in older messages may be true of; disk decides whether it is, so it is asked first.
#[must_use]
pub fn files(
    outdated: &Outdated<'_>,
    (request, session): (&Request, SessionId),
    history: History,
) -> BTreeSet<RelPath> {
    let view = outdated.reading.view;
    let mut files = BTreeSet::new();
    let messages = &request.messages;
    match history {
        History::Client => {
            let examples = capture::examples(messages);
            for index in (examples..request.current_from()).rev() {
                add_files_of_message(outdated, messages, index, &mut files);
            }
        }
        History::Window => {
            for Exchange { user, assistant } in view.recent(session).iter().rev() {
                outdated.add_files(&compose::recent_text(view, assistant), &mut files);
                outdated.add_files(&compose::recent_text(view, user), &mut files);
            }
        }
    }
    outdated.add_files(&receive::system_text(request), &mut files);
    files
}

fn add_files_of_message(
    outdated: &Outdated<'_>,
    messages: &[Message],
    index: usize,
    files: &mut BTreeSet<RelPath>,
) {
    let message = &messages[index];
    for part in &message.parts {
        match message.role {
            Role::System => {}
            Role::Tool => {
                outdated.add_files_of_result(part, compose::call_of(messages, index), files)
            }
            _ => outdated.add_files(part, files),
        }
    }
    for call in &message.tool_calls {
        outdated.add_files_of_call(call, files);
    }
}

/// The pieces of code that an edit is written with.
fn texts_of(edit: &Edit) -> Vec<&str> {
    let hunks = match edit {
        Edit::Create(text) => return Vec::from([text.as_str()]),
        Edit::Delete => return Vec::new(),
        Edit::Change(hunks) | Edit::Move { hunks, .. } => hunks,
    };
    let texts = hunks.iter().flat_map(|hunk| match hunk {
        Hunk::Replace { old, new, .. } => [Some(old.as_str()), Some(new.as_str())],
        Hunk::Insert { text, .. } | Hunk::Append(text) => [Some(text.as_str()), None],
    });
    texts.flatten().collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.filter(|word| !word.is_empty())
}

fn marker(path: Option<&str>) -> String {
    let name = path.unwrap_or("this file");
    format!("(code of {name} withheld: it is no longer current)")
}
