//! Classes of commands, the capabilities that they need, and their risk.

/// An enum whose variants are written as words in profiles, tables and reports.
macro_rules! words {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$inner])* $variant,)+ }

        impl $name {
            /// All of them, in order.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Their words, in the same order.
            pub const WORDS: &[&str] = &[$($word,)+];

            /// The word for it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// The variant with this word.
            #[must_use]
            pub fn of_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.as_str() == word)
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
pub(super) use words;

words! {
    /// What a command does, the gravest last: of several that fit, the last counts.
    Class {
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

    /// The capability that a denial names for a class that no tool may have.
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
    Capability {
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
    Risk {
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
