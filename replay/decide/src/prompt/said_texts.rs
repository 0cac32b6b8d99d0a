//! The newest texts whose author is known, each put together once. Which they are depends on the state alone.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::event::Author;
use tslp_core::ids::{EpisodeId, Seq};
use tslp_core::limits::{AUTHORED_PAIRS_MAX, AUTHORED_TEXT_BYTES_MAX, AUTHORED_TEXT_PAIRS_MAX};
use tslp_core::spoken_lines;
use tslp_projections::provenance::ProvenanceRow;
use tslp_projections::state::StateView;

/// Where a row stands: the event that says so, and which of its texts.
type Place = (Seq, u32);

/// A text's letters and digits, by which it is compared where markup, quotes and escapes may hide it.
pub(crate) fn letters(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// All texts whose author is known, by their first piece.
#[derive(Default)]
pub(crate) struct SaidTexts {
    texts: BTreeMap<Place, SaidText>,
    /// The text that further pieces of a reply belong to.
    replies: BTreeMap<(EpisodeId, Author), Place>,
    /// The newest row that is in here.
    newest: Option<Place>,
}

/// A text, and by whom it was said.
#[derive(Default)]
pub(crate) struct SaidText {
    /// A reply has several, in order; the others one.
    pieces: Vec<ProvenanceRow>,
    /// The hashes of its [pairs of lines](spoken_lines::line_pairs), if they were asked for.
    pairs: Option<Box<[u64]>>,
}

impl SaidText {
    /// The first piece, by which the text is named.
    pub(crate) fn source(&self) -> &ProvenanceRow {
        &self.pieces[0]
    }

    /// Its first bytes, as far as the Vault has them.
    pub(crate) fn content(&self, view: &StateView<'_>, bytes_max: usize) -> Vec<u8> {
        let mut content = Vec::new();
        for piece in &self.pieces {
            let left = bytes_max - content.len();
            view.with_content(piece.text, |bytes| {
                content.extend_from_slice(&bytes[..bytes.len().min(left)]);
            });
        }
        content
    }

    /// The pairs of its lines; what can't be read has none.
    fn read_pairs(&self, view: &StateView<'_>) -> Box<[u64]> {
        let bytes = self.content(view, AUTHORED_TEXT_BYTES_MAX);
        let mut pairs = spoken_lines::line_pairs(&String::from_utf8_lossy(&bytes));
        pairs.truncate(AUTHORED_TEXT_PAIRS_MAX);
        pairs.into()
    }
}

impl SaidTexts {
    /// All of them, as they are now.
    pub(crate) fn now(view: &StateView<'_>) -> Self {
        let mut texts = Self::default();
        texts.follow(view);
        texts
    }

    /// Takes in what was said since, and leaves out what the state has forgotten.
    pub(crate) fn follow(&mut self, view: &StateView<'_>) {
        let known = view.state.provenance();
        let oldest = known.oldest();
        while let Some(first) = self.texts.first_entry()
            && oldest.is_none_or(|oldest| *first.key() < oldest)
        {
            let SaidText { mut pieces, .. } = first.remove();
            let of_reply = (pieces[0].episode, pieces[0].author);
            self.replies.remove(&of_reply);
            pieces.retain(|piece| oldest.is_some_and(|oldest| place(piece) >= oldest));
            pieces.into_iter().for_each(|piece| self.add(piece));
        }
        for row in known.texts_after(self.newest) {
            self.newest = Some(place(&row));
            self.add(row);
        }
    }

    fn add(&mut self, row: ProvenanceRow) {
        let mut at = place(&row);
        if matches!(row.author, Author::Model | Author::Thought) {
            at = *(self.replies.entry((row.episode, row.author))).or_insert(at);
        }
        let text = self.texts.entry(at).or_default();
        text.pieces.push(row);
        text.pairs = None;
    }

    /// The texts, the first said first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &SaidText> {
        self.texts.values()
    }

    /// The newest texts with as many pairs of lines as a message is compared with, the oldest of them first.
    pub(crate) fn compared(
        &mut self,
        view: &StateView<'_>,
    ) -> impl Iterator<Item = (&ProvenanceRow, &[u64])> {
        self.read_newest(AUTHORED_PAIRS_MAX, |text| text.read_pairs(view));
        let read = self.texts.values();
        read.filter_map(|text| Some((text.source(), text.pairs.as_deref()?)))
    }

    /// Reads texts, the newest first, until they have so many pairs; what is older keeps none.
    fn read_newest(&mut self, pairs_max: usize, read: impl Fn(&SaidText) -> Box<[u64]>) {
        let mut left = pairs_max;
        for text in self.texts.values_mut().rev() {
            if left == 0 {
                text.pairs = None;
                continue;
            }
            let pairs = text.pairs.take().unwrap_or_else(|| read(text));
            left = left.saturating_sub(pairs.len());
            text.pairs = Some(pairs);
        }
    }
}

const fn place(row: &ProvenanceRow) -> Place {
    (row.seq, row.position)
}

#[cfg(test)]
mod tests {
    use core::cell::RefCell;

    use tslp_core::hash::ArtifactHash;

    use super::*;

    fn row(seq: u64, author: Author, episode: u64) -> ProvenanceRow {
        ProvenanceRow {
            seq: Seq(seq),
            position: 0,
            text: ArtifactHash([u8::try_from(seq % 251).expect("below 251"); 32]),
            author,
            episode: EpisodeId(episode),
        }
    }

    /// However much was said before, a message is compared with a bounded number of lines.
    #[test]
    fn bounded_comparison() {
        let mut texts = SaidTexts::default();
        (0..1000).for_each(|seq| texts.add(row(seq, Author::User, seq)));
        let asked = RefCell::new(Vec::new());
        let read = |text: &SaidText| {
            asked.borrow_mut().push(text.source().seq.0);
            Box::from([0; 25])
        };
        texts.read_newest(100, read);
        assert_eq!(asked.take(), [999, 998, 997, 996]);
        (1000..1002).for_each(|seq| texts.add(row(seq, Author::User, seq)));
        texts.read_newest(100, read);
        assert_eq!(asked.take(), [1001, 1000], "each text is read once");
        let kept = texts.iter().filter(|text| text.pairs.is_some());
        let kept: Vec<u64> = kept.map(|text| text.source().seq.0).collect();
        assert_eq!(kept, [998, 999, 1000, 1001]);
    }
}
