//! The exit codes that `tslp man` documents.

use std::process::ExitCode;

/// The ways in which `tslp` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Ok = 0,
    /// Something failed that no other code names.
    Failure = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// The ledger is damaged: safe mode. `serve` ends so, too, when it is asked to stop in safe mode.
    LedgerDamaged = 3,
    /// The port or the ledger is in use by another process.
    InUse = 4,
    /// A check of `doctor`, `verify --deep`, `demo` or `tool policy` failed, or a tool's line was denied.
    CheckFailed = 5,
}

impl Exit {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 6] = [
        Self::Ok,
        Self::Failure,
        Self::Usage,
        Self::LedgerDamaged,
        Self::InUse,
        Self::CheckFailed,
    ];

    /// The number that the shell sees.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The number's meaning.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failure => "failure",
            Self::Usage => "wrong command line or configuration",
            Self::LedgerDamaged => {
                "the ledger is damaged (safe mode; serve exits with it when stopped in safe mode)"
            }
            Self::InUse => "the port or the ledger is already in use",
            Self::CheckFailed => {
                "a check failed (doctor, verify --deep, demo, tool policy), or a tool was denied"
            }
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_codes() {
        let codes: Vec<u8> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5]);
    }
}
