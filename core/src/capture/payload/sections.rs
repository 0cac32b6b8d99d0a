//! Edits as they were read: one section for each file.

use alloc::vec;
use alloc::vec::Vec;

use crate::capture::block::Closing;
use crate::capture::path_hint::PathHint;
use crate::edit::{Edit, Malformed};
use crate::event::Format;

/// An edit of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::capture) struct FileSection {
    /// Its start in the piece; it ends where the next one starts.
    pub(in crate::capture) start: usize,
    /// The path that the section itself names.
    pub(in crate::capture) hint: Option<PathHint>,
    /// The edit.
    pub(in crate::capture) edit: Result<Edit, Malformed>,
}

/// The edits of a piece: at least one section, all in one format.
pub(in crate::capture) struct ParsedEdits {
    /// The format.
    pub(in crate::capture) format: Format,
    /// The sections.
    pub(in crate::capture) sections: Vec<FileSection>,
}

impl ParsedEdits {
    /// The sections that were read. Without one the text is malformed; if `is_sound` is false, all of it is.
    pub(super) fn new(format: Format, sections: Vec<FileSection>, is_sound: bool) -> Self {
        if sections.is_empty() {
            return Self::one(format, Err(Malformed));
        }
        let edits = Self { format, sections };
        if is_sound {
            edits
        } else {
            edits.all_malformed()
        }
    }

    /// An edit of one file that it doesn't name.
    pub(super) fn one(format: Format, edit: Result<Edit, Malformed>) -> Self {
        let section = FileSection {
            start: 0,
            hint: None,
            edit,
        };
        Self {
            format,
            sections: vec![section],
        }
    }

    /// The same in a call, which may break off.
    pub(in crate::capture) fn of_call(self, closing: Closing) -> Self {
        let edits = Self {
            format: Format::ToolCall,
            ..self
        };
        match closing {
            Closing::Closed => edits,
            Closing::Unclosed => edits.all_malformed(),
        }
    }

    /// Makes all sections malformed: if one can't be read, none is applied.
    pub(super) fn all_malformed(mut self) -> Self {
        for section in &mut self.sections {
            section.edit = Err(Malformed);
        }
        self
    }
}
