//! Finds the end of a message head, byte by byte, and refuses line ends that two parsers could read differently.

/// The reason why a head can't be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadFault {
    /// A line feed without a carriage return before it.
    #[error("a line of the head ends with a bare LF; CR LF is needed")]
    BareLf,
    /// A carriage return without a line feed after it.
    #[error("the head has a bare CR")]
    BareCr,
    /// A NUL byte.
    #[error("the head has a NUL byte")]
    Nul,
    /// A header line begins with whitespace (obsolete line folding).
    #[error("a header line is folded or begins with whitespace")]
    Fold,
    /// The start line begins with whitespace.
    #[error("the start line begins with whitespace")]
    BlankStart,
}

/// A scan that resumes where the bytes ended last time, so that a head in many small pieces costs linear time.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeadScan {
    position: usize,
    line_start: usize,
    lines: usize,
    first_line: usize,
}

impl HeadScan {
    /// The offset just after the empty line that ends the head, once it has arrived. `bytes` must begin with what the
    /// previous calls were given.
    pub fn find_end(&mut self, bytes: &[u8]) -> Result<Option<usize>, HeadFault> {
        while let Some(byte) = bytes.get(self.position) {
            match byte {
                0 => return Err(HeadFault::Nul),
                // RFC 9112 §2.2 lets a recipient take it for a line's end, so two of them may see different heads.
                b'\n' => return Err(HeadFault::BareLf),
                // RFC 9112 §5.2: a server refuses folded lines or repairs them; what is repaired can be read in two ways.
                b' ' | b'\t' if self.position == self.line_start => {
                    return Err(match self.lines {
                        0 => HeadFault::BlankStart,
                        _ => HeadFault::Fold,
                    });
                }
                b'\r' => match bytes.get(self.position + 1) {
                    // The LF may come with the next bytes: the scan goes on from this CR.
                    None => return Ok(None),
                    Some(b'\n') => {
                        let empty = self.position == self.line_start;
                        if self.lines == 0 {
                            self.first_line = self.position;
                        }
                        self.position += 2;
                        self.line_start = self.position;
                        self.lines += 1;
                        if empty {
                            return Ok(Some(self.position));
                        }
                        continue;
                    }
                    Some(_) => return Err(HeadFault::BareCr),
                },
                _ => {}
            }
            self.position += 1;
        }
        Ok(None)
    }

    /// The length of the start line seen so far.
    #[must_use]
    pub const fn first_line_bytes(&self) -> usize {
        if self.lines == 0 {
            self.position
        } else {
            self.first_line
        }
    }

    /// The number of whole lines seen.
    #[must_use]
    pub const fn line_count(&self) -> usize {
        self.lines
    }
}
