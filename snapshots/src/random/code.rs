//! A small vocabulary of C functions, and what models do to them.

use std::fmt::Write as _;

use tslp_core::entity::{EntityId, Symbol};
use tslp_core::hash::SliceHash;
use tslp_core::path::RelPath;
use tslp_core::slice;

/// Files of the random project; two share their base name.
pub const FILES: [&str; 3] = ["src/list.c", "src/tree.c", "lib/list.c"];

/// Functions that may be in any of them; the last two are plain words.
pub const NAMES: [&str; 5] = ["list_push", "treeGrow", "hash2", "push", "grow"];

/// Bodies that a function may have.
pub const VARIANTS: u8 = 4;

/// One definition of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Which body it has.
    pub variant: u8,
}

impl Function {
    /// The whole definition.
    #[must_use]
    pub fn text(self) -> String {
        self.named(self.name)
    }

    /// The same body under another name.
    #[must_use]
    pub fn named(self, name: &str) -> String {
        let addend = 1000 + u32::from(self.variant);
        format!(
            "int {name}(int x) {{\n    int sum = x + {addend};\n    if (sum > 100) return 100;\n    if (sum < 0) return 0;\n    return sum;\n}}\n"
        )
    }

    /// The definition with a placeholder in it.
    #[must_use]
    pub fn lazy(self) -> String {
        let addend = 2000 + u32::from(self.variant);
        format!(
            "int {}(int x) {{\n    int sum = x + {addend};\n    // ... existing code ...\n    return sum;\n}}\n",
            self.name
        )
    }

    /// Next to nothing under the same name.
    #[must_use]
    pub fn collapsed(self) -> String {
        format!("int {}(int x) {{ return x; }}\n", self.name)
    }

    /// What the State Map calls the definition.
    #[must_use]
    pub fn slice(self) -> SliceHash {
        slice::hash_of_slice(self.text().as_bytes())
    }

    /// The function as an entity of a file.
    #[must_use]
    pub fn entity(self, path: &str) -> EntityId {
        EntityId::symbol(RelPath::from_normalised(path), Symbol::new(self.name))
    }

    /// The function with this name whose definition has this hash.
    #[must_use]
    pub fn with_slice(name: &str, hash: SliceHash) -> Option<Self> {
        let name = NAMES.into_iter().find(|known| *known == name)?;
        (0..VARIANTS)
            .map(|variant| Self { name, variant })
            .find(|function| function.slice() == hash)
    }
}

/// Whether a text opens as a whole file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preamble {
    /// With an include line.
    Include,
    /// With the first function.
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
