//! Bodies that a server compresses though nobody asked for it: read, and delivered, as what they hold.

use std::io::{self, Write as _};

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::response::{ResponseBody, ResponseHead};

/// Bytes that are taken at a time: what they hold is at most about a thousand times as long.
const PIECE_BYTES: usize = 1024;

/// How a response's body is coded.
#[derive(Debug)]
pub enum BodyCoding {
    /// Not at all.
    Plain,
    /// In a way that is read.
    Known(Inflate),
    /// In another way.
    Unknown,
}

/// Reads one compressed body.
#[derive(Debug)]
pub struct Inflate(Coding);

#[derive(Debug)]
enum Coding {
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    /// Its first byte shows whether it has a head, as the standard says and some servers don't.
    Deflate,
    Zlib(Box<ZlibDecoder<Vec<u8>>>),
    Raw(Box<DeflateDecoder<Vec<u8>>>),
}

impl BodyCoding {
    /// As a head says. Where it is read the head then says nothing of it any more, nor of its length.
    #[must_use]
    pub fn of_response(head: &mut ResponseHead) -> Self {
        let coding = head.headers.first_text("content-encoding");
        let coding = match coding.map(|it| it.trim().to_ascii_lowercase()).as_deref() {
            None | Some("" | "identity") => return Self::Plain,
            Some("gzip" | "x-gzip") => Coding::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            Some("deflate") => Coding::Deflate,
            Some(_) => return Self::Unknown,
        };
        head.headers.remove("content-encoding");
        if head.body != ResponseBody::Absent {
            head.body = ResponseBody::Chunked;
        }
        Self::Known(Inflate(coding))
    }
}

impl Inflate {
    /// Hands what more of a body holds to `take`, in pieces.
    ///
    /// # Errors
    /// When it isn't what its head says.
    pub fn push(&mut self, data: &[u8], mut take: impl FnMut(&[u8])) -> io::Result<()> {
        if let (Coding::Deflate, Some(first)) = (&self.0, data.first()) {
            self.0 = match first & 0x0f {
                8 => Coding::Zlib(Box::new(ZlibDecoder::new(Vec::new()))),
                _ => Coding::Raw(Box::new(DeflateDecoder::new(Vec::new()))),
            };
        }
        for piece in data.chunks(PIECE_BYTES) {
            macro_rules! inflate {
                ($decoder:expr) => {{
                    $decoder.write_all(piece)?;
                    $decoder.flush()?;
                    $decoder.get_mut()
                }};
            }
            let held = match &mut self.0 {
                Coding::Gzip(decoder) => inflate!(decoder),
                Coding::Zlib(decoder) => inflate!(decoder),
                Coding::Raw(decoder) => inflate!(decoder),
                Coding::Deflate => break,
            };
            take(held);
            held.clear();
        }
        Ok(())
    }

    /// The body is over.
    ///
    /// # Errors
    /// When it ends before what it holds does.
    pub fn end(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Coding::Gzip(decoder) => decoder.try_finish(),
            Coding::Zlib(decoder) => decoder.try_finish(),
            Coding::Raw(decoder) => decoder.try_finish(),
            Coding::Deflate => Ok(()),
        }
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
            let BodyCoding::Known(mut inflate) = BodyCoding::of_response(&mut head) else {
                panic!("gzip is known");
            };
            assert_eq!(head.headers.first_text("content-encoding"), None);
            assert_eq!(head.body, ResponseBody::Chunked);
            let mut got = Vec::new();
            for part in [&body[..split], &body[split..]] {
                inflate
                    .push(part, |more| got.extend_from_slice(more))
                    .unwrap();
            }
            assert_eq!(got, text.as_bytes(), "{split}");
            assert!(inflate.end().is_ok(), "{split}");
            assert!(inflate.push(b"no gzip", |_| {}).is_err() || !got.is_empty());
        }
    }

    #[test]
    fn cut_bodies() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"a reply").unwrap();
        let gzip = gzip.finish().unwrap();
        let mut decoders = [
            Inflate(Coding::Gzip(Box::new(MultiGzDecoder::new(Vec::new())))),
            Inflate(Coding::Deflate),
        ];
        for (inflate, body) in decoders
            .iter_mut()
            .zip([&gzip[..], &gzip[10..gzip.len() - 8]])
        {
            let mut got = Vec::new();
            inflate
                .push(&body[..body.len() - 2], |more| got.extend_from_slice(more))
                .unwrap();
            assert!(inflate.end().is_err(), "it is cut");
        }
    }
}
