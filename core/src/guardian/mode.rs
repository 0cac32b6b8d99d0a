//! Whether tools may run at all (spec §8.5; fail closed).

use crate::stored::stored_words;
use crate::words;

stored_words! {
    /// What tslp as a whole is able to do, the strictest last: of several, the last counts.
    Mode, "mode" {
        /// Everything works.
        Ready = "READY",
        /// No model answers; notes, adopting and diagnostics work.
        NoAiProvider = "NO_AI_PROVIDER",
        /// The sandbox and the profile are being checked.
        Attest = "ATTEST",
        /// Nothing was checked yet.
        Boot = "BOOT",
        /// No tools; chat goes on.
        SafeMode = "SAFE_MODE",
        /// Evidence is kept as it is: nothing runs and nothing is granted.
        OpPreserve = "OP_PRESERVE",
    }
}

words! {
    /// What keeps tslp from being ready.
    Hindrance, "hindrance" {
        /// It has just been started.
        Starting = "starting",
        /// The self-test is under way.
        Attesting = "attesting",
        /// The model's server doesn't answer.
        UpstreamDown = "AI-PROVIDER-UNAVAILABLE",
        /// The kernel doesn't enforce the sandbox.
        SandboxUnavailable = "sandbox_unavailable",
        /// The profile in force can't be read.
        ProfileInvalid = "profile_invalid",
        /// The ledger is damaged.
        LedgerDamaged = "ledger_damaged",
        /// A process got out of the sandbox, or tried to by a call that has no other use.
        SandboxBreach = "SANDBOX-BREACH",
    }
}

impl Hindrance {
    /// The mode that it leads to.
    #[must_use]
    pub const fn resulting_mode(self) -> Mode {
        match self {
            Self::Starting => Mode::Boot,
            Self::Attesting => Mode::Attest,
            Self::UpstreamDown => Mode::NoAiProvider,
            Self::SandboxUnavailable | Self::ProfileInvalid => Mode::SafeMode,
            Self::LedgerDamaged | Self::SandboxBreach => Mode::OpPreserve,
        }
    }
}

impl Mode {
    /// The strictest mode among those of all hindrances.
    #[must_use]
    pub fn under_hindrances(hindrances: &[Hindrance]) -> Self {
        let modes = hindrances
            .iter()
            .map(|hindrance| hindrance.resulting_mode());
        modes.max().unwrap_or(Self::Ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_of_all_hindrances_counts() {
        assert_eq!(Mode::under_hindrances(&[]), Mode::Ready);
        let check = |expected, hindrances: &[Hindrance]| {
            assert_eq!(
                Mode::under_hindrances(hindrances),
                expected,
                "{hindrances:?}"
            );
        };
        use Hindrance::{
            Attesting, LedgerDamaged, SandboxBreach, SandboxUnavailable, UpstreamDown,
        };
        check(Mode::NoAiProvider, &[UpstreamDown]);
        check(Mode::Attest, &[UpstreamDown, Attesting]);
        check(
            Mode::SafeMode,
            &[SandboxUnavailable, Attesting, UpstreamDown],
        );
        check(Mode::OpPreserve, &[SandboxUnavailable, LedgerDamaged]);
        check(Mode::OpPreserve, &[SandboxBreach, UpstreamDown]);
    }
}
