//! The table of languages: which names of files and tags of fences each has, and how its texts are read.

use tslp_core::extract::{GrammarTag, LanguageId};

use crate::language::Language;
use crate::{c, cpp, go, java, javascript, python, rust, typescript};

/// The way in which a row's texts are read.
#[derive(Clone, Copy)]
pub(crate) enum TextReader {
    /// By one grammar.
    One(&'static Language),
    /// As C or as C++, whichever has fewer errors.
    Header,
}

/// One row of the table.
pub(crate) struct LanguageRow {
    /// Extensions of file names, case counts: `.C` is C++.
    pub(crate) extensions: &'static [&'static str],
    /// Whole file names.
    pub(crate) file_names: &'static [&'static str],
    /// The family name that it shares with the languages that its texts may be mistaken for.
    pub(crate) family: &'static str,
    /// Names in info strings of fences, lower case.
    pub(crate) tags: &'static [&'static str],
    /// How texts are read.
    pub(crate) reader: TextReader,
}

/// All languages. Order is identity: add rows at the end.
static TABLE: &[LanguageRow] = &[
    LanguageRow {
        extensions: &["c"],
        file_names: &[],
        family: "c",
        tags: &["c"],
        reader: TextReader::One(&c::C),
    },
    LanguageRow {
        extensions: &[
            "cpp", "cc", "cxx", "c++", "C", "hpp", "hh", "hxx", "h++", "H", "ipp", "tpp", "inl",
            "txx", "ixx", "cppm",
        ],
        file_names: &[],
        family: "c",
        tags: &["cpp", "c++", "cxx", "cc", "hpp", "hh", "hxx"],
        reader: TextReader::One(&cpp::CPP),
    },
    LanguageRow {
        extensions: &["h"],
        file_names: &[],
        family: "c",
        tags: &["h"],
        reader: TextReader::Header,
    },
    LanguageRow {
        extensions: &["py", "pyi", "pyw"],
        file_names: &["SConstruct", "SConscript"],
        family: "python",
        tags: &["python", "py", "python3", "py3"],
        reader: TextReader::One(&python::PYTHON),
    },
    LanguageRow {
        extensions: &["js", "jsx", "mjs", "cjs"],
        file_names: &[],
        family: "javascript",
        tags: &[
            "javascript",
            "js",
            "jsx",
            "mjs",
            "cjs",
            "ecmascript",
            "node",
        ],
        reader: TextReader::One(&javascript::JAVASCRIPT),
    },
    LanguageRow {
        extensions: &["ts", "mts", "cts"],
        file_names: &[],
        family: "javascript",
        tags: &["typescript", "ts", "mts", "cts"],
        reader: TextReader::One(&typescript::TYPESCRIPT),
    },
    LanguageRow {
        extensions: &["tsx"],
        file_names: &[],
        family: "javascript",
        tags: &["tsx"],
        reader: TextReader::One(&typescript::TSX),
    },
    LanguageRow {
        extensions: &["rs"],
        file_names: &[],
        family: "rust",
        tags: &["rust", "rs"],
        reader: TextReader::One(&rust::RUST),
    },
    LanguageRow {
        extensions: &["go"],
        file_names: &[],
        family: "go",
        tags: &["go", "golang"],
        reader: TextReader::One(&go::GO),
    },
    LanguageRow {
        extensions: &["java"],
        file_names: &[],
        family: "java",
        tags: &["java"],
        reader: TextReader::One(&java::JAVA),
    },
];

/// The number of languages.
pub(crate) fn count() -> usize {
    TABLE.len()
}

/// The row of a language.
pub(crate) fn row(language: LanguageId) -> Option<&'static LanguageRow> {
    TABLE.get(usize::from(language.0))
}

/// The tags of all grammars, by language.
pub(crate) fn tags() -> Vec<GrammarTag> {
    let mut tags: Vec<GrammarTag> = TABLE
        .iter()
        .filter_map(|row| match row.reader {
            TextReader::One(language) => Some(language.tag()),
            TextReader::Header => None,
        })
        .collect();
    tags.sort();
    tags
}

/// The language of files with this name. The case of an extension counts where two languages differ by it.
pub(crate) fn of_file(basename: &str, extension: Option<&str>) -> Option<LanguageId> {
    let by_extension = |same: fn(&str, &str) -> bool| {
        let extension = extension?;
        id_where(|row| row.extensions.iter().any(|known| same(known, extension)))
    };
    id_where(|row| row.file_names.contains(&basename))
        .or_else(|| by_extension(|known, extension| known == extension))
        .or_else(|| by_extension(str::eq_ignore_ascii_case))
}

/// The language a fence's tag names.
pub(crate) fn of_tag(tag: &str) -> Option<LanguageId> {
    id_where(|row| row.tags.iter().any(|known| known.eq_ignore_ascii_case(tag)))
}

fn id_where(matches: impl Fn(&LanguageRow) -> bool) -> Option<LanguageId> {
    let index = TABLE.iter().position(matches)?;
    u8::try_from(index).ok().map(LanguageId)
}
