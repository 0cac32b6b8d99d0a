//! Whose words a user's message holds: clients put the model's and others' into it. What the ledger knows as somebody else's, and
//! what the message itself shows to be, isn't the Operator's.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use tslp_projections::provenance::ProvenanceRow;
use tslp_projections::state::StateView;

use crate::judge::found_code::FoundCode;
use crate::prompt::text_index::TextIndex;
use tslp_core::capture;
use tslp_core::directive;
use tslp_core::event::{Author, AuthorFound};
use tslp_core::hash::ArtifactHash;
use tslp_core::spoken_lines::{SpokenLine, spoken_lines};

/// A user's message by its authors.
#[derive(Clone, Debug, Default)]
pub struct MessageAuthors {
    lines: Vec<SpokenLine>,
    passages: Vec<Passage>,
    /// Parts that the message itself shows to be somebody else's.
    foreign: Vec<capture::ForeignPart>,
}

/// Neighbouring lines of a message that stand in one text of somebody else's.
#[derive(Clone, Debug)]
struct Passage {
    lines: Range<usize>,
    source: ProvenanceRow,
    /// Whether the user hadn't said all of it before.
    is_anothers: bool,
}

impl MessageAuthors {
    /// Compares a message's text with everything that the ledger knows by its author.
    #[must_use]
    pub fn of(view: &StateView<'_>, index: &mut TextIndex, text: &str) -> Self {
        let lines = spoken_lines(text);
        let directives: BTreeMap<u64, usize> = (0..)
            .zip(&lines)
            .filter(|(_, line)| directive::is_directive(&text[line.range.clone()]))
            .map(|(at, line)| (line.alone(), at))
            .collect();
        let pairs: Vec<u64> = lines
            .windows(2)
            .map(|pair| pair[0].pair_with(&pair[1]))
            .collect();
        let mut said = SaidPairs::new(&pairs);
        let mut passages = Vec::new();
        index.said.follow(view);
        for (source, others) in index.said.compared(view) {
            let (source, runs) = (*source, said.note(source.author, others));
            if source.author == Author::User {
                continue;
            }
            let runs = runs.into_iter().filter(|run| {
                run.is_crowded || is_passage(text, &lines[run.pairs.start..=run.pairs.end])
            });
            passages.extend(runs.map(|PairRun { pairs: run, .. }| Passage {
                is_anothers: pairs[run.clone()].iter().any(|pair| !said.is_users(*pair)),
                lines: run.start..run.end + 1,
                source,
            }));
            // Nobody reads a call to learn what to type, so what it orders stays its own by a line alone.
            if source.author == Author::Call && !directives.is_empty() {
                let ordered = others.iter().filter_map(|said| directives.get(said));
                passages.extend(ordered.map(|at| Passage {
                    is_anothers: false,
                    lines: *at..*at + 1,
                    source,
                }));
            }
        }
        Self {
            foreign: capture::foreign_parts(text),
            lines,
            passages,
        }
    }

    fn words_of(&self, passage: &Passage) -> impl Iterator<Item = &SpokenLine> {
        let lines = self.lines[passage.lines.clone()].iter();
        lines.filter(|line| !line.is_boundary())
    }

    fn of_others(&self) -> impl Iterator<Item = &Passage> {
        self.passages.iter().filter(|passage| passage.is_anothers)
    }

    /// Whether somebody else has said a line, so that it is no act of the user's.
    #[must_use]
    pub fn repeats(&self, line: &Range<usize>) -> bool {
        let is_line = |said: &SpokenLine| line.contains(&said.range.start);
        let mut passages = self.passages.iter();
        passages.any(|passage| self.words_of(passage).any(is_line))
    }

    /// The text without what somebody else said, and without directives.
    #[must_use]
    pub fn own_text(&self, text: &str) -> String {
        let foreign = self.foreign.iter().map(|part| part.range.clone());
        let words = self.of_others().flat_map(|passage| self.words_of(passage));
        let words = words.map(|line| line.range.clone());
        let directives = directive::directive_lines(text).into_iter();
        let directives = directives
            .filter(|line| line.is_typed)
            .map(|line| line.range);
        let external = directive::external_from(text).map(|from| from..text.len());
        let ranges = foreign.chain(words).chain(directives).chain(external);
        let mut ranges: Vec<Range<usize>> = ranges.collect();
        ranges.sort_by_key(|range| range.start);
        let mut own = String::with_capacity(text.len());
        let mut from = 0;
        for range in ranges {
            own.push_str(text.get(from..range.start).unwrap_or_default());
            from = from.max(range.end);
        }
        own.push_str(text.get(from..).unwrap_or_default());
        own
    }

    /// Whether somebody else wrote a block of the message's code. Who changed a line of it, or left one out, has written it.
    #[must_use]
    pub fn wrote_another(&self, text: &str, found: &FoundCode) -> bool {
        let foreign = self.foreign.iter().filter(|part| !part.is_attachment);
        let foreign: Vec<Vec<SpokenLine>> = foreign
            .map(|part| spoken_lines(&text[part.range.clone()]))
            .collect();
        let others = self
            .of_others()
            .map(|passage| &self.lines[passage.lines.clone()]);
        let others: Vec<&[SpokenLine]> = others.chain(foreign.iter().map(Vec::as_slice)).collect();
        let is_anothers = |code: &str| {
            let code = spoken_lines(code);
            let inside = &code[1..code.len().max(2) - 1];
            !inside.is_empty() && others.iter().any(|lines| holds_lines(lines, inside))
        };
        match &found.edit {
            Some(edit) => edit.texts.iter().all(|text| is_anothers(text)),
            None => is_anothers(&found.code),
        }
    }

    /// What is to be recorded of the message, if any of it is somebody else's. `opens`: its conversation begins with it.
    #[must_use]
    pub fn finding(&self, message: ArtifactHash, opens: bool) -> Option<AuthorFound> {
        let length = |passage: &&Passage| self.words_of(passage).count();
        let longest = self.of_others().max_by_key(length)?;
        let lines = self.of_others().flat_map(|passage| self.words_of(passage));
        let lines: BTreeSet<usize> = lines.map(|line| line.range.start).collect();
        let of = self.lines.iter().filter(|line| !line.is_boundary());
        let ProvenanceRow {
            text,
            author,
            episode,
            ..
        } = longest.source;
        Some(AuthorFound {
            message,
            author,
            source: text,
            said_in: episode,
            lines: u32::try_from(lines.len()).unwrap_or(u32::MAX),
            of: u32::try_from(of.count()).unwrap_or(u32::MAX),
            opens_subagent: opens && author == Author::Call,
        })
    }
}

/// Whether these lines follow one another in others.
fn holds_lines(lines: &[SpokenLine], wanted: &[SpokenLine]) -> bool {
    let mut places = lines.windows(wanted.len());
    places.any(|place| place.iter().zip(wanted).all(|(one, other)| one.says(other)))
}

/// The pairs of a message's lines, and who said each first.
struct SaidPairs {
    /// Each pair and where it is in the message, in order.
    places: Vec<(u64, usize)>,
    /// What is known of a pair, at its first place.
    said: Vec<SaidPair>,
    /// One bit rules out most pairs of a text.
    bits: Vec<u64>,
}

#[derive(Clone, Copy, Default)]
struct SaidPair {
    first: Option<Author>,
    /// Whether somebody else than the user has said it.
    is_anothers: bool,
}

/// Pairs of a message that follow one another in another text.
struct PairRun {
    pairs: Range<usize>,
    /// A pair that the message has too often to be followed from place to place: each counts by itself.
    is_crowded: bool,
}

impl SaidPairs {
    fn new(pairs: &[u64]) -> Self {
        let mut bits = alloc::vec![0; 1 << 10];
        for pair in pairs {
            let (word, bit) = Self::place(*pair);
            bits[word] |= bit;
        }
        let mut places: Vec<(u64, usize)> = pairs.iter().copied().zip(0..).collect();
        places.sort_unstable();
        Self {
            said: alloc::vec![SaidPair::default(); places.len()],
            places,
            bits,
        }
    }

    const fn place(pair: u64) -> (usize, u64) {
        ((pair >> 54) as usize, 1 << (pair >> 48 & 63))
    }

    /// Whether it may be a pair of the message.
    fn may_have(&self, pair: u64) -> bool {
        let (word, bit) = Self::place(pair);
        self.bits[word] & bit != 0
    }

    /// The places of a pair, as indices.
    fn places_of(&self, pair: u64) -> Range<usize> {
        if !self.may_have(pair) {
            return 0..0;
        }
        let from = self.places.partition_point(|(known, _)| *known < pair);
        let len = self.places[from..].partition_point(|(known, _)| *known == pair);
        from..from + len
    }

    /// Takes note of another text's pairs, and returns the longest runs of the message's pairs that are in it as they are.
    fn note(&mut self, author: Author, others: &[u64]) -> Vec<PairRun> {
        // Nearly all texts have none.
        let Some(first) = others.iter().position(|pair| self.may_have(*pair)) else {
            return Vec::new();
        };
        let mut runs: Vec<PairRun> = Vec::new();
        let mut open: BTreeMap<usize, usize> = BTreeMap::new();
        let run = |(end, start)| PairRun {
            pairs: start..end,
            is_crowded: false,
        };
        for pair in &others[first..] {
            let places = self.places_of(*pair);
            if places.is_empty() && open.is_empty() {
                continue;
            }
            let mut extended = BTreeMap::new();
            if !places.is_empty() {
                let known = &mut self.said[places.start];
                known.first.get_or_insert(author);
                let is_new = author != Author::User && !known.is_anothers;
                known.is_anothers |= is_new;
                let is_crowded = places.len() > REPEATED_PAIRS_MAX;
                let places = self.places[places].iter().map(|(_, at)| *at);
                if !is_crowded {
                    extended.extend(places.map(|at| (at + 1, open.remove(&at).unwrap_or(at))));
                } else if is_new {
                    runs.extend(places.map(|at| PairRun {
                        pairs: at..at + 1,
                        is_crowded,
                    }));
                }
            }
            runs.extend(open.into_iter().map(run));
            open = extended;
        }
        runs.extend(open.into_iter().map(run));
        runs.sort_by_key(|run| (run.pairs.start, core::cmp::Reverse(run.pairs.end)));
        let mut reached = 0;
        runs.retain(|run| {
            let is_longest = run.pairs.end > reached;
            reached = reached.max(run.pairs.end);
            is_longest
        });
        runs
    }

    fn is_users(&self, pair: u64) -> bool {
        let places = self.places_of(pair);
        !places.is_empty() && self.said[places.start].first == Some(Author::User)
    }
}

/// Places of one pair in a message that are followed.
const REPEATED_PAIRS_MAX: usize = 64;

/// Whether lines that follow each other elsewhere are more than a chance: two that aren't both directives, or all that stands
/// between two boundaries.
fn is_passage(text: &str, lines: &[SpokenLine]) -> bool {
    let is_whole = lines.len() > 2
        && lines.first().is_some_and(SpokenLine::is_boundary)
        && lines.last().is_some_and(SpokenLine::is_boundary);
    let is_prose = |line: &SpokenLine| {
        !line.is_boundary() && !directive::is_directive(&text[line.range.clone()])
    };
    let mut pairs = lines.windows(2);
    is_whole
        || pairs.any(|pair| !pair.iter().any(SpokenLine::is_boundary) && pair.iter().any(is_prose))
}
