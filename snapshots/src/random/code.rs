//! A small vocabulary of C functions, and how models change them.

use std::fmt::Write as _;

use tslp_core::entity::{EntityId, Symbol};
use tslp_core::hash::SliceHash;
use tslp_core::path::RelPath;
use tslp_core::slice;

/// Files of the random project; two share their base name.
pub const FILES: [&str; 3] = ["src/list.c", "src/tree.c", "lib/list.c"];

/// Functions that may be in any of them; the last two are plain words.
pub const NAMES: [&str; 5] = ["list_push", "treeGrow", "hash2", "push", "grow"];

/// The number of bodies that a function may have.
pub const VARIANTS: u8 = 4;

/// One definition of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// The number of its body, below [`VARIANTS`].
    pub variant: u8,
}

impl Function {
    /// The whole definition.
    #[must_use]
    pub fn text(self) -> String {
        self.text_named(self.name)
    }

    /// The same body under another name.
    #[must_use]
    pub fn text_named(self, name: &str) -> String {
        let addend = 1000 + u32::from(self.variant);
        format!(
            "int {name}(int x) {{\n    int sum = x + {addend};\n    if (sum > 100) return 100;\n    if (sum < 0) return 0;\n    return sum;\n}}\n"
        )
    }

    /// The same name with the next body.
    #[must_use]
    pub const fn with_next_body(self) -> Self {
        Self {
            variant: (self.variant + 1) % VARIANTS,
            ..self
        }
    }

    /// The definition with a placeholder in it.
    #[must_use]
    pub fn lazy_text(self) -> String {
        let addend = 2000 + u32::from(self.variant);
        format!(
            "int {}(int x) {{\n    int sum = x + {addend};\n    // ... existing code ...\n    return sum;\n}}\n",
            self.name
        )
    }

    /// A body that does nothing, under the same name.
    #[must_use]
    pub fn collapsed_text(self) -> String {
        format!("int {}(int x) {{ return x; }}\n", self.name)
    }

    /// The hash under which the State Map has the definition.
    #[must_use]
    pub fn slice_hash(self) -> SliceHash {
        slice::hash_of_slice(self.text().as_bytes())
    }

    /// The function as an entity of a file.
    #[must_use]
    pub fn entity_in(self, path: &str) -> EntityId {
        EntityId::symbol(RelPath::from_normalised(path), Symbol::new(self.name))
    }

    /// The function with this name whose definition has this hash.
    #[must_use]
    pub fn with_slice(name: &str, hash: SliceHash) -> Option<Self> {
        let name = NAMES.into_iter().find(|known| *known == name)?;
        (0..VARIANTS)
            .map(|variant| Self { name, variant })
            .find(|function| function.slice_hash() == hash)
    }
}

/// The first line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preamble {
    /// An include line.
    Include,
    /// The first function.
    None,
}

/// Functions as the text of a file.
#[must_use]
pub fn text_of(functions: &[Function], preamble: Preamble) -> String {
    let mut text = String::new();
    if preamble == Preamble::Include {
        text.push_str("#include <project.h>\n\n");
    }
    for function in functions {
        let _ = writeln!(text, "{}", function.text());
    }
    text
}

/// The functions with this one in its namesake's place, or after them.
#[must_use]
pub fn with_function(functions: &[Function], function: Function) -> Vec<Function> {
    let mut changed = functions.to_vec();
    match changed.iter_mut().find(|old| old.name == function.name) {
        Some(old) => *old = function,
        None => changed.push(function),
    }
    changed
}

/// A fenced block with its path in one of the three positions in which it counts.
#[must_use]
pub fn fenced_block(position: usize, path: &str, code: &str) -> String {
    match position {
        0 => format!("Here:\n```c:{path}\n{code}```\n"),
        1 => format!("**{path}**\n```c\n{code}```\n"),
        _ => format!("```c {path}\n{code}```\n"),
    }
}
