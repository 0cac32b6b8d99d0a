//! The committed bytes: today's encoder still writes them, today's decoder still reads them.

use std::fmt::Write as _;
use std::path::Path;

use tslp_core::ids::{Seq, UnixMillis};
use tslp_core::reason::Reason;
use tslp_migrations::{decode, encode};
use tslp_replay::chain::ChainHash;

use crate::samples::{frozen_reasons, samples};

const BYTES: &[u8] = include_bytes!("../../fixtures/v1.bin");
const INDEX: &str = include_str!("../../fixtures/v1.index");

/// One line of the index.
struct Line {
    kind: &'static str,
    payload: &'static [u8],
}

fn lines() -> Vec<Line> {
    INDEX
        .lines()
        .filter(|line| !line.starts_with('#') && !line.starts_with("chain "))
        .map(|line| {
            let mut words = line.split_whitespace();
            let mut number = || words.next().unwrap().parse::<usize>().unwrap();
            let (_seq, at, length) = (number(), number(), number());
            Line {
                kind: words.next().unwrap(),
                payload: &BYTES[at..at + length],
            }
        })
        .collect()
}

/// Bytes and index of the sample events, as the encoder writes them now. Event N is recorded at N seconds.
fn written() -> (Vec<u8>, String) {
    let mut bytes = Vec::new();
    let mut index = String::from(
        "# v1.bin: seq, offset, length, kind; event N is recorded at N * 1000 ms; then the chain's last hash\n",
    );
    let mut chain = ChainHash::GENESIS;
    for (event, seq) in samples().iter().zip(1u64..) {
        let encoded = encode(event).unwrap();
        let at = UnixMillis(i64::try_from(seq).unwrap() * 1000);
        chain = chain.extended(Seq(seq), at, encoded.kind, &encoded.payload);
        writeln!(
            index,
            "{seq} {} {} {}",
            bytes.len(),
            encoded.payload.len(),
            encoded.kind
        )
        .unwrap();
        bytes.extend_from_slice(&encoded.payload);
    }
    writeln!(index, "chain {chain}").unwrap();
    (bytes, index)
}

#[test]
fn the_encoder_still_writes_the_frozen_bytes() {
    let (bytes, index) = written();
    assert_eq!(index, INDEX);
    assert!(bytes == BYTES, "same lengths, other bytes");
}

#[test]
fn the_decoder_still_reads_the_frozen_bytes() {
    let decoded: Vec<_> = lines()
        .iter()
        .map(|line| decode(line.kind, line.payload).unwrap())
        .collect();
    assert_eq!(decoded, samples());
}

#[test]
fn every_kind_of_event_is_frozen() {
    let mut kinds: Vec<&str> = lines().iter().map(|line| line.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), 15, "{kinds:?}");
}

#[test]
fn every_reason_is_frozen() {
    let frozen = frozen_reasons();
    for reason in Reason::ALL {
        assert!(
            frozen.contains(reason) || REASONS_SINCE_V1.contains(reason),
            "`{reason}` is new: add it to REASONS_SINCE_V1"
        );
    }
}

/// Reasons that came after version 1 was frozen. Once written they must stay readable, too.
const REASONS_SINCE_V1: &[Reason] = &[];

/// Before version 1 is released: `cargo test -p tslp-migrations -- --ignored freeze`. After that: never again.
#[test]
#[ignore = "overwrites the frozen bytes"]
fn freeze() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let reasons: Vec<&str> = Reason::ALL.iter().map(|reason| reason.code()).collect();
    std::fs::write(folder.join("reasons.txt"), reasons.join("\n") + "\n").unwrap();
    let (bytes, index) = written();
    std::fs::write(folder.join("v1.bin"), bytes).unwrap();
    std::fs::write(folder.join("v1.index"), index).unwrap();
}
