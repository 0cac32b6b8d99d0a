//! Bytes on their way to a peer: one growing buffer, the part that may be sent, and the part that was.

/// The part of the buffer that may be written now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Release {
    /// Everything.
    #[default]
    All,
    /// Only the bytes before this offset from the buffer's start.
    Before(usize),
}

/// Capacity above which a buffer frees its memory once it is empty.
const KEPT_CAPACITY_BYTES: usize = 64 * 1024;

/// An output buffer. Appending never blocks and never fails; callers must check [`Outgoing::len`] first.
#[derive(Debug, Default)]
pub struct Outgoing {
    bytes: Vec<u8>,
    start: usize,
    release: Release,
}

impl Outgoing {
    /// The buffer to append to.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The number of bytes that aren't sent yet, released or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes that may be written now.
    #[must_use]
    pub fn released(&self) -> &[u8] {
        let end = match self.release {
            Release::All => self.bytes.len(),
            Release::Before(offset) => offset.clamp(self.start, self.bytes.len()),
        };
        &self.bytes[self.start..end]
    }

    /// Records that the peer's socket took `count` bytes.
    pub fn mark_sent(&mut self, count: usize) {
        // A byte that is held may be of a prompt that a crash could still lose.
        assert!(
            count <= self.released().len(),
            "only what is released is sent"
        );
        self.start += count;
        if self.start < self.bytes.len() {
            return self.forget_sent();
        }
        self.start = 0;
        // Nothing is left, but what is appended next is still held.
        if let Release::Before(_) = self.release {
            self.release = Release::Before(0);
        }
        if self.bytes.capacity() > KEPT_CAPACITY_BYTES {
            self.bytes = Vec::new();
        } else {
            self.bytes.clear();
        }
    }

    /// Moves the rest to the front if that is worth it, so that bytes sent to a slow reader don't accumulate.
    fn forget_sent(&mut self) {
        if self.start < KEPT_CAPACITY_BYTES || self.start < self.len() {
            return;
        }
        if let Release::Before(offset) = &mut self.release {
            debug_assert!(*offset >= self.start, "nothing that is held was sent");
            *offset -= self.start;
        }
        self.bytes.drain(..self.start);
        self.bytes.shrink_to(KEPT_CAPACITY_BYTES);
        self.start = 0;
    }

    /// Holds everything that is appended from now on.
    pub fn hold_from_here(&mut self) {
        self.release = Release::Before(self.bytes.len());
    }

    /// Releases everything.
    pub fn release(&mut self) {
        self.release = Release::All;
    }

    /// Discards everything that isn't sent.
    pub fn discard(&mut self) {
        *self = Self::default();
    }

    /// Frees the memory of an empty buffer, for connections that become idle.
    pub fn shrink_if_empty(&mut self) {
        if self.is_empty() {
            self.discard();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that never quite catches up got everything kept for it once more.
    #[test]
    fn slow_reader() {
        let mut out = Outgoing::default();
        let mut said = (0_u8..=250).cycle();
        let mut heard = (0_u8..=250).cycle();
        out.hold_from_here();
        out.release();
        for round in 0..100 {
            out.buffer().extend(said.by_ref().take(20_000));
            if round == 50 {
                out.hold_from_here();
            }
            let count = out.released().len().saturating_sub(5000);
            let expected: Vec<u8> = heard.by_ref().take(count).collect();
            assert_eq!(out.released()[..count], expected, "in round {round}");
            out.mark_sent(count);
            if round == 51 {
                assert!(out.len() > 20_000, "the last round is held");
                out.release();
            }
        }
        assert!(
            out.buffer().capacity() < 256 << 10,
            "{}",
            out.buffer().capacity()
        );
    }
}
