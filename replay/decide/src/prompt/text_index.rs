//! What was learnt of texts that prompts carry again and again, so that each text is read once.
//!
//! Nothing here is state: every answer depends on bytes alone, so an index that has forgotten gives the same answers, later.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
use tslp_projections::state::StateView;

use crate::prompt::said_texts::SaidTexts;
use crate::prompt::text_facts::TextFacts;
use tslp_core::capture::json_text;
use tslp_core::entity::EntityId;
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::Seq;
use tslp_core::known_lines::{KnownLines, TextLines, WordSet};
use tslp_core::limits::{INDEX_DEFINITIONS, INDEX_LINES_BYTES, INDEX_TEXTS_BYTES};
use tslp_core::name_hash::{NameHash, name_hash};
use tslp_core::recent_map::RecentMap;
use tslp_core::slice::Span;

/// One definition of a known version: bytes of the Vault.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Definition {
    /// The captured bytes that hold it.
    pub artifact: ArtifactHash,
    /// Where it is in them.
    pub span: Span,
    /// The identifier by which texts are searched for it ([`tslp_core::known_lines::identifier_in`]).
    pub word: Arc<str>,
}

/// Where a text shows a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownDefinition {
    /// Which definition, as an index into those that were searched for.
    pub definition: usize,
    /// Which of the strings in the text, where the text is JSON.
    pub string: usize,
    /// The line with the definition's name. All definitions that a line shows stand for one piece of the text.
    pub line: usize,
    /// From the end of the first line's gutter to the end of the last line.
    pub bytes: Range<usize>,
    /// How many of its lines are there.
    pub line_count: usize,
}

/// What was learnt of texts and definitions.
pub struct TextIndex {
    root: Box<str>,
    texts: RecentMap<ArtifactHash, IndexedText>,
    /// Whether each definition has lines to search for, and one alone.
    shapes: RecentMap<Definition, Option<Shape>>,
    lines: RecentMap<Definition, Arc<KnownLines>>,
    /// The texts that messages are compared with.
    pub(crate) said: SaidTexts,
    /// What words stand for, and since when nothing has changed that.
    words: (Seq, RecentMap<NameHash, Arc<KnownWord>>),
}

struct IndexedText {
    facts: Arc<TextFacts>,
    /// Its words that may stand for outdated code, and since when nothing has changed that.
    outdated: Option<(Seq, Arc<[NameHash]>)>,
    /// What searches for a name have found, by the name's hash.
    searches: BTreeMap<NameHash, Search>,
}

/// The last search of a text for the definitions of one word.
struct Search {
    wanted: ArtifactHash,
    found: Box<[ShownDefinition]>,
}

/// What is known of a definition without its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Whether it is a single line, which may stand in a text by chance.
    pub is_one_line: bool,
    /// Over its characters but whitespace.
    pub visible: u64,
}

/// A version of a symbol that texts are searched for.
#[derive(Clone, Debug)]
pub struct KnownVersion {
    /// The symbol.
    pub entity: EntityId,
    /// What it is or was.
    pub slice: SliceHash,
    /// Its definitions; several where the symbol has several.
    pub definitions: Arc<[Shape]>,
}

/// All that a word of the texts may stand for.
pub struct KnownWord {
    /// Symbols that were to be searched for, although nothing else may have been true of them.
    pub symbols: BTreeSet<EntityId>,
    /// What is searched for.
    pub wanted: WantedWord,
    /// The versions of the symbols with this word.
    pub versions: Vec<KnownVersion>,
    /// Of each definition that is searched for, its version and which of its definitions it is.
    pub places: Vec<(usize, usize)>,
}

/// A word that texts are searched for, and the definitions that have it in their names.
pub struct WantedWord {
    word: Arc<str>,
    definitions: Vec<Definition>,
    /// Over all definitions in order.
    digest: ArtifactHash,
}

impl WantedWord {
    /// Searches for these definitions, which all have the word.
    #[must_use]
    pub fn new(word: Arc<str>, definitions: Vec<Definition>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for Definition { artifact, span, .. } in &definitions {
            hasher.update(&artifact.0);
            hasher.update(&span.start.to_le_bytes());
            hasher.update(&span.end.to_le_bytes());
        }
        Self {
            digest: ArtifactHash(*hasher.finalize().as_bytes()),
            word,
            definitions,
        }
    }

    /// Whether there is nothing to search for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.definitions.is_empty()
    }
}

impl KnownWord {
    /// Of these versions, each with its definitions, which all have the word.
    #[must_use]
    pub fn new(
        symbols: BTreeSet<EntityId>,
        word: Arc<str>,
        versions: Vec<(KnownVersion, Vec<Definition>)>,
    ) -> Self {
        let numbered = versions.iter().enumerate();
        let places = numbered.flat_map(|(version, (_, definitions))| {
            (0..definitions.len()).map(move |definition| (version, definition))
        });
        let places = places.collect();
        let (versions, definitions): (_, Vec<Vec<Definition>>) = versions.into_iter().unzip();
        Self {
            symbols,
            wanted: WantedWord::new(word, definitions.concat()),
            versions,
            places,
        }
    }
}

impl TextIndex {
    /// Knows nothing yet. `root` is the workspace's absolute path.
    #[must_use]
    pub fn new(root: &str) -> Self {
        Self {
            root: root.into(),
            texts: RecentMap::of_bytes(INDEX_TEXTS_BYTES),
            shapes: RecentMap::new(INDEX_DEFINITIONS),
            lines: RecentMap::of_bytes(INDEX_LINES_BYTES),
            said: SaidTexts::default(),
            words: (Seq(0), RecentMap::new(INDEX_DEFINITIONS)),
        }
    }

    /// What a text names.
    pub fn facts(&mut self, hash: ArtifactHash, text: &str) -> Arc<TextFacts> {
        Arc::clone(&self.text(hash, text).facts)
    }

    /// What a text names, and its words that may be names of outdated code, sorted.
    pub fn words(
        &mut self,
        view: &StateView<'_>,
        hash: ArtifactHash,
        text: &str,
    ) -> (Arc<TextFacts>, Arc<[NameHash]>) {
        let changed = view.code_last_changed();
        let indexed = self.text(hash, text);
        let facts = Arc::clone(&indexed.facts);
        if let Some((since, words)) = &indexed.outdated
            && *since == changed
        {
            return (facts, Arc::clone(words));
        }
        let words = indexed.facts.identifiers();
        let words: Arc<[NameHash]> = words.filter(|word| view.may_be_outdated(*word)).collect();
        let before = indexed.outdated.replace((changed, Arc::clone(&words)));
        // What takes the place of as much makes the text no heavier.
        let before = before.map_or(0, |(_, words)| words.len());
        let more = words.len().saturating_sub(before) * size_of::<NameHash>();
        self.texts.add_weight(&hash, more);
        (facts, words)
    }

    /// What a word means where these symbols, too, are searched for by it. `make` says it, if it isn't known.
    pub fn known_word(
        &mut self,
        view: &StateView<'_>,
        word: NameHash,
        symbols: &BTreeSet<EntityId>,
        make: impl FnOnce(&mut Self) -> KnownWord,
    ) -> Arc<KnownWord> {
        let changed = view.code_last_changed();
        if self.words.0 != changed {
            self.words = (changed, RecentMap::new(INDEX_DEFINITIONS));
        }
        if let Some(known) = self.words.1.get(&word)
            && known.symbols == *symbols
        {
            return Arc::clone(known);
        }
        let known = Arc::new(make(self));
        let weight = 1 + known.places.len();
        self.words.1.insert(word, Arc::clone(&known), weight);
        known
    }

    fn text(&mut self, hash: ArtifactHash, text: &str) -> &mut IndexedText {
        let root = &self.root;
        self.texts.get_or_insert_with(&hash, || {
            let facts = TextFacts::of(text, root);
            let weight = size_of::<TextFacts>() + facts.weight();
            let indexed = IndexedText {
                facts: Arc::new(facts),
                outdated: None,
                searches: BTreeMap::new(),
            };
            (indexed, weight)
        })
    }

    /// The shape of a definition; `None` if the Vault doesn't give it, or no line of it has its name.
    pub fn shape(&mut self, view: &StateView<'_>, definition: &Definition) -> Option<Shape> {
        if let Some(shape) = self.shapes.get(definition) {
            return *shape;
        }
        let lines = self.lines(view, definition);
        let shape = lines.map(|lines| Shape {
            is_one_line: lines.is_one_line(),
            visible: lines.visible_hash(),
        });
        self.shapes.insert(definition.clone(), shape, 1);
        shape
    }

    fn lines(&mut self, view: &StateView<'_>, definition: &Definition) -> Option<Arc<KnownLines>> {
        if let Some(lines) = self.lines.get(definition) {
            return Some(Arc::clone(lines));
        }
        let span = core::slice::from_ref(&definition.span);
        let code = view.artifact_slices(definition.artifact, span)?;
        let lines = KnownLines::new(core::str::from_utf8(&code).ok()?, &definition.word)?;
        let lines = Arc::new(lines);
        let weight = size_of::<KnownLines>() + 2 * code.len();
        self.lines
            .insert(definition.clone(), Arc::clone(&lines), weight);
        Some(lines)
    }

    /// Hands out where a text shows definitions of the words, each with the word's index. Texts that were searched for the same
    /// before aren't read again.
    pub fn search(
        &mut self,
        view: &StateView<'_>,
        (hash, text): (ArtifactHash, &str),
        wanted: &[&WantedWord],
        visit: &mut dyn FnMut(usize, &ShownDefinition),
    ) {
        let indexed = self.text(hash, text);
        let is_known = |wanted: &WantedWord| {
            let search = indexed.searches.get(&name_hash(&wanted.word));
            search.is_some_and(|search| search.wanted == wanted.digest)
        };
        let new = wanted.iter().filter(|wanted| !is_known(wanted));
        let new: Vec<&WantedWord> = new.copied().collect();
        if !new.is_empty() {
            let found = self.search_anew(view, text, &new);
            let mut weight = 0;
            let indexed = self.text(hash, text);
            for (wanted, found) in new.iter().zip(found) {
                weight += SEARCH_WEIGHT + size_of_val::<[ShownDefinition]>(&found);
                let search = Search {
                    wanted: wanted.digest,
                    found,
                };
                let word = name_hash(&wanted.word);
                indexed.searches.insert(word, search);
            }
            self.texts.add_weight(&hash, weight);
        }
        let indexed = self.text(hash, text);
        for (index, wanted) in wanted.iter().enumerate() {
            let search = indexed.searches.get(&name_hash(&wanted.word));
            let found = search.map_or(&[][..], |search| &search.found);
            found.iter().for_each(|shown| visit(index, shown));
        }
    }

    /// Where a text shows definitions of the words, word by word.
    fn search_anew(
        &mut self,
        view: &StateView<'_>,
        text: &str,
        wanted: &[&WantedWord],
    ) -> Vec<Box<[ShownDefinition]>> {
        let words = WordSet::new(wanted.iter().map(|wanted| &*wanted.word));
        let words_in_order = wanted.iter().enumerate();
        let index_of: BTreeMap<&str, usize> = words_in_order
            .map(|(index, wanted)| (&*wanted.word, index))
            .collect();
        let mut known = Vec::with_capacity(wanted.len());
        for wanted in wanted {
            let definitions = wanted.definitions.iter();
            let lines = definitions.map(|definition| self.lines(view, definition));
            known.push(lines.collect::<Vec<Option<Arc<KnownLines>>>>());
        }
        let mut found: Vec<Vec<ShownDefinition>> = wanted.iter().map(|_| Vec::new()).collect();
        let mut strings = 0;
        json_text::change_strings(text, &mut |string| {
            let lines = TextLines::new(string);
            for (line, word) in lines.with_words(&words) {
                let Some(&index) = index_of.get(word) else {
                    continue;
                };
                for (definition, known) in known[index].iter().enumerate() {
                    let shown = known
                        .as_ref()
                        .and_then(|known| known.shown_at(&lines, line));
                    found[index].extend(shown.map(|shown| ShownDefinition {
                        definition,
                        string: strings,
                        line,
                        bytes: shown.bytes,
                        line_count: shown.line_count,
                    }));
                }
            }
            strings += 1;
            None
        });
        found.into_iter().map(Vec::into_boxed_slice).collect()
    }
}

/// Bytes of memory of a search that found nothing, about.
const SEARCH_WEIGHT: usize = 64;
