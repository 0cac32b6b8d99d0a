//! Body framing, incremental: by length, chunked, or until the connection ends.

use core::ops::Range;

/// Longest chunk-size line with its extensions, and longest trailer section.
const CHUNK_LINE_BYTES_MAX: usize = 4096;
const TRAILER_BYTES_MAX: usize = 16 * 1024;

/// The reason why a body can't be read further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// The chunk size isn't plain hexadecimal, or doesn't fit 63 bits.
    #[error("the chunk size is not a plain hexadecimal number")]
    ChunkSize,
    /// A chunk-size line or the trailer section is too long.
    #[error("a chunk extension or the trailer section is too long")]
    TooLong,
    /// A line doesn't end with CRLF, or a chunk isn't followed by CRLF.
    #[error("a chunk does not end with CR LF")]
    LineEnd,
    /// A control character in a chunk extension or trailer.
    #[error("a chunk extension or trailer has a control character")]
    Control,
}

/// One step of decoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyPiece {
    /// The number of input bytes consumed. 0 means that more input is needed, or that the body is complete.
    pub consumed: usize,
    /// The range of body bytes in the input; may be empty.
    pub data: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkState {
    SizeFirst,
    Size { value: u64, digits: u8 },
    Extension,
    SizeLf { value: u64 },
    Data { left: u64 },
    DataCr,
    DataLf,
    TrailerStart,
    Trailer,
    TrailerLf,
    EndLf,
    Done,
}

/// Decodes one body. Any input gives a step or an error, never a panic.
#[derive(Clone, Debug)]
pub struct BodyDecoder {
    framing: BodyFraming,
}

#[derive(Clone, Debug)]
enum BodyFraming {
    Length {
        left: u64,
    },
    Chunked {
        at: ChunkState,
        size: u64,
        line: usize,
    },
    UntilClose,
}

impl BodyDecoder {
    /// A body of exactly this length.
    #[must_use]
    pub const fn with_length(bytes: u64) -> Self {
        Self {
            framing: BodyFraming::Length { left: bytes },
        }
    }

    /// A chunked body.
    #[must_use]
    pub const fn chunked() -> Self {
        Self {
            framing: BodyFraming::Chunked {
                at: ChunkState::SizeFirst,
                size: 0,
                line: 0,
            },
        }
    }

    /// A body that lasts until the connection ends (responses only).
    #[must_use]
    pub const fn until_close() -> Self {
        Self {
            framing: BodyFraming::UntilClose,
        }
    }

    /// Whether the body is complete by its own framing.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        match &self.framing {
            BodyFraming::Length { left } => *left == 0,
            BodyFraming::Chunked { at, .. } => matches!(at, ChunkState::Done),
            BodyFraming::UntilClose => false,
        }
    }

    /// Whether the end of the connection is a proper end of this body.
    #[must_use]
    pub const fn ends_with_connection(&self) -> bool {
        self.is_complete() || matches!(self.framing, BodyFraming::UntilClose)
    }

    /// Takes the next piece of `input`; call again with the rest until nothing is consumed.
    pub fn next_piece(&mut self, input: &[u8]) -> Result<BodyPiece, BodyError> {
        match &mut self.framing {
            BodyFraming::Length { left } => {
                let count = bounded_len(input.len(), *left);
                *left -= count as u64;
                Ok(BodyPiece {
                    consumed: count,
                    data: 0..count,
                })
            }
            BodyFraming::UntilClose => Ok(BodyPiece {
                consumed: input.len(),
                data: 0..input.len(),
            }),
            BodyFraming::Chunked { at, size, line } => chunk_step(at, size, line, input),
        }
    }
}

fn bounded_len(available: usize, left: u64) -> usize {
    usize::try_from(left).map_or(available, |left| available.min(left))
}

fn chunk_step(
    at: &mut ChunkState,
    size: &mut u64,
    line: &mut usize,
    input: &[u8],
) -> Result<BodyPiece, BodyError> {
    let mut position = 0;
    while position < input.len() && *at != ChunkState::Done {
        if let ChunkState::Data { left } = at {
            debug_assert!(*left > 0, "a chunk of size 0 is the last one");
            let count = bounded_len(input.len() - position, *left);
            *left -= count as u64;
            if *left == 0 {
                *at = ChunkState::DataCr;
            }
            let data = position..position + count;
            return Ok(BodyPiece {
                consumed: data.end,
                data,
            });
        }
        *at = chunk_byte(*at, size, line, input[position])?;
        position += 1;
    }
    Ok(BodyPiece {
        consumed: position,
        data: position..position,
    })
}

/// One framing byte outside chunk data.
fn chunk_byte(
    at: ChunkState,
    size: &mut u64,
    line: &mut usize,
    byte: u8,
) -> Result<ChunkState, BodyError> {
    *line += 1;
    let line_max = match at {
        ChunkState::TrailerStart | ChunkState::Trailer | ChunkState::TrailerLf => TRAILER_BYTES_MAX,
        _ => CHUNK_LINE_BYTES_MAX,
    };
    if *line > line_max {
        return Err(BodyError::TooLong);
    }
    match (at, byte) {
        // Digits alone, as RFC 9112 §7.1 has it: parsers disagree about signs, blanks and `0x`, and that is how a second
        // request is smuggled in.
        (ChunkState::SizeFirst, _) => {
            let value = hex_digit(byte).ok_or(BodyError::ChunkSize)?;
            Ok(ChunkState::Size { value, digits: 1 })
        }
        (ChunkState::Size { value, .. }, b'\r') => Ok(ChunkState::SizeLf { value }),
        (ChunkState::Size { value, .. }, b';') => {
            *size = value;
            Ok(ChunkState::Extension)
        }
        (ChunkState::Size { value, digits }, _) => {
            let digit = hex_digit(byte).ok_or(BodyError::ChunkSize)?;
            // 15 digits stay below 2^60: no honest chunk is longer.
            if digits >= 15 {
                return Err(BodyError::ChunkSize);
            }
            Ok(ChunkState::Size {
                value: value * 16 + digit,
                digits: digits + 1,
            })
        }
        (ChunkState::Extension, b'\r') => Ok(ChunkState::SizeLf { value: *size }),
        (ChunkState::Extension | ChunkState::Trailer, _)
            if byte == b'\t' || (byte >= b' ' && byte != 127) =>
        {
            Ok(at)
        }
        (ChunkState::SizeLf { value }, b'\n') => {
            *line = 0;
            Ok(match value {
                0 => ChunkState::TrailerStart,
                left => ChunkState::Data { left },
            })
        }
        (ChunkState::DataCr, b'\r') => Ok(ChunkState::DataLf),
        (ChunkState::DataLf, b'\n') => {
            *line = 0;
            Ok(ChunkState::SizeFirst)
        }
        (ChunkState::TrailerStart, b'\r') => Ok(ChunkState::EndLf),
        // A folded line could be read as a part of the one before, or as a field.
        (ChunkState::TrailerStart, b' ' | b'\t') => Err(BodyError::Control),
        (ChunkState::TrailerStart, _) if byte > b' ' && byte != 127 => Ok(ChunkState::Trailer),
        (ChunkState::Trailer, b'\r') => Ok(ChunkState::TrailerLf),
        // The count goes on over the whole section. Trailers are checked and dropped, as RFC 9112 §7.1.2 allows.
        (ChunkState::TrailerLf, b'\n') => Ok(ChunkState::TrailerStart),
        (ChunkState::EndLf, b'\n') => Ok(ChunkState::Done),
        (ChunkState::Extension | ChunkState::Trailer | ChunkState::TrailerStart, _) => {
            Err(BodyError::Control)
        }
        _ => Err(BodyError::LineEnd),
    }
}

const fn hex_digit(byte: u8) -> Option<u64> {
    match byte {
        b'0'..=b'9' => Some((byte - b'0') as u64),
        b'a'..=b'f' => Some((byte - b'a' + 10) as u64),
        b'A'..=b'F' => Some((byte - b'A' + 10) as u64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(
        mut decoder: BodyDecoder,
        pieces: &[&[u8]],
    ) -> Result<(Vec<u8>, bool, usize), BodyError> {
        let mut body = Vec::new();
        let mut left_over = 0;
        for piece in pieces {
            let mut rest = *piece;
            loop {
                let step = decoder.next_piece(rest)?;
                body.extend_from_slice(&rest[step.data.clone()]);
                rest = &rest[step.consumed..];
                if step.consumed == 0 || rest.is_empty() {
                    break;
                }
            }
            left_over += rest.len();
        }
        Ok((body, decoder.is_complete(), left_over))
    }

    #[test]
    fn any_split() {
        let whole = b"5;name=\"v\"\r\nhello\r\n0006\r\n world\r\n0\r\nTrailer: x\r\n\r\n";
        for split in 0..whole.len() {
            let (head, tail) = whole.split_at(split);
            let (body, complete, left) = decode(BodyDecoder::chunked(), &[head, tail]).unwrap();
            assert_eq!(
                (body.as_slice(), complete, left),
                (&b"hello world"[..], true, 0)
            );
        }
    }

    #[test]
    fn odd_chunks() {
        let cases: [(&[u8], BodyError); 12] = [
            (b"+5\r\nhello", BodyError::ChunkSize),
            (b"-1\r\n", BodyError::ChunkSize),
            (b"0x5\r\nhello", BodyError::ChunkSize),
            (b" 5\r\nhello", BodyError::ChunkSize),
            (b"5 \r\nhello", BodyError::ChunkSize),
            (b"\r\n", BodyError::ChunkSize),
            (b"ffffffffffffffff\r\n", BodyError::ChunkSize),
            (b"5\nhello", BodyError::ChunkSize),
            (b"5\r\nhello\n", BodyError::LineEnd),
            (b"5\r\nhelloX", BodyError::LineEnd),
            (b"5;a\nb", BodyError::Control),
            (b"0\r\n folded\r\n\r\n", BodyError::Control),
        ];
        for (input, expected) in cases {
            let found = decode(BodyDecoder::chunked(), &[input]).unwrap_err();
            assert_eq!(found, expected, "{}", String::from_utf8_lossy(input));
        }
    }

    #[test]
    fn rest_of_input() {
        let found = decode(BodyDecoder::with_length(3), &[b"abcGET"]).unwrap();
        assert_eq!(found, (b"abc".to_vec(), true, 3));
        let found = decode(BodyDecoder::chunked(), &[b"1\r\na\r\n0\r\n\r\nGET"]).unwrap();
        assert_eq!(found, (b"a".to_vec(), true, 3));
    }
}
