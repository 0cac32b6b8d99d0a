//! Bodies that a server compresses though nobody asked for it: read, and delivered, as what they hold.

use std::io::{self, Write as _};

use flate2::write::{MultiGzDecoder, ZlibDecoder};

use super::response::{ResponseBody, ResponseHead};

/// Bytes that are taken at a time: what they hold is at most about a thousand times as long.
const PIECE_BYTES: usize = 1024;

/// Reads one compressed body.
#[derive(Debug)]
pub struct Inflate(Coding);

#[derive(Debug)]
enum Coding {
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Deflate(Box<ZlibDecoder<Vec<u8>>>),
}

impl Inflate {
    /// For a response whose head names a coding that is known: its head then says nothing of it any more, nor of its length.
    #[must_use]
    pub fn of_response(head: &mut ResponseHead) -> Option<Self> {
        let coding = head.headers.first_text("content-encoding")?.trim();
        let coding = match coding.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Coding::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            "deflate" => Coding::Deflate(Box::new(ZlibDecoder::new(Vec::new()))),
            _ => return None,
        };
        head.headers.remove("content-encoding");
        if head.body != ResponseBody::Absent {
            head.body = ResponseBody::Chunked;
        }
        Some(Self(coding))
    }

    /// Hands what more of a body holds to `take`, in pieces.
    ///
    /// # Errors
    /// When it isn't what its head says.
    pub fn push(&mut self, data: &[u8], mut take: impl FnMut(&[u8])) -> io::Result<()> {
        for piece in data.chunks(PIECE_BYTES) {
            let held = match &mut self.0 {
                Coding::Gzip(decoder) => {
                    decoder.write_all(piece)?;
                    decoder.flush()?;
                    decoder.get_mut()
                }
                Coding::Deflate(decoder) => {
                    decoder.write_all(piece)?;
                    decoder.flush()?;
                    decoder.get_mut()
                }
            };
            take(held);
            held.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::http::head_scan::HeadScan;
    use crate::http::response::{ExpectedBody, ResponseProgress, parse_head};

    #[test]
    fn split_anywhere() {
        let text = "a reply of some length, ".repeat(200);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        let body = gzip.finish().unwrap();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: GZip\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let mut scan = HeadScan::default();
        let read = parse_head(head.as_bytes(), &mut scan, ExpectedBody::WithBody).unwrap();
        let ResponseProgress::Complete(head, _) = read else {
            panic!("a whole head");
        };
        for split in 0..body.len() {
            let mut head = (*head).clone();
            let mut inflate = Inflate::of_response(&mut head).unwrap();
            assert_eq!(head.headers.first_text("content-encoding"), None);
            assert_eq!(head.body, ResponseBody::Chunked);
            let mut got = Vec::new();
            for part in [&body[..split], &body[split..]] {
                inflate
                    .push(part, |more| got.extend_from_slice(more))
                    .unwrap();
            }
            assert_eq!(got, text.as_bytes(), "{split}");
            assert!(inflate.push(b"no gzip", |_| {}).is_err() || !got.is_empty());
        }
    }
}
