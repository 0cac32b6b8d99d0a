//! The hash chain over events: any change, gap, swap or insertion shows (engine: "Event sourcing").

use core::fmt;

use tslp_core::event::Envelope;

/// BLAKE3 over everything up to one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChainHash(pub [u8; 32]);

impl ChainHash {
    /// The chain before the first event.
    pub const GENESIS: Self = Self([0; 32]);

    /// The chain after one more event.
    #[must_use]
    pub fn extended(self, envelope: &Envelope, kind: u32, payload: &[u8]) -> Self {
        // By itself, so that what is hashed one link after the other stays small: that bounds the speed of replay.
        let digest = blake3::hash(payload);
        let mut hasher = blake3::Hasher::new();
        // Each field has a fixed width, so no two envelopes give the same bytes.
        hasher.update(&self.0);
        hasher.update(&envelope.seq.0.to_le_bytes());
        hasher.update(&envelope.at.0.to_le_bytes());
        hasher.update(&envelope.episode.0.to_le_bytes());
        hasher.update(&envelope.session.0.to_le_bytes());
        hasher.update(&[u8::from(envelope.ends_step)]);
        hasher.update(&kind.to_le_bytes());
        hasher.update(digest.as_bytes());
        Self(*hasher.finalize().as_bytes())
    }
}

impl fmt::Display for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};

    use super::*;

    /// law 3.2 | The ledger is append-only and chained; no prompt holds it
    #[test]
    fn every_part_counts() {
        let envelope = Envelope::outside(Seq(1), UnixMillis(2));
        let others = [
            Envelope {
                seq: Seq(2),
                ..envelope
            },
            Envelope {
                at: UnixMillis(3),
                ..envelope
            },
            Envelope {
                episode: EpisodeId(1),
                ..envelope
            },
            Envelope {
                session: SessionId(1),
                ..envelope
            },
            Envelope {
                ends_step: false,
                ..envelope
            },
        ];
        let chain = ChainHash::GENESIS.extended(&envelope, 7, b"payload");
        for other in others {
            assert_ne!(chain, ChainHash::GENESIS.extended(&other, 7, b"payload"));
        }
        assert_ne!(chain, ChainHash::GENESIS.extended(&envelope, 8, b"payload"));
        assert_ne!(chain, ChainHash::GENESIS.extended(&envelope, 7, b"payloae"));
        assert_ne!(chain, chain.extended(&envelope, 7, b"payload"));
    }
}
