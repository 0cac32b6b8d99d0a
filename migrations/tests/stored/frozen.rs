//! Released layouts never change: their committed bytes, the root hash over all of them, and today's code on both.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tslp_core::event::Event;
use tslp_core::ids::{Seq, UnixMillis};
use tslp_core::reason::Reason;
use tslp_migrations::{LAYOUTS, decode, encode, kind_of};
use tslp_replay::chain::ChainHash;

use crate::samples::{
    frozen_reasons, samples_of_v1, samples_of_v2, samples_of_v3, samples_of_v4, samples_of_v5,
};

/// Layouts that went out together, and sample events of all of them.
struct Release {
    /// The fixtures' name.
    name: &'static str,
    /// The samples as today's events, into which old layouts are upcast.
    samples: fn() -> Vec<Event>,
    /// The last hash of the chain over the samples' stored bytes.
    root: &'static str,
}

/// All releases, oldest first. A line of this list never changes either.
const RELEASES: &[Release] = &[
    Release {
        name: "v1",
        samples: samples_of_v1,
        root: "e7da35656f624690a399d278386b170d6228ab744727edcce64544b7224bde3e",
    },
    Release {
        name: "v2",
        samples: samples_of_v2,
        root: "4a69ea5f072cdc52aeedccb38e912f143da36669b202bc04f25135171f27a5a4",
    },
    Release {
        name: "v3",
        samples: samples_of_v3,
        root: "2f7cdfc7835e0cedeb22f15170dbe282b96e4dc34291b95e6945c991b9c97dfd",
    },
    Release {
        name: "v4",
        samples: samples_of_v4,
        root: "61da5b1fbd4453a6d8203dc23b79826c8b11e8ebf708e0cfa4ed76622403c013",
    },
    Release {
        name: "v5",
        samples: samples_of_v5,
        root: "74cb1f81405c4ecdda3e479586fac29df2c05fa41c49811c0fd7c94b82d6aaca",
    },
];

/// The advice of a failing test.
const NEVER: &str = "layouts that were released never change, and neither do their fixtures: ledgers hold such bytes. \
    Undo that; for other bytes add a new version of the layout (docs/migrations.md, \"A new layout of an event\")";

/// A sample as it is committed.
struct Frozen {
    kind: String,
    payload: Vec<u8>,
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(name)
}

impl Release {
    fn frozen(&self) -> Vec<Frozen> {
        let bytes = std::fs::read(fixture(&format!("{}.bin", self.name))).unwrap();
        let index = std::fs::read_to_string(fixture(&format!("{}.index", self.name))).unwrap();
        let lines = index
            .lines()
            .filter(|line| !line.starts_with('#') && !line.starts_with("chain "));
        let mut end = 0;
        let frozen = lines.zip(1..).map(|(line, expected)| {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |word: usize| words[word].parse::<usize>().unwrap();
            let (seq, at, length) = (number(0), number(1), number(2));
            assert_eq!((seq, at, words.len()), (expected, end, 4), "{NEVER}");
            end = at + length;
            Frozen {
                kind: words[3].to_owned(),
                payload: bytes[at..end].to_owned(),
            }
        });
        let frozen: Vec<Frozen> = frozen.collect();
        assert_eq!(end, bytes.len(), "{NEVER}");
        frozen
    }
}

/// The last hash of the chain over the samples; event N is recorded at N seconds.
fn root_hash(frozen: &[Frozen]) -> ChainHash {
    frozen
        .iter()
        .zip(1u64..)
        .fold(ChainHash::GENESIS, |chain, (frozen, seq)| {
            let at = UnixMillis(i64::try_from(seq).unwrap() * 1000);
            chain.extended(Seq(seq), at, &frozen.kind, &frozen.payload)
        })
}

#[test]
fn the_root_hash_of_every_release_stands() {
    for release in RELEASES {
        assert_eq!(
            root_hash(&release.frozen()).to_string(),
            release.root,
            "the fixtures of {}: {NEVER}",
            release.name
        );
    }
}

#[test]
fn the_documents_name_every_root_hash() {
    let page = include_str!("../../../docs/migrations.md");
    for release in RELEASES {
        assert!(page.contains(release.root), "{}", release.root);
    }
}

#[test]
fn the_encoder_still_writes_the_frozen_bytes() {
    for release in RELEASES {
        let (samples, frozen) = ((release.samples)(), release.frozen());
        assert_eq!(samples.len(), frozen.len(), "samples were added: {NEVER}");
        for ((sample, frozen), seq) in samples.iter().zip(&frozen).zip(1..) {
            // A kind that has a newer layout is written in that.
            if kind_of(sample) != frozen.kind {
                continue;
            }
            let written = encode(sample).unwrap().payload;
            let (kind, name) = (&frozen.kind, release.name);
            assert!(
                written == frozen.payload,
                "sample {seq} of {name}, a {kind}, is written in other bytes: {NEVER}"
            );
        }
    }
}

#[test]
fn the_decoder_still_reads_the_frozen_bytes() {
    for release in RELEASES {
        for ((sample, frozen), seq) in (release.samples)().iter().zip(release.frozen()).zip(1..) {
            let read = decode(&frozen.kind, &frozen.payload);
            assert_eq!(
                read.as_ref(),
                Ok(sample),
                "sample {seq} of {}: {NEVER}",
                release.name
            );
        }
    }
}

#[test]
fn every_layout_is_frozen() {
    let frozen: BTreeSet<String> = RELEASES
        .iter()
        .flat_map(|release| release.frozen())
        .map(|frozen| frozen.kind)
        .collect();
    let known: BTreeSet<String> = LAYOUTS
        .iter()
        .flat_map(|(name, newest)| (1..=*newest).map(move |version| format!("{name}.v{version}")))
        .collect();
    assert_eq!(
        frozen, known,
        "every layout that is read has frozen samples"
    );
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

/// Reasons that came after version 1 was frozen: each new reason is appended here, because once written it must stay readable.
const REASONS_SINCE_V1: &[Reason] = &[
    Reason::CodeKept,
    Reason::StubInPlace,
    Reason::RemovedUnasked,
    Reason::MovedOrCopied,
    Reason::InSight,
    Reason::LeftToTools,
    Reason::NoLongerCurrent,
    Reason::TargetMissing,
    Reason::TargetOutside,
    Reason::TargetNotUsable,
    Reason::FileMissing,
    Reason::SymbolMissing,
    Reason::FileUnreadable,
    Reason::NotText,
    Reason::TooLargeToAccept,
    Reason::LanguageNotRead,
    Reason::NothingToAccept,
    Reason::SaidBefore,
    Reason::CapabilityGranted,
    Reason::CapabilityRevoked,
    Reason::NotGrantable,
    Reason::ToolsResumed,
    Reason::ToolsStopped,
    Reason::CapabilityEscalation,
    Reason::ScopeBreach,
    Reason::CommandClassViolation,
    Reason::BudgetExhausted,
    Reason::RecursiveLoop,
    Reason::CredentialInOutput,
    Reason::SandboxBreach,
    Reason::ForgedResult,
];

/// Writes the fixtures of a release that has none yet; existing ones are never written to.
#[test]
#[ignore = "writes the fixtures of a new release"]
fn freeze() {
    for release in RELEASES {
        let bin = fixture(&format!("{}.bin", release.name));
        if bin.exists() {
            continue;
        }
        let (mut bytes, mut index) = (Vec::new(), String::new());
        let mut frozen = Vec::new();
        writeln!(index, "# {}.bin: seq, offset, length, kind; event N is recorded at N * 1000 ms; then the chain's last hash", release.name).unwrap();
        for (event, seq) in (release.samples)().iter().zip(1..) {
            let encoded = encode(event).unwrap();
            let (at, length) = (bytes.len(), encoded.payload.len());
            writeln!(index, "{seq} {at} {length} {}", encoded.kind).unwrap();
            bytes.extend_from_slice(&encoded.payload);
            frozen.push(Frozen {
                kind: encoded.kind.to_owned(),
                payload: encoded.payload,
            });
        }
        writeln!(index, "chain {}", root_hash(&frozen)).unwrap();
        std::fs::write(bin, bytes).unwrap();
        std::fs::write(fixture(&format!("{}.index", release.name)), index).unwrap();
    }
}
