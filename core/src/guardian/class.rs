//! What kind of thing a command does, and what it needs to be allowed to do it.

use crate::words;

words! {
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
        /// Is an interpreter: its words don't tell what it does.
        Shell = "SHELL",
        /// Changes the system, other processes or its own confinement.
        System = "SYSTEM",
        /// Nobody said what it does.
        Unknown = "UNKNOWN",
    }
}

impl Class {
    /// What a tool needs for it; `None` if no tool may do it, whoever grants it: there is no network in the sandbox, and
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

    /// What would be needed for a class that no tool may have, for the words of a denial.
    #[must_use]
    pub const fn missing_capability(self) -> &'static str {
        match self {
            Self::FsMutate => "FS_WRITE",
            Self::Package => "PACKAGE_EXEC",
            Self::Network => "a NET_* token",
            Self::System => "PROCESS_KILL or more",
            Self::Read | Self::Build | Self::Shell | Self::Unknown => "a known class",
        }
    }
}

words! {
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

words! {
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
