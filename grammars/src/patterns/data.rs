//! `symbols.json` as it is written: languages without a grammar, their lexical rules and their definitions.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// The only layout of the file that is read.
const FORMAT: u64 = 1;

/// One language. docs/languages.md says what each field is for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LanguageData {
    pub(crate) name: String,
    /// The language that its texts may be taken for, if any.
    #[serde(default)]
    pub(crate) family: Option<String>,
    pub(crate) tags: Vec<String>,
    #[serde(default)]
    pub(crate) extensions: Vec<String>,
    #[serde(default)]
    pub(crate) file_names: Vec<String>,
    pub(crate) layout: Layout,
    #[serde(default)]
    pub(crate) statements_end: StatementEnd,
    pub(crate) separator: String,
    #[serde(default)]
    pub(crate) ignores_case: bool,
    /// What `{…}` stands for in patterns; `{id}` is an identifier.
    pub(crate) words: BTreeMap<String, String>,
    /// Bytes that belong to words, besides letters, digits and `_`.
    #[serde(default)]
    pub(crate) word_bytes: String,
    /// Comments and literals, in the order in which they are tried.
    pub(crate) spans: Vec<SpanData>,
    #[serde(default)]
    pub(crate) regex_literals: bool,
    /// Where code begins in files that hold something else around it.
    #[serde(default)]
    pub(crate) islands: Option<Islands>,
    /// How lines begin that are no code.
    #[serde(default)]
    pub(crate) directive: Option<String>,
    /// Pairs of brackets.
    #[serde(default = "all_brackets")]
    pub(crate) brackets: String,
    /// Closing brackets that may stand alone.
    #[serde(default)]
    pub(crate) loose_closers: String,
    /// Pairs of words that enclose as brackets do.
    #[serde(default)]
    pub(crate) keyword_blocks: Vec<KeywordBlock>,
    /// Words that go on with a statement when they begin a line.
    #[serde(default)]
    pub(crate) continues: Vec<String>,
    /// Words after which a brace belongs to a type.
    #[serde(default)]
    pub(crate) type_words: Vec<String>,
    /// Marks after which a brace belongs to a type.
    #[serde(default)]
    pub(crate) type_marks: String,
    /// What may stand in front of a definition and belongs to it; a bracket that follows directly is taken along.
    #[serde(default)]
    pub(crate) annotation: Option<String>,
    /// Annotations that make a definition a mere declaration.
    #[serde(default)]
    pub(crate) declares_only: Option<String>,
    /// Annotations whose group `suffix` is part of the symbol.
    #[serde(default)]
    pub(crate) accessor: Option<String>,
    /// Beginnings of statements that define nothing.
    #[serde(default)]
    pub(crate) reject: Option<String>,
    /// What only a whole file has.
    #[serde(default)]
    pub(crate) preamble: Option<String>,
    pub(crate) definitions: Vec<RuleData>,
    #[serde(default)]
    pub(crate) stubs: Vec<String>,
    #[serde(default)]
    pub(crate) stubs_with_remark: Vec<String>,
}

fn all_brackets() -> String {
    "()[]{}".to_owned()
}

/// How a language shows where a definition ends.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Layout {
    /// By brackets, or by words that come in pairs.
    Brackets,
    /// By indentation.
    Indentation,
}

/// What ends a statement.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StatementEnd {
    /// A semicolon alone.
    #[default]
    Semicolon,
    /// A semicolon, or a line end unless something shows that the statement goes on.
    Newline,
    /// A line end, unless a backslash precedes it.
    Line,
}

/// A comment or a literal.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SpanData {
    pub(crate) comment: bool,
    /// Whether it is a comment that documents, and so may quote what stands for left-out code.
    pub(crate) documentation: bool,
    /// How it begins.
    pub(crate) open: Option<String>,
    /// A pattern of how it begins; what its group `fence` matches, `close` may ask for as `{fence}`.
    pub(crate) open_pattern: Option<String>,
    /// The first bytes that `open_pattern` can match.
    pub(crate) open_bytes: String,
    /// How it ends; a line end stands outside of what it ends. Nothing: `open_pattern` matches all of it.
    pub(crate) close: Option<String>,
    pub(crate) escape: Option<char>,
    /// Whether a doubled end is none.
    pub(crate) doubled: bool,
    pub(crate) multiline: bool,
    /// Whether it holds others of its kind.
    pub(crate) nested: bool,
    /// How code begins in the middle of it; the last byte is a bracket.
    pub(crate) interpolation: Option<String>,
    /// Whether it begins only where a line does.
    pub(crate) line_start: bool,
    /// Whether it begins only after a blank or where a line does.
    pub(crate) after_blank: bool,
    /// Whether it doesn't begin directly after a word.
    pub(crate) not_after_word: bool,
    /// A byte which keeps it from beginning, if it follows.
    pub(crate) not_before: Option<char>,
    /// Whether its text begins on the next line and ends with a line that holds the fence alone.
    pub(crate) heredoc: bool,
}

/// Code in the middle of other text.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Islands {
    /// What shows that a text has any: without it all of it is code.
    pub(crate) sign: String,
    pub(crate) open: String,
    pub(crate) close: String,
}

/// Words that open a block, and the one that closes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeywordBlock {
    pub(crate) open: Vec<String>,
    /// Words that open one only where a statement or an operand may begin.
    #[serde(default)]
    pub(crate) open_at_start: Vec<String>,
    /// Words of the two lists whose block's inside may begin with `do` on their own line.
    #[serde(default)]
    pub(crate) loops: Vec<String>,
    /// Words and marks that keep an opening word from opening when they follow.
    #[serde(default)]
    pub(crate) open_not_before: Vec<String>,
    pub(crate) close: String,
    /// Words that keep the closing word from closing when they follow.
    #[serde(default)]
    pub(crate) close_not_before: Vec<String>,
}

/// One way to define something.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleData {
    pub(crate) kind: Kind,
    pub(crate) pattern: String,
    /// The symbol, made of the pattern's groups; `{name}` if unsaid. May hold several names, set apart by commas.
    #[serde(default)]
    pub(crate) symbol: Option<String>,
    /// What joins the symbol to its scope, if not the language's own separator.
    #[serde(default)]
    pub(crate) separator: Option<String>,
    /// Places in which the definition is looked for; `top` if unsaid.
    #[serde(default = "top")]
    pub(crate) within: Vec<String>,
    /// The place that its inside is; unsaid, nothing is looked for inside.
    #[serde(default)]
    pub(crate) inside: Option<String>,
    /// What it adds to the scope of its inside.
    #[serde(default)]
    pub(crate) scope: Option<String>,
    pub(crate) ends: Ends,
    /// Whether it is a definition without a body, too.
    #[serde(default)]
    pub(crate) bodiless: bool,
    /// What may stand in place of a body, followed by an expression.
    #[serde(default)]
    pub(crate) expression: Option<String>,
    /// Whether only the first of several with one name counts: a variable that is assigned again.
    #[serde(default)]
    pub(crate) first_only: bool,
    /// Whether it must bear the name of the scope around it, as constructors do.
    #[serde(default)]
    pub(crate) named_like_scope: bool,
    /// What must stand between name and body, brackets' contents left out, if nothing is to be in doubt.
    #[serde(default)]
    pub(crate) tail: Option<String>,
    /// Whether the pattern is matched with all between `<` and `>` blanked.
    #[serde(default)]
    pub(crate) blank_angles: bool,
}

fn top() -> Vec<String> {
    vec!["top".to_owned()]
}

/// What a rule finds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Statements bear a name.
    Function,
    /// Members bear a name.
    Type,
    /// A value bears a name.
    Value,
    /// No definition: its inside is looked through as if it stood outside.
    Block,
}

/// Where a definition ends.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ends {
    /// With the brace that closes its body.
    Braces,
    /// With the bracket of any kind that closes what the pattern's last byte opens.
    Group,
    /// With the word that closes the block which the pattern's keyword opens.
    Keyword,
    /// With its statement.
    Statement,
    /// Before the next line that is indented no deeper.
    Indentation,
    /// With the last line that begins with a tab.
    Recipe,
}

/// Reads the file.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn read(json: &str) -> Result<Vec<LanguageData>, String> {
    let file: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    if file.get("format").and_then(Value::as_u64) != Some(FORMAT) {
        return Err(format!("format isn't {FORMAT}"));
    }
    let Some(Value::Array(written)) = file.get("languages") else {
        return Err("no languages".to_owned());
    };
    let mut complete: Vec<Map<String, Value>> = Vec::new();
    for language in written {
        let Value::Object(language) = language else {
            return Err("a language is no object".to_owned());
        };
        complete.push(inherit(language.clone(), &complete)?);
    }
    complete
        .into_iter()
        .map(|language| {
            let name = language.get("name").cloned().unwrap_or_default();
            serde_json::from_value(Value::Object(language))
                .map_err(|error| format!("{name}: {error}"))
        })
        .collect()
}

/// Takes what a language leaves unsaid from the earlier one that it is `like`; definitions are tried after its own.
fn inherit(
    mut language: Map<String, Value>,
    earlier: &[Map<String, Value>],
) -> Result<Map<String, Value>, String> {
    let Some(like) = language.remove("like") else {
        return Ok(language);
    };
    let base = earlier
        .iter()
        .find(|base| base.get("name") == Some(&like))
        .ok_or_else(|| format!("no earlier language is called {like}"))?;
    for (key, value) in base {
        match (language.get_mut(key), value) {
            (Some(Value::Array(own)), Value::Array(more)) if key == "definitions" => {
                own.extend(more.iter().cloned());
            }
            (Some(_), _) => {}
            (None, value) => {
                language.insert(key.clone(), value.clone());
            }
        }
    }
    Ok(language)
}
