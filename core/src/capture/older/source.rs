//! What is said of where a text comes from.

use alloc::string::String;
use alloc::vec::Vec;

use super::By;
use crate::capture::terminal::Of;
use crate::capture::{Block, path_hint, shell, tool_call};
use crate::event::Format;

/// What is said of where a text comes from.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) path: Option<String>,
    pub(super) by: By,
    /// Other files that may stand in it.
    pub(super) named: Vec<String>,
    /// Whether it is lines that were searched for.
    pub(super) is_search: bool,
}

impl Default for Source {
    fn default() -> Self {
        Self {
            path: None,
            by: By::Terminal,
            named: Vec::new(),
            is_search: false,
        }
    }
}

impl Source {
    pub(super) fn of(asked: tool_call::Asked) -> Self {
        // Beside a command it may be where the command is run.
        let runs = asked.command.is_some();
        let names = |path: &String| !runs || path_hint::names_file(path);
        if let Some(path) = asked.path.filter(names) {
            return Self {
                path: Some(path),
                by: if asked.searches {
                    By::Search
                } else {
                    By::Reader
                },
                named: Vec::new(),
                is_search: false,
            };
        }
        let command = asked.command.unwrap_or_default();
        let shell::Shows { mut files, named } = shell::shows(&command);
        Self {
            path: files.pop().filter(|_| files.is_empty()),
            by: By::Terminal,
            named,
            is_search: false,
        }
    }

    pub(super) fn shown(path: String) -> Self {
        Self {
            path: Some(path),
            ..Self::default()
        }
    }

    /// The source of a part, which its heading may tell better.
    pub(super) fn of_part(&self, of: Of) -> Self {
        match of {
            Of::Unsaid => self.clone(),
            Of::File(path) => Self::shown(path),
            Of::Command(named) => Self {
                named,
                ..Self::default()
            },
        }
    }

    /// Whether it is the text of one file, which may quote anything.
    pub(super) fn is_file(&self) -> bool {
        self.by == By::Reader && self.path.as_deref().is_some_and(path_hint::names_file)
    }
}

/// Why a fence may hold a script or what a terminal showed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shell {
    /// It says so.
    Said,
    /// It doesn't say what it holds.
    Unsaid,
}

impl Shell {
    pub(super) fn of(block: &Block<'_>) -> Option<Self> {
        const SAID: [&str; 12] = [
            "sh",
            "bash",
            "zsh",
            "fish",
            "shell",
            "console",
            "terminal",
            "shell-session",
            "shellsession",
            "sh-session",
            "powershell",
            "ps1",
        ];
        const UNSAID: [&str; 4] = ["text", "txt", "plaintext", "output"];
        let is_file = block.path.is_some() || block.edit.is_some();
        if is_file || block.format != Format::Fence {
            return None;
        }
        match block.language.as_deref() {
            Some(language) if SAID.contains(&language) => Some(Self::Said),
            Some(language) if !UNSAID.contains(&language) => None,
            _ => Some(Self::Unsaid),
        }
    }
}
