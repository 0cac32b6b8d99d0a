//! A text that is searched for credentials, with a record of how much of it was read.

/// The text, and the furthest byte that a decision has depended on.
pub(super) struct ScannedText<'t> {
    pub(super) text: &'t [u8],
    /// The end of the last credential: nothing before it may be part of another one.
    pub(super) from: usize,
    /// One past the last byte that was read; beyond the text if its end was.
    pub(super) read_to: usize,
    /// The number of bytes read, repeated ones included.
    #[cfg(test)]
    pub(super) looks: usize,
}

impl<'t> ScannedText<'t> {
    pub(super) fn new(text: &'t [u8], from: usize) -> Self {
        Self {
            text,
            from,
            read_to: from,
            #[cfg(test)]
            looks: 0,
        }
    }

    /// The byte at `at`.
    pub(super) fn byte_at(&mut self, at: usize) -> Option<u8> {
        self.read_to = self.read_to.max(at + 1);
        #[cfg(test)]
        {
            self.looks += 1;
        }
        self.text.get(at).copied()
    }

    /// The end of the bytes of a kind from `at` on, at most `most` of them.
    pub(super) fn end_of_run(
        &mut self,
        at: usize,
        most: usize,
        is_kind: impl Fn(u8) -> bool,
    ) -> usize {
        let mut end = at;
        while end - at < most && self.byte_at(end).is_some_and(&is_kind) {
            end += 1;
        }
        end
    }

    /// Whether these bytes are at `at`, in upper or lower case.
    pub(super) fn has_bytes(&mut self, at: usize, expected: &[u8]) -> bool {
        let mut positions = expected.iter().enumerate();
        positions.all(|(offset, expected)| {
            self.byte_at(at + offset)
                .is_some_and(|byte| byte.eq_ignore_ascii_case(expected))
        })
    }
}

/// Whether a byte continues a word: no credential begins or ends between two of them.
pub(super) const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
