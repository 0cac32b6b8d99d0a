//! A policy profile: what the Operator decides beforehand, read from a file outside of the workspace.

use alloc::string::String;
use alloc::vec::Vec;

use super::class::{Capability, Class};
use super::grant::ACTION_MINUTES;

/// What the Operator can decide. What can't be lifted (the jail, the classes that no tool may have, capabilities, the sandbox)
/// isn't expressible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolProfile {
    /// Its id, by which events name it.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The only programs that may run; empty: any that the table of commands knows.
    pub programs: Vec<String>,
    /// Minutes that grants live, where fewer than [`ACTION_MINUTES`].
    pub grants: Vec<(Capability, u32)>,
    /// Builds and interpreters that run until the Operator resumes.
    pub builds: u64,
    /// Longest run of a build or an interpreter, in seconds.
    pub build_seconds: u64,
    /// Longest run of a line that only reads, in seconds.
    pub read_seconds: u64,
}

impl ToolProfile {
    /// The profile in force until the Operator approves another one: reading for half a minute, builds and interpreters for five
    /// minutes, where they are granted.
    #[must_use]
    pub fn built_in() -> Self {
        Self {
            id: "built-in".into(),
            name: "Default".into(),
            programs: Vec::new(),
            grants: Vec::new(),
            builds: 5,
            build_seconds: 300,
            read_seconds: 30,
        }
    }

    /// The minutes that grants of a capability live at most.
    #[must_use]
    pub fn grant_minutes(&self, capability: Capability) -> u32 {
        let mut limits = self.grants.iter();
        let found = limits.find(|(of, _)| *of == capability);
        found.map_or(ACTION_MINUTES, |(_, minutes)| *minutes)
    }

    /// The rule that allows a class, by its id, and the longest run in seconds that it sets.
    #[must_use]
    pub const fn rule_for(&self, class: Class) -> Option<(&'static str, u64)> {
        match class.needed_capability() {
            Some(Capability::FsRead) => Some(("read", self.read_seconds)),
            Some(Capability::BuildExec | Capability::ShellExec) => {
                Some(("build", self.build_seconds))
            }
            None => None,
        }
    }
}
