//! Capability tokens: what the Operator allows, until when, and how often that was prolonged.

use super::class::{Capability, Risk};
use crate::hash::ArtifactHash;
use crate::ids::UnixMillis;

/// Longest life of a grant at one go, and what it gets if the Operator names no time.
pub const ACTION_MINUTES: u32 = 15;

/// No renewal keeps a grant alive for longer than this after it was issued.
pub const SESSION_MINUTES: u32 = 24 * 60;

const MINUTE_MS: i64 = 60_000;

/// One grant. It needs no nonce and no signature: its event has a position in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantToken {
    /// The number of its event.
    pub id: u64,
    /// The goal that it is bound to; without one, the session.
    pub goal: Option<u64>,
    /// The capability that it grants.
    pub capability: Capability,
    /// The risk class that the Operator set.
    pub risk: Risk,
    /// The time of the first grant; renewals don't change it.
    pub issued_at: UnixMillis,
    /// The first moment at which it is no longer valid.
    pub expires_at: UnixMillis,
    /// How often it was prolonged.
    pub renewed_count: u32,
    /// When it was last prolonged.
    pub last_renewed_at: Option<UnixMillis>,
    /// The workspace that it is for.
    pub scope_root: ArtifactHash,
    /// Whether the Operator took it back.
    pub revoked: bool,
}

/// How long grants of one capability live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GrantLimit {
    /// Longest at one go.
    pub minutes: u32,
    /// Most renewals.
    pub renewals: u32,
}

impl Default for GrantLimit {
    fn default() -> Self {
        Self {
            minutes: ACTION_MINUTES,
            renewals: SESSION_MINUTES / ACTION_MINUTES,
        }
    }
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
    /// Its risk class is too low; only the Operator can raise it.
    RiskTooLow,
}

impl GrantToken {
    /// A token for the session, of the capability's own risk, for the longest time at one go.
    #[must_use]
    pub fn issue_for_session(
        id: u64,
        capability: Capability,
        scope_root: ArtifactHash,
        now: UnixMillis,
    ) -> Self {
        Self {
            id,
            goal: None,
            capability,
            risk: capability.least_risk(),
            issued_at: now,
            expires_at: minutes_after(now, ACTION_MINUTES),
            renewed_count: 0,
            last_renewed_at: None,
            scope_root,
            revoked: false,
        }
    }

    /// Whether it is about this capability, here and for this goal at all.
    #[must_use]
    pub fn is_about(
        &self,
        capability: Capability,
        goal: Option<u64>,
        scope_root: ArtifactHash,
    ) -> bool {
        self.capability == capability
            && self.scope_root == scope_root
            && (self.goal.is_none() || self.goal == goal)
    }

    /// The token's standing at a moment.
    #[must_use]
    pub fn standing_at(&self, now: UnixMillis) -> GrantStanding {
        if self.revoked {
            GrantStanding::Revoked
        } else if now >= self.expires_at || now < self.issued_at {
            GrantStanding::Expired
        } else if self.risk < self.capability.least_risk() {
            GrantStanding::RiskTooLow
        } else {
            GrantStanding::Valid
        }
    }

    /// The token prolonged, unless it is over, or was prolonged as often or as long as it can be.
    #[must_use]
    pub fn renewed_until(&self, now: UnixMillis, minutes: u32, limit: GrantLimit) -> Option<Self> {
        let end = self.issued_at.0 + i64::from(SESSION_MINUTES) * MINUTE_MS;
        let may = self.standing_at(now) == GrantStanding::Valid
            && self.renewed_count < limit.renewals
            && now.0 < end;
        may.then(|| Self {
            expires_at: UnixMillis(minutes_after(now, minutes.min(limit.minutes)).0.min(end)),
            renewed_count: self.renewed_count + 1,
            last_renewed_at: Some(now),
            ..*self
        })
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

    const AT: fn(i64) -> UnixMillis = |minutes| UnixMillis(minutes * MINUTE_MS);

    fn token() -> GrantToken {
        GrantToken {
            id: 1,
            goal: None,
            capability: Capability::BuildExec,
            risk: Risk::Medium,
            issued_at: AT(0),
            expires_at: minutes_after(AT(0), ACTION_MINUTES),
            renewed_count: 0,
            last_renewed_at: None,
            scope_root: ArtifactHash::of(b"/w"),
            revoked: false,
        }
    }

    #[test]
    fn a_token_ends_by_time_by_word_and_by_a_clock_set_back() {
        assert_eq!(token().standing_at(AT(14)), GrantStanding::Valid);
        assert_eq!(token().standing_at(AT(15)), GrantStanding::Expired);
        assert_eq!(token().standing_at(AT(-1)), GrantStanding::Expired);
        let revoked = GrantToken {
            revoked: true,
            ..token()
        };
        assert_eq!(revoked.standing_at(AT(1)), GrantStanding::Revoked);
        let low = GrantToken {
            risk: Risk::Low,
            ..token()
        };
        assert_eq!(low.standing_at(AT(1)), GrantStanding::RiskTooLow);
    }

    #[test]
    fn renewals_are_counted_and_end_with_the_day() {
        let limit = GrantLimit {
            minutes: 15,
            renewals: 1_000,
        };
        let (mut token, mut now) = (token(), 0);
        while let Some(renewed) = token.renewed_until(AT(now), 15, limit) {
            assert_eq!(renewed.renewed_count, token.renewed_count + 1);
            (token, now) = (renewed, now + 14);
        }
        assert_eq!(token.expires_at, AT(i64::from(SESSION_MINUTES)));
        let once = GrantLimit {
            minutes: 5,
            renewals: 1,
        };
        let renewed = self::token().renewed_until(AT(1), 60, once).unwrap();
        assert_eq!(renewed.expires_at, AT(6));
        assert_eq!(renewed.renewed_until(AT(2), 5, once), None);
        assert_eq!(self::token().renewed_until(AT(20), 5, limit), None);
    }
}
