//! Capability tokens: what the Operator allows, and until when.

use super::class::Capability;
use crate::hash::ArtifactHash;
use crate::ids::UnixMillis;

/// Longest life of a grant, and what it gets if the Operator names no time.
pub const ACTION_MINUTES: u32 = 15;

const MINUTE_MS: i64 = 60_000;

/// One grant. It needs no nonce and no signature: its event has a position in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantToken {
    /// The capability that it grants.
    pub capability: Capability,
    /// When it was given.
    pub issued_at: UnixMillis,
    /// The first moment at which it is no longer valid.
    pub expires_at: UnixMillis,
    /// The workspace that it is for.
    pub scope_root: ArtifactHash,
    /// Whether the Operator took it back.
    pub revoked: bool,
}

/// Whether a token allows an action, and if not, why. The best of several tokens is the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GrantStanding {
    /// It allows it.
    Valid,
    /// Its time was over.
    Expired,
    /// It was taken back.
    Revoked,
}

impl GrantToken {
    /// A token for the longest time.
    #[must_use]
    pub fn issue_for_session(
        capability: Capability,
        scope_root: ArtifactHash,
        now: UnixMillis,
    ) -> Self {
        Self {
            capability,
            issued_at: now,
            expires_at: minutes_after(now, ACTION_MINUTES),
            scope_root,
            revoked: false,
        }
    }

    /// The token's standing at a moment.
    #[must_use]
    pub fn standing_at(&self, now: UnixMillis) -> GrantStanding {
        if self.revoked {
            GrantStanding::Revoked
        } else if now >= self.expires_at || now < self.issued_at {
            GrantStanding::Expired
        } else {
            GrantStanding::Valid
        }
    }
}

/// The moment some minutes after `now`.
#[must_use]
pub fn minutes_after(now: UnixMillis, minutes: u32) -> UnixMillis {
    UnixMillis(now.0.saturating_add(i64::from(minutes) * MINUTE_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A token ends by time, by revocation, and when the clock is set back.
    #[test]
    fn token_end() {
        let at = |minutes: i64| UnixMillis(minutes * MINUTE_MS);
        let root = ArtifactHash::of(b"/w");
        let token = GrantToken::issue_for_session(Capability::BuildExec, root, at(0));
        assert_eq!(token.standing_at(at(14)), GrantStanding::Valid);
        assert_eq!(token.standing_at(at(15)), GrantStanding::Expired);
        assert_eq!(token.standing_at(at(-1)), GrantStanding::Expired);
        let revoked = GrantToken {
            revoked: true,
            ..token
        };
        assert_eq!(revoked.standing_at(at(1)), GrantStanding::Revoked);
    }
}
