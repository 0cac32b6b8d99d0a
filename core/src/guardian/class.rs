//! Classes of commands, the capabilities that they need, and their risk.

use crate::stored::stored_words;

stored_words! {
    /// What a command does, the gravest last: of several that fit, the last counts.
    Class, "class of commands" {
        /// Looks, and changes nothing.
        Read = "READ",
        /// Runs the workspace's own code: a build or a test.
        Build = "BUILD",
        /// Changes files.
        FsMutate = "FS_MUTATE",
        /// Installs software.
        Package = "PACKAGE",
        /// Speaks to other machines.
        Network = "NETWORK",
        /// Is an interpreter: its arguments don't show what it will do.
        Shell = "SHELL",
        /// Changes the system, other processes or its own confinement.
        System = "SYSTEM",
        /// Nobody said what it does.
        Unknown = "UNKNOWN",
    }
}

impl Class {
    /// The capability that a tool needs for it; `None` if no grant is enough: there is no network in the sandbox, and
    /// nothing writes to the workspace (spec §15.3).
    #[must_use]
    pub const fn needed_capability(self) -> Option<Capability> {
        match self {
            Self::Read => Some(Capability::FsRead),
            Self::Build => Some(Capability::BuildExec),
            Self::Shell => Some(Capability::ShellExec),
            Self::FsMutate | Self::Package | Self::Network | Self::System | Self::Unknown => None,
        }
    }

    /// Whether it counts as a build: it runs the workspace's own code.
    #[must_use]
    pub const fn is_build(self) -> bool {
        matches!(self, Self::Build | Self::Shell)
    }
}

stored_words! {
    /// What a tool can be allowed to do.
    Capability, "capability" {
        /// To read the workspace; every tool may.
        FsRead = "FS_READ",
        /// To run the workspace's own code in a scratch layer.
        BuildExec = "BUILD_EXEC",
        /// To run an interpreter; only with the risk class CRITICAL.
        ShellExec = "SHELL_EXEC",
    }
}

impl Capability {
    /// The least risk class that a token for it must have.
    #[must_use]
    pub const fn least_risk(self) -> Risk {
        match self {
            Self::FsRead => Risk::Low,
            Self::BuildExec => Risk::Medium,
            Self::ShellExec => Risk::Critical,
        }
    }
}

stored_words! {
    /// How much is at stake. Only the Operator sets CRITICAL.
    Risk, "risk" {
        /// Little.
        Low = "LOW",
        /// Some.
        Medium = "MEDIUM",
        /// Much.
        High = "HIGH",
        /// Everything.
        Critical = "CRITICAL",
    }
}
