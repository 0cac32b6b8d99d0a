//! What is kept for the project, and what waits for the user's word. What a record says is in its event; here is what it takes to find it.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::event::{Author, Event, RecordChanged, Recorded};
use tslp_core::ids::{Seq, UnixMillis};
use tslp_core::name_hash::name_hash;
use tslp_core::reason::Reason;
use tslp_core::record::{self, RecordKind, RecordStanding};
use tslp_core::spoken_lines::first_line_hash;

use crate::changes::Touched;
use crate::goal::GoalRow;
use crate::row::{EventAt, Keeps, UnfitRow};

row! {
    /// `records`: what is kept for the project, and what waits for the user's word. Its event has the rest.
    pub struct RecordRow in table "records", version 3;
    key {
        /// Its name.
        key: String,
        /// Whether it counts.
        standing: RecordStanding,
    }
    values {
        /// The event that says it.
        seq: Seq,
        /// The event that says the goal of the time; 0 where there was none.
        goal: Seq,
    }
}

/// How many words of a statement are looked for in prompts: the longest.
const WORDS_KEPT: usize = 5;

/// A record, by what prompts are searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordEntry {
    /// Its name.
    pub key: Box<str>,
    /// The event that says it.
    pub seq: Seq,
    /// When it ends by itself; 0 is never.
    pub expires_at: UnixMillis,
    /// The event that says the goal of the time; 0 where there was none.
    pub goal: Seq,
    /// What it states.
    pub kind: RecordKind,
    /// Whose word it is.
    pub author: Author,
    path: u32,
    line: u32,
    words: [u32; WORDS_KEPT],
    /// A bit for each of the words that is a name as code has them.
    names: u8,
}

/// What a prompt holds of what records are found by. Two things may look alike, so what is found is looked up before it counts.
pub struct Clues {
    words: ShortHashes,
    paths: ShortHashes,
    lines: ShortHashes,
}

impl Clues {
    /// From the [hashes](name_hash) of words, the paths, and the [hashes](first_line_hash) of lines that a prompt holds.
    #[must_use]
    pub fn new<'c>(
        words: impl Iterator<Item = u64>,
        paths: impl Iterator<Item = &'c str>,
        lines: impl Iterator<Item = u64>,
    ) -> Self {
        Self {
            words: ShortHashes::of(words.map(shortened)),
            paths: ShortHashes::of(paths.map(short_hash)),
            lines: ShortHashes::of(lines.map(shortened)),
        }
    }

    /// How telling is what seems to be in the prompt of a record: 1 is its file or the code that it quotes, 2 words of its statement.
    #[must_use]
    pub fn rank(&self, entry: &RecordEntry) -> Option<u8> {
        if entry.path != 0 && (self.paths.holds(entry.path) || self.lines.holds(entry.line)) {
            return Some(1);
        }
        let shared = entry.words.iter().enumerate();
        let shared = shared.filter(|(_, word)| **word != 0 && self.words.holds(**word));
        let mut count = 0;
        for (at, _) in shared {
            count += 1;
            if count > 1 || entry.names & 1 << at != 0 {
                return Some(2);
            }
        }
        None
    }
}

/// A set of short hashes.
struct ShortHashes {
    /// By their last 16 bits, which rule out nearly all others.
    bits: Vec<u64>,
    sorted: Vec<u32>,
}

impl ShortHashes {
    fn of(hashes: impl Iterator<Item = u32>) -> Self {
        let mut sorted: Vec<u32> = hashes.collect();
        sorted.sort_unstable();
        let mut bits = alloc::vec![0; 1 << 10];
        for hash in &sorted {
            bits[(hash >> 6 & 0x3ff) as usize] |= 1 << (hash & 63);
        }
        Self { bits, sorted }
    }

    fn holds(&self, hash: u32) -> bool {
        self.bits[(hash >> 6 & 0x3ff) as usize] & 1 << (hash & 63) != 0
            && self.sorted.binary_search(&hash).is_ok()
    }
}

fn short_hash(text: &str) -> u32 {
    shortened(name_hash(text))
}

/// Never 0, which stands for nothing.
const fn shortened(hash: u64) -> u32 {
    match hash as u32 {
        0 => 1,
        hash => hash,
    }
}

impl RecordEntry {
    fn new((seq, goal): (Seq, Seq), record: &RecordChanged) -> Self {
        let said = record::telling_words(&record.key);
        let said = said.chain(record::telling_words(&record.statement));
        let mut found: Vec<(String, bool)> = said.collect::<BTreeSet<_>>().into_iter().collect();
        found.sort_by_key(|(word, is_name)| core::cmp::Reverse((*is_name, word.len())));
        let (mut words, mut names) = ([0; WORDS_KEPT], 0);
        for (at, (word, is_name)) in found.iter().take(WORDS_KEPT).enumerate() {
            words[at] = short_hash(word);
            names |= u8::from(*is_name) << at;
        }
        let is_cited = !record.path.is_empty();
        Self {
            key: record.key.as_str().into(),
            seq,
            expires_at: record.expires_at,
            goal,
            kind: record.kind,
            author: record.author,
            path: if is_cited {
                short_hash(&record.path)
            } else {
                0
            },
            line: shortened(first_line_hash(&record.quotation)),
            words,
            names,
        }
    }
}

/// The records that hold, and those that wait.
#[derive(Default)]
pub struct Records {
    /// By key.
    kept: Vec<RecordEntry>,
    proposed: BTreeMap<String, RecordEntry>,
    /// The event of the newest that was kept.
    newest: Seq,
    touched: Touched<(String, RecordStanding)>,
}

impl Records {
    /// Folds one event in. `goal` is the goal, if there is one.
    pub fn apply(&mut self, recorded: &Recorded, goal: Option<&GoalRow>) {
        let Event::RecordChanged(changed) = &recorded.event else {
            return;
        };
        let entry = RecordEntry::new((recorded.seq, goal.map_or(Seq(0), |it| it.seq)), changed);
        match changed.standing {
            _ if changed.statement.is_empty() => self.end(changed),
            RecordStanding::Kept => {
                self.touch(&changed.key, RecordStanding::Kept);
                self.keep(entry);
                self.drop_proposal(&changed.key);
            }
            RecordStanding::Proposed => {
                self.touch(&changed.key, RecordStanding::Proposed);
                self.proposed.insert(changed.key.clone(), entry);
            }
            RecordStanding::Ended => self.end(changed),
        }
    }

    fn end(&mut self, changed: &RecordChanged) {
        if changed.cause == Reason::RecordRejected {
            self.drop_proposal(&changed.key);
        } else if let Ok(at) = self.place(&changed.key) {
            self.touch(&changed.key, RecordStanding::Kept);
            self.kept.remove(at);
        }
    }

    fn place(&self, key: &str) -> Result<usize, usize> {
        self.kept.binary_search_by(|entry| (*entry.key).cmp(key))
    }

    fn keep(&mut self, entry: RecordEntry) {
        self.newest = self.newest.max(entry.seq);
        match self.place(&entry.key) {
            Ok(at) => self.kept[at] = entry,
            Err(at) => {
                // By an eighth, not by twice: memory is bounded by what is kept.
                if self.kept.len() == self.kept.capacity() {
                    self.kept.reserve_exact(self.kept.len() / 8 + 8);
                }
                self.kept.insert(at, entry);
            }
        }
    }

    fn drop_proposal(&mut self, key: &str) {
        self.touch(key, RecordStanding::Proposed);
        self.proposed.remove(key);
    }

    /// A record is about to change, appear or vanish.
    fn touch(&mut self, key: &str, standing: RecordStanding) {
        let was_present = self.entry(key, standing).is_some();
        self.touched.note(|| (key.into(), standing), was_present);
    }

    fn entry(&self, key: &str, standing: RecordStanding) -> Option<&RecordEntry> {
        match standing {
            RecordStanding::Kept => self.named(key),
            RecordStanding::Proposed => self.proposed(key),
            RecordStanding::Ended => None,
        }
    }

    /// The record of this name that is kept.
    #[must_use]
    pub fn named(&self, key: &str) -> Option<&RecordEntry> {
        self.place(key).ok().map(|at| &self.kept[at])
    }

    /// The record of this name that waits for the user's word.
    #[must_use]
    pub fn proposed(&self, key: &str) -> Option<&RecordEntry> {
        self.proposed.get(key)
    }

    /// How many wait.
    #[must_use]
    pub fn proposed_count(&self) -> usize {
        self.proposed.len()
    }

    /// How many are kept, and the event that says the newest: another state has other figures.
    #[must_use]
    pub const fn state(&self) -> (usize, Seq) {
        (self.kept.len(), self.newest)
    }

    /// All that are kept, by key.
    #[must_use]
    pub fn all(&self) -> &[RecordEntry] {
        &self.kept
    }
}

fn row(entry: &RecordEntry, standing: RecordStanding) -> RecordRow {
    RecordRow {
        key: entry.key.as_ref().into(),
        standing,
        seq: entry.seq,
        goal: entry.goal,
    }
}

impl Keeps<RecordRow> for Records {
    fn visit_rows(&self, visit: &mut dyn FnMut(RecordRow)) {
        let kept = self.kept.iter().map(|it| row(it, RecordStanding::Kept));
        let proposed = self.proposed.values();
        let proposed = proposed.map(|it| row(it, RecordStanding::Proposed));
        kept.chain(proposed).for_each(visit);
    }

    fn row(&self, (key, standing): &(String, RecordStanding)) -> Option<RecordRow> {
        self.entry(key, *standing).map(|it| row(it, *standing))
    }

    fn touched(&mut self) -> &mut Touched<(String, RecordStanding)> {
        &mut self.touched
    }

    fn restore_row(&mut self, row: RecordRow, event: EventAt<'_>) -> Result<(), UnfitRow> {
        let said = event(row.seq).map(|recorded| recorded.event);
        let Some(Event::RecordChanged(said)) = said.as_ref() else {
            return Err(UnfitRow("its event says nothing of a record"));
        };
        if (&said.key, said.standing) != (&row.key, row.standing) {
            return Err(UnfitRow("its event is about another record"));
        }
        let entry = RecordEntry::new((row.seq, row.goal), said);
        match row.standing {
            RecordStanding::Kept => self.keep(entry),
            RecordStanding::Proposed => {
                self.proposed.insert(row.key, entry);
            }
            RecordStanding::Ended => return Err(UnfitRow("what has ended has no row")),
        }
        Ok(())
    }
}
