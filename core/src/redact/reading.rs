//! A text that is searched for credentials, and how much of it was looked at.

/// The text, and the furthest byte that a decision has depended on.
pub(super) struct Reading<'t> {
    pub(super) text: &'t [u8],
    /// What stands before this is taken already.
    pub(super) from: usize,
    /// One more than the last byte that was looked at; beyond the text if its end was.
    pub(super) read_to: usize,
    /// How many looks there were.
    #[cfg(test)]
    pub(super) looks: usize,
}

impl<'t> Reading<'t> {
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
    pub(super) fn byte(&mut self, at: usize) -> Option<u8> {
        self.read_to = self.read_to.max(at + 1);
        #[cfg(test)]
        {
            self.looks += 1;
        }
        self.text.get(at).copied()
    }

    /// Where bytes of a kind that begin at `at` end, at most so many.
    pub(super) fn skip(&mut self, at: usize, most: usize, is_kind: impl Fn(u8) -> bool) -> usize {
        let mut end = at;
        while end - at < most && self.byte(end).is_some_and(&is_kind) {
            end += 1;
        }
        end
    }

    /// Whether these bytes stand at `at`, in any case.
    pub(super) fn has(&mut self, at: usize, expected: &[u8]) -> bool {
        let mut positions = expected.iter().enumerate();
        positions.all(|(offset, expected)| {
            self.byte(at + offset)
                .is_some_and(|byte| byte.eq_ignore_ascii_case(expected))
        })
    }
}
