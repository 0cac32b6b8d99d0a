//! The `when` of a rule: a closed language of comparisons over what is known of an action.
//!
//! ```text
//! action.class == "BUILD" AND NOT PathMatch(action.targets, "!tests/**")
//! ```
//! Everything is checked when it is read: a name that isn't known, a comparison of unlike things and a word that a field
//! can never be are refused.

use alloc::boxed::Box;
use alloc::string::{String, ToString};

use thiserror::Error;

use super::budget::BudgetItem;
use super::class::{Capability, Class, Risk};
use super::glob::Glob;
use super::mode::Mode;
use super::{Door, JudgingFacts};

/// Longest condition; the longest sensible ones take a few hundred bytes.
const BYTES_MAX: usize = 4 << 10;

/// Deepest nesting of parentheses and NOTs.
const DEPTH_MAX: usize = 32;

/// A condition that was read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition(ConditionNode);

/// Why a condition is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConditionError {
    /// Longer than 4 KiB, or nested deeper than 32 levels.
    #[error("longer than {BYTES_MAX} bytes, or nested deeper than {DEPTH_MAX} levels")]
    TooLarge,
    /// A token that the grammar doesn't allow here.
    #[error("expected {wanted} where it says `{found}`")]
    Expected {
        /// The tokens that may follow.
        wanted: &'static str,
        /// The token that was read.
        found: String,
    },
    /// Nobody knows this name.
    #[error("there is no `{0}`")]
    UnknownName(String),
    /// The two sides of a comparison, or a function's argument, are of different types.
    #[error("`{0}` can't be used with what it is used with")]
    WrongType(String),
    /// A field never has this value.
    #[error("{field} is never \"{word}\"; it is one of {words}")]
    NeverSo {
        /// The field.
        field: &'static str,
        /// The value.
        word: String,
        /// All values that it can have.
        words: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
enum ConditionNode {
    And(Box<ConditionNode>, Box<ConditionNode>),
    Or(Box<ConditionNode>, Box<ConditionNode>),
    Not(Box<ConditionNode>),
    Compare(FactField, ComparisonOperator, Literal),
    Flag(FactField),
    Fits(FactField, Glob),
    HasCapability(Capability),
    InState(Mode),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ComparisonOperator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Literal {
    Text(String),
    Number(u64),
    Flag(bool),
}

/// A fact that a condition can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FactField {
    Class,
    Program,
    Cwd,
    Door,
    Words,
    Targets,
    Urls,
    GoalActive,
    GoalRisk,
    Mode,
    Left(BudgetItem),
}

/// The type of a field's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldType {
    Text,
    /// A text that is one of these.
    Word(&'static [&'static str]),
    Texts,
    Number,
    Flag,
}

const FIELDS: &[(&str, FactField, FieldType)] = &[
    (
        "action.class",
        FactField::Class,
        FieldType::Word(Class::WORDS),
    ),
    ("action.program", FactField::Program, FieldType::Text),
    ("action.cwd", FactField::Cwd, FieldType::Text),
    ("action.door", FactField::Door, FieldType::Word(Door::WORDS)),
    ("action.words", FactField::Words, FieldType::Texts),
    ("action.targets", FactField::Targets, FieldType::Texts),
    ("action.urls", FactField::Urls, FieldType::Texts),
    ("goal.active", FactField::GoalActive, FieldType::Flag),
    (
        "goal.risk",
        FactField::GoalRisk,
        FieldType::Word(Risk::WORDS),
    ),
    ("state.mode", FactField::Mode, FieldType::Word(Mode::WORDS)),
];

impl Condition {
    /// Reads and checks a condition.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        if text.len() > BYTES_MAX {
            return Err(ConditionError::TooLarge);
        }
        let mut reader = ConditionReader {
            rest: text,
            depth: 0,
        };
        let node = reader.parse_or()?;
        match reader.next_token()? {
            None => Ok(Self(node)),
            Some(token) => Err(expected_error("AND, OR or the end", Some(token))),
        }
    }

    pub(super) fn holds_for(&self, facts: &JudgingFacts<'_>) -> bool {
        self.0.node_holds(facts)
    }
}

impl ConditionNode {
    fn node_holds(&self, facts: &JudgingFacts<'_>) -> bool {
        match self {
            Self::And(one, other) => one.node_holds(facts) && other.node_holds(facts),
            Self::Or(one, other) => one.node_holds(facts) || other.node_holds(facts),
            Self::Not(node) => !node.node_holds(facts),
            Self::Compare(field, comparison, literal) => match (field.number_value(facts), literal)
            {
                (Some(number), Literal::Number(other)) => comparison.compares(&number, other),
                (_, Literal::Flag(other)) => comparison.compares(&field.flag_value(facts), other),
                (_, Literal::Text(other)) => {
                    let mut equal = false;
                    field.each_text(facts, |text| equal |= text == other);
                    equal == (*comparison == ComparisonOperator::Equal)
                }
                (None, Literal::Number(_)) => false,
            },
            Self::Flag(field) => field.flag_value(facts),
            Self::Fits(field, glob) => {
                let mut fits = false;
                field.each_text(facts, |text| fits |= glob.matches_path(text));
                fits
            }
            Self::HasCapability(capability) => facts.has_capability(*capability),
            Self::InState(mode) => facts.state.mode == *mode,
        }
    }
}

impl ComparisonOperator {
    fn compares<T: Ord>(self, one: &T, other: &T) -> bool {
        match self {
            Self::Equal => one == other,
            Self::Unequal => one != other,
            Self::Less => one < other,
            Self::LessOrEqual => one <= other,
            Self::More => one > other,
            Self::MoreOrEqual => one >= other,
        }
    }
}

impl FactField {
    fn of_name(name: &str) -> Option<(Self, FieldType)> {
        let left = || {
            let spend = name.strip_prefix("budget.")?.strip_suffix("_left")?;
            Some((Self::Left(BudgetItem::of_word(spend)?), FieldType::Number))
        };
        let named = FIELDS.iter().find(|(it, ..)| *it == name);
        named.map(|(_, field, of)| (*field, *of)).or_else(left)
    }

    fn field_name(self) -> &'static str {
        let named = FIELDS.iter().find(|(_, field, _)| *field == self);
        named.map_or("budget", |(name, ..)| name)
    }

    fn each_text(self, facts: &JudgingFacts<'_>, mut each: impl FnMut(&str)) {
        let (action, root) = (facts.action, &facts.state.jail.root);
        match self {
            Self::Class => each(action.class.as_str()),
            Self::Program => each(action.program_name()),
            Self::Door => each(action.door.as_str()),
            Self::GoalRisk => each(facts.goal.risk.as_str()),
            Self::Mode => each(facts.state.mode.as_str()),
            Self::Cwd => each(within_root(&action.cwd, root)),
            Self::Words => action.words.iter().for_each(|word| each(word)),
            Self::Targets => {
                for target in &action.targets {
                    each(within_root(target, root));
                }
            }
            Self::Urls => {
                let words = action.words.iter();
                words
                    .filter(|word| word.contains("://"))
                    .for_each(|word| each(word));
            }
            Self::GoalActive | Self::Left(_) => {}
        }
    }

    fn number_value(self, facts: &JudgingFacts<'_>) -> Option<u64> {
        match self {
            Self::Left(spend) => Some(facts.left.amount_of(spend)),
            _ => None,
        }
    }

    fn flag_value(self, facts: &JudgingFacts<'_>) -> bool {
        self == Self::GoalActive && facts.goal.id.is_some()
    }
}

/// A path as rules name it: below the workspace without its root, elsewhere absolute.
fn within_root<'p>(path: &'p str, root: &str) -> &'p str {
    match path.strip_prefix(root) {
        Some("") => ".",
        Some(rest) if rest.starts_with('/') => &rest[1..],
        _ => path,
    }
}

struct ConditionReader<'t> {
    rest: &'t str,
    depth: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConditionToken<'t> {
    Name(&'t str),
    Text(&'t str),
    Number(&'t str),
    Sign(&'t str),
}

/// Operators and punctuation, longer ones first.
const SIGNS: [&str; 9] = ["==", "!=", "<=", ">=", "<", ">", "(", ")", ","];

fn expected_error(wanted: &'static str, found: Option<ConditionToken<'_>>) -> ConditionError {
    let found = match found {
        Some(
            ConditionToken::Name(text)
            | ConditionToken::Text(text)
            | ConditionToken::Number(text)
            | ConditionToken::Sign(text),
        ) => text,
        None => "the end",
    };
    ConditionError::Expected {
        wanted,
        found: found.to_string(),
    }
}

impl<'t> ConditionReader<'t> {
    /// The next token and the text after it.
    fn peek_token(&self) -> Result<Option<(ConditionToken<'t>, &'t str)>, ConditionError> {
        let text = self.rest.trim_start();
        let Some(first) = text.chars().next() else {
            return Ok(None);
        };
        if let Some(sign) = SIGNS.iter().find(|sign| text.starts_with(**sign)) {
            return Ok(Some((ConditionToken::Sign(sign), &text[sign.len()..])));
        }
        if first == '"' {
            let quoted = text[1..].split_once('"');
            let (quoted, rest) = quoted.ok_or_else(|| expected_error("a closing quote", None))?;
            return Ok(Some((ConditionToken::Text(quoted), rest)));
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        Ok(Some(match first {
            '0'..='9' => (ConditionToken::Number(word), rest),
            _ if end > 0 => (ConditionToken::Name(word), rest),
            _ => {
                return Err(expected_error(
                    "a name, a text in quotes or a number",
                    Some(ConditionToken::Text(&text[..first.len_utf8()])),
                ));
            }
        }))
    }

    fn next_token(&mut self) -> Result<Option<ConditionToken<'t>>, ConditionError> {
        let looked = self.peek_token()?;
        Ok(looked.map(|(token, rest)| {
            self.rest = rest;
            token
        }))
    }

    fn next_if(&mut self, wanted: ConditionToken<'_>) -> Result<bool, ConditionError> {
        match self.peek_token()? {
            Some((token, rest)) if token == wanted => {
                self.rest = rest;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn expect_sign(&mut self, sign: &'static str) -> Result<(), ConditionError> {
        match self.next_token()? {
            Some(ConditionToken::Sign(found)) if found == sign => Ok(()),
            found => Err(expected_error(sign, found)),
        }
    }

    fn parse_or(&mut self) -> Result<ConditionNode, ConditionError> {
        let mut node = self.parse_and()?;
        while self.next_if(ConditionToken::Name("OR"))? {
            node = ConditionNode::Or(Box::new(node), Box::new(self.parse_and()?));
        }
        Ok(node)
    }

    fn parse_and(&mut self) -> Result<ConditionNode, ConditionError> {
        let mut node = self.parse_operand()?;
        while self.next_if(ConditionToken::Name("AND"))? {
            node = ConditionNode::And(Box::new(node), Box::new(self.parse_operand()?));
        }
        Ok(node)
    }

    fn parse_operand(&mut self) -> Result<ConditionNode, ConditionError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(ConditionError::TooLarge);
        }
        let node = match self.next_token()? {
            Some(ConditionToken::Name("NOT")) => {
                ConditionNode::Not(Box::new(self.parse_operand()?))
            }
            Some(ConditionToken::Sign("(")) => {
                let node = self.parse_or()?;
                self.expect_sign(")")?;
                node
            }
            Some(ConditionToken::Name(name)) if self.next_if(ConditionToken::Sign("("))? => {
                self.parse_call(name)?
            }
            Some(ConditionToken::Name(name)) => self.parse_comparison(name)?,
            found => return Err(expected_error("a condition", found)),
        };
        self.depth -= 1;
        Ok(node)
    }

    fn parse_call(&mut self, name: &str) -> Result<ConditionNode, ConditionError> {
        let node = match name {
            "PathMatch" | "UrlMatch" => {
                let (field, of) = self.parse_field()?;
                let is_url = field == FactField::Urls;
                let is_text = matches!(of, FieldType::Text | FieldType::Texts);
                if !is_text || is_url != (name == "UrlMatch") {
                    return Err(ConditionError::WrongType(name.to_string()));
                }
                self.expect_sign(",")?;
                let text = self.parse_text()?;
                let glob = Glob::parse_pattern(text);
                ConditionNode::Fits(
                    field,
                    glob.ok_or_else(|| ConditionError::WrongType(text.into()))?,
                )
            }
            "HasCapability" => {
                let word = self.parse_text()?;
                let capability = Capability::of_word(word);
                ConditionNode::HasCapability(
                    capability.ok_or_else(|| ConditionError::UnknownName(word.into()))?,
                )
            }
            "InState" => {
                let word = self.parse_text()?;
                let mode = Mode::of_word(word);
                ConditionNode::InState(
                    mode.ok_or_else(|| ConditionError::UnknownName(word.into()))?,
                )
            }
            name => return Err(ConditionError::UnknownName(name.to_string())),
        };
        self.expect_sign(")")?;
        Ok(node)
    }

    fn parse_comparison(&mut self, name: &str) -> Result<ConditionNode, ConditionError> {
        let (field, of) = named_field(name)?;
        let comparison = match self.peek_token()? {
            Some((ConditionToken::Sign("=="), _)) => ComparisonOperator::Equal,
            Some((ConditionToken::Sign("!="), _)) => ComparisonOperator::Unequal,
            Some((ConditionToken::Sign("<"), _)) => ComparisonOperator::Less,
            Some((ConditionToken::Sign("<="), _)) => ComparisonOperator::LessOrEqual,
            Some((ConditionToken::Sign(">"), _)) => ComparisonOperator::More,
            Some((ConditionToken::Sign(">="), _)) => ComparisonOperator::MoreOrEqual,
            _ if of == FieldType::Flag => return Ok(ConditionNode::Flag(field)),
            found => {
                return Err(expected_error(
                    "a comparison",
                    found.map(|(token, _)| token),
                ));
            }
        };
        self.next_token()?;
        let literal = match self.next_token()? {
            Some(ConditionToken::Text(text)) => Literal::Text(text.to_string()),
            Some(ConditionToken::Name("true")) => Literal::Flag(true),
            Some(ConditionToken::Name("false")) => Literal::Flag(false),
            Some(ConditionToken::Number(number)) => {
                let parsed = number.parse();
                Literal::Number(parsed.map_err(|_| ConditionError::WrongType(number.to_string()))?)
            }
            found => {
                return Err(expected_error(
                    "a text in quotes, a number, true or false",
                    found,
                ));
            }
        };
        let is_equality = matches!(
            comparison,
            ComparisonOperator::Equal | ComparisonOperator::Unequal
        );
        match (of, &literal) {
            (FieldType::Number, Literal::Number(_)) => {}
            (FieldType::Flag, Literal::Flag(_)) | (FieldType::Text, Literal::Text(_))
                if is_equality => {}
            (FieldType::Word(words), Literal::Text(text)) if is_equality => {
                if !words.contains(&text.as_str()) {
                    return Err(ConditionError::NeverSo {
                        field: field.field_name(),
                        word: text.clone(),
                        words: words.join(", "),
                    });
                }
            }
            _ => return Err(ConditionError::WrongType(name.to_string())),
        }
        Ok(ConditionNode::Compare(field, comparison, literal))
    }

    fn parse_field(&mut self) -> Result<(FactField, FieldType), ConditionError> {
        match self.next_token()? {
            Some(ConditionToken::Name(name)) => named_field(name),
            found => Err(expected_error("a name", found)),
        }
    }

    fn parse_text(&mut self) -> Result<&'t str, ConditionError> {
        match self.next_token()? {
            Some(ConditionToken::Text(text)) => Ok(text),
            found => Err(expected_error("a text in quotes", found)),
        }
    }
}

fn named_field(name: &str) -> Result<(FactField, FieldType), ConditionError> {
    FactField::of_name(name).ok_or_else(|| ConditionError::UnknownName(name.to_string()))
}
