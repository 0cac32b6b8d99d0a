//! A prompt's cost to the model server: the part of it that no recent prompt began with.
//!
//! A local model server keeps what it has computed of a prompt, and computes the next one anew from the first token that
//! differs. Nothing of a prompt's text is kept here: prompts are compared by hashes of blocks.

use std::collections::VecDeque;

use tslp_core::event::PromptCost;
use tslp_core::hash::quick_hash;

use crate::channel::ExchangeId;

/// Prompts that a new one is compared with. Model servers keep a few, one for each slot.
const PROMPTS_KEPT: usize = 8;

/// Bytes of which one hash is kept. A prompt that goes on where an older one ended is charged for less than one block too
/// much.
const BLOCK_BYTES: usize = 256;

/// Blocks of one prompt that are remembered: 4 MiB of text, 128 KiB of hashes. The rest always counts as new.
const BLOCKS_KEPT: usize = (4 << 20) / BLOCK_BYTES;

/// The last prompts, as clients wrote them and as they were sent.
#[derive(Default)]
pub struct PromptCosts {
    /// Oldest first.
    prompts: VecDeque<RememberedPrompt>,
}

/// One prompt's cost, as the client wrote it and as it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostPair {
    /// As the client wrote it, had all prompts gone to the model server like that.
    pub client: PromptCost,
    /// As it was sent.
    pub sent: PromptCost,
}

struct RememberedPrompt {
    exchange: ExchangeId,
    /// Each model has a cache of its own; `None` is the one that the server takes if none is named.
    model: Option<u64>,
    client: Vec<u64>,
    sent: Vec<u64>,
}

impl PromptCosts {
    /// Measures a prompt that goes to the model server now, and remembers it. The pieces of each form are parts of one text.
    ///
    /// It is an estimate, a block too high for most prompts: JSON is counted for the tokens that a chat template makes of it,
    /// and a reply that comes back as history is counted as new, though the server has computed it. Both forms share
    /// this. Nothing is known of prompts before the proxy's start, of audits, and of other clients of the same server.
    pub fn measure<'p>(
        &mut self,
        exchange: ExchangeId,
        model: Option<&str>,
        client: impl Iterator<Item = &'p [u8]>,
        sent: impl Iterator<Item = &'p [u8]>,
    ) -> CostPair {
        let model = model.map(|model| quick_hash(model.as_bytes()));
        let (client, sent) = (BlockHashes::of_pieces(client), BlockHashes::of_pieces(sent));
        let known = || self.prompts.iter().filter(|prompt| prompt.model == model);
        let costs = CostPair {
            client: client.cost_after(known().map(|prompt| &*prompt.client)),
            sent: sent.cost_after(known().map(|prompt| &*prompt.sent)),
        };
        if self.prompts.len() == PROMPTS_KEPT {
            self.prompts.pop_front();
        }
        self.prompts.push_back(RememberedPrompt {
            exchange,
            model,
            client: client.into_kept(),
            sent: sent.into_kept(),
        });
        costs
    }

    /// The model server hasn't read this prompt after all.
    pub fn forget(&mut self, exchange: ExchangeId) {
        self.prompts.retain(|prompt| prompt.exchange != exchange);
    }
}

/// A prompt, block by block.
#[derive(Default)]
struct BlockHashes {
    blocks: Vec<u64>,
    /// Characters up to each block's end.
    chars_until: Vec<u32>,
}

impl BlockHashes {
    fn of_pieces<'p>(pieces: impl Iterator<Item = &'p [u8]>) -> Self {
        let mut outline = Self::default();
        // The beginning of a block that goes on in the next piece.
        let mut begun: Vec<u8> = Vec::with_capacity(BLOCK_BYTES);
        for mut piece in pieces {
            while !piece.is_empty() {
                let (part, after) = piece.split_at(piece.len().min(BLOCK_BYTES - begun.len()));
                begun.extend_from_slice(part);
                if begun.len() == BLOCK_BYTES {
                    outline.push(&begun);
                    begun.clear();
                }
                piece = after;
            }
        }
        if !begun.is_empty() {
            outline.push(&begun);
        }
        outline
    }

    fn push(&mut self, block: &[u8]) {
        let chars_until = self.chars_total().saturating_add(chars_in(block));
        self.blocks.push(quick_hash(block));
        self.chars_until.push(chars_until);
    }

    fn chars_total(&self) -> u32 {
        self.chars_until.last().copied().unwrap_or(0)
    }

    fn cost_after<'k>(&self, known: impl Iterator<Item = &'k [u64]>) -> PromptCost {
        let shared = known.map(|known| {
            let pairs = self.blocks.iter().zip(known);
            pairs.take_while(|(own, known)| own == known).count()
        });
        // The longest beginning that any kept prompt shares: a server picks the slot that fits best.
        let chars_known = match shared.max().unwrap_or(0) {
            0 => 0,
            blocks => self.chars_until[blocks - 1],
        };
        debug_assert!(chars_known <= self.chars_total(), "a part of it");
        PromptCost {
            chars_total: self.chars_total(),
            chars_anew: self.chars_total() - chars_known,
        }
    }

    fn into_kept(mut self) -> Vec<u64> {
        self.blocks.truncate(BLOCKS_KEPT);
        self.blocks.shrink_to_fit();
        self.blocks
    }
}

/// Characters of a text in pieces.
pub fn chars_of<'p>(pieces: impl Iterator<Item = &'p [u8]>) -> u32 {
    pieces.map(chars_in).fold(0, u32::saturating_add)
}

/// Each character of UTF-8 has one byte that continues none. Counts of a byte's size are added up many at a time.
fn chars_in(block: &[u8]) -> u32 {
    let begins = |byte: &u8| u8::from(byte & 0xc0 != 0x80);
    let counts = block.chunks(128);
    let counts = counts.map(|bytes| u32::from(bytes.iter().map(begins).sum::<u8>()));
    counts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measures prompts of model `m` one after the other, each sent as the client wrote it but for a first line; gives what
    /// was anew of the client's and of the one sent.
    fn check(prompts: &[(&str, &str)], expected: &[(u32, u32)]) {
        let mut costs = PromptCosts::default();
        let measured: Vec<(u32, u32)> = (prompts.iter().zip(1..))
            .map(|((head, text), number)| {
                let sent = [head.as_bytes(), text.as_bytes()];
                let client = std::iter::once(text.as_bytes());
                let cost = costs.measure(ExchangeId(number), Some("m"), client, sent.into_iter());
                (cost.client.chars_anew, cost.sent.chars_anew)
            })
            .collect();
        assert_eq!(measured, expected);
    }

    fn lines(count: usize) -> String {
        (0..count).map(|line| format!("{line:>15}\n")).collect()
    }

    /// What comes after the first difference counts as new.
    #[test]
    fn new_after_difference() {
        let (whole, half) = (lines(64), lines(32));
        let changed = whole.replacen("40\n", "xx\n", 1);
        let other = "y".repeat(300);
        // Nothing is known yet, then everything is.
        check(&[("", &whole), ("", &whole)], &[(1024, 1024), (0, 0)]);
        // A prompt that goes on, and one that goes back.
        check(&[("", &half), ("", &whole)], &[(512, 512), (512, 512)]);
        check(&[("", &whole), ("", &half)], &[(1024, 1024), (0, 0)]);
        // The changed line is number 40, in the third block.
        check(&[("", &whole), ("", &changed)], &[(1024, 1024), (512, 512)]);
        // The most similar prompt counts, not the last.
        check(
            &[("", &whole), ("", &other), ("", &whole)],
            &[(1024, 1024), (300, 300), (0, 0)],
        );
        // A new head moves everything behind it; the client's own prompts are compared with one another.
        check(
            &[("one", &whole), ("two", &whole)],
            &[(1024, 1027), (0, 1027)],
        );
        check(&[("", "")], &[(0, 0)]);
    }

    /// The end of a block that is not full counts as new.
    #[test]
    fn partial_block() {
        let (short, long) = (lines(20), lines(24));
        check(&[("", &short), ("", &long)], &[(320, 320), (128, 128)]);
    }

    #[test]
    fn characters_counted() {
        let text = "ö".repeat(200);
        check(&[("", &text), ("ä", &text)], &[(200, 200), (0, 201)]);
    }

    #[test]
    fn last_prompts_known() {
        let texts: Vec<String> = (0..=PROMPTS_KEPT)
            .map(|number| format!("{number}").repeat(256))
            .collect();
        let mut prompts: Vec<(&str, &str)> = texts.iter().map(|text| ("", text.as_str())).collect();
        prompts.push(("", &texts[1]));
        prompts.push(("", &texts[0]));
        let mut expected = vec![(256, 256); PROMPTS_KEPT + 1];
        expected.extend([(0, 0), (256, 256)]);
        check(&prompts, &expected);
    }

    #[test]
    fn cuts_change_nothing() {
        let text = lines(50);
        let whole = BlockHashes::of_pieces(std::iter::once(text.as_bytes()));
        for cut in 0..text.len() {
            let (head, tail) = text.as_bytes().split_at(cut);
            let (middle, end) = tail.split_at(tail.len() / 2);
            let outline = BlockHashes::of_pieces([head, middle, end].into_iter());
            assert_eq!(outline.blocks, whole.blocks, "cut at {cut}");
            assert_eq!(outline.chars_until, whole.chars_until, "cut at {cut}");
        }
    }

    /// Each model has its own cache, and a prompt that was not read is forgotten.
    #[test]
    fn cache_of_each_model() {
        let text = lines(64);
        let mut costs = PromptCosts::default();
        let mut measured = |number: u64, model: &str| {
            let pieces = || std::iter::once(text.as_bytes());
            let cost = costs.measure(ExchangeId(number), Some(model), pieces(), pieces());
            if number == 1 {
                costs.forget(ExchangeId(1));
            }
            cost.sent.chars_anew
        };
        assert_eq!(measured(1, "a"), 1024);
        assert_eq!(measured(2, "a"), 1024);
        assert_eq!(measured(3, "b"), 1024);
        assert_eq!(measured(4, "a"), 0);
    }

    /// A prompt without end is remembered as far as there is room.
    #[test]
    fn oversized_prompt() {
        let text = "z".repeat(BLOCKS_KEPT * BLOCK_BYTES + 1000);
        let anew = text.len() as u32;
        check(&[("", &text), ("", &text)], &[(anew, anew), (1000, 1000)]);
    }
}
