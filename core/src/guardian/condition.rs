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

use super::budget::Spend;
use super::class::{Capability, Class, Risk};
use super::glob::Glob;
use super::mode::Mode;
use super::{Door, Facts};

/// Longest condition; the longest sensible ones take a few hundred bytes.
const BYTES_MAX: usize = 4 << 10;

/// Deepest nesting of parentheses and NOTs.
const DEPTH_MAX: usize = 32;

/// A condition that was read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition(Node);

/// Why a condition is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConditionError {
    /// Longer than 4 KiB, or nested deeper than 32 levels.
    #[error("longer than {BYTES_MAX} bytes, or nested deeper than {DEPTH_MAX} levels")]
    TooLarge,
    /// Something else should be there.
    #[error("expected {wanted} where it says `{found}`")]
    Expected {
        /// What should be there.
        wanted: &'static str,
        /// What is there.
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
enum Node {
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Not(Box<Node>),
    Compare(Field, Comparison, Literal),
    Flag(Field),
    Fits(Field, Glob),
    HasCapability(Capability),
    InState(Mode),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
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

/// What can be asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
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
    Left(Spend),
}

/// The type of a field's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Text,
    /// A text that is one of these.
    Word(&'static [&'static str]),
    Texts,
    Number,
    Flag,
}

const FIELDS: &[(&str, Field, Type)] = &[
    ("action.class", Field::Class, Type::Word(Class::WORDS)),
    ("action.program", Field::Program, Type::Text),
    ("action.cwd", Field::Cwd, Type::Text),
    ("action.door", Field::Door, Type::Word(Door::WORDS)),
    ("action.words", Field::Words, Type::Texts),
    ("action.targets", Field::Targets, Type::Texts),
    ("action.urls", Field::Urls, Type::Texts),
    ("goal.active", Field::GoalActive, Type::Flag),
    ("goal.risk", Field::GoalRisk, Type::Word(Risk::WORDS)),
    ("state.mode", Field::Mode, Type::Word(Mode::WORDS)),
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
        let mut reader = Reader {
            rest: text,
            depth: 0,
        };
        let node = reader.either()?;
        match reader.token()? {
            None => Ok(Self(node)),
            Some(token) => Err(expected("AND, OR or the end", Some(token))),
        }
    }

    pub(super) fn holds(&self, facts: &Facts<'_>) -> bool {
        self.0.holds(facts)
    }
}

impl Node {
    fn holds(&self, facts: &Facts<'_>) -> bool {
        match self {
            Self::And(one, other) => one.holds(facts) && other.holds(facts),
            Self::Or(one, other) => one.holds(facts) || other.holds(facts),
            Self::Not(node) => !node.holds(facts),
            Self::Compare(field, comparison, literal) => match (field.number(facts), literal) {
                (Some(number), Literal::Number(other)) => comparison.of(&number, other),
                (_, Literal::Flag(other)) => comparison.of(&field.flag(facts), other),
                (_, Literal::Text(other)) => {
                    let mut equal = false;
                    field.each_text(facts, |text| equal |= text == other);
                    equal == (*comparison == Comparison::Equal)
                }
                (None, Literal::Number(_)) => false,
            },
            Self::Flag(field) => field.flag(facts),
            Self::Fits(field, glob) => {
                let mut fits = false;
                field.each_text(facts, |text| fits |= glob.matches(text));
                fits
            }
            Self::HasCapability(capability) => facts.holds(*capability),
            Self::InState(mode) => facts.state.mode == *mode,
        }
    }
}

impl Comparison {
    fn of<T: Ord>(self, one: &T, other: &T) -> bool {
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

impl Field {
    fn of_name(name: &str) -> Option<(Self, Type)> {
        let left = || {
            let spend = name.strip_prefix("budget.")?.strip_suffix("_left")?;
            Some((Self::Left(Spend::of_word(spend)?), Type::Number))
        };
        let named = FIELDS.iter().find(|(it, ..)| *it == name);
        named.map(|(_, field, of)| (*field, *of)).or_else(left)
    }

    fn name(self) -> &'static str {
        let named = FIELDS.iter().find(|(_, field, _)| *field == self);
        named.map_or("budget", |(name, ..)| name)
    }

    fn each_text(self, facts: &Facts<'_>, mut each: impl FnMut(&str)) {
        let (action, root) = (facts.action, &facts.state.jail.root);
        match self {
            Self::Class => each(action.class.as_str()),
            Self::Program => each(action.program()),
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

    fn number(self, facts: &Facts<'_>) -> Option<u64> {
        match self {
            Self::Left(spend) => Some(facts.left.of(spend)),
            _ => None,
        }
    }

    fn flag(self, facts: &Facts<'_>) -> bool {
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

struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'t> {
    Name(&'t str),
    Text(&'t str),
    Number(&'t str),
    Sign(&'t str),
}

/// What stands between texts, names and numbers, the longer ones first.
const SIGNS: [&str; 9] = ["==", "!=", "<=", ">=", "<", ">", "(", ")", ","];

fn expected(wanted: &'static str, found: Option<Token<'_>>) -> ConditionError {
    let found = match found {
        Some(Token::Name(text) | Token::Text(text) | Token::Number(text) | Token::Sign(text)) => {
            text
        }
        None => "the end",
    };
    ConditionError::Expected {
        wanted,
        found: found.to_string(),
    }
}

impl<'t> Reader<'t> {
    /// The next token and the text after it.
    fn look(&self) -> Result<Option<(Token<'t>, &'t str)>, ConditionError> {
        let text = self.rest.trim_start();
        let Some(first) = text.chars().next() else {
            return Ok(None);
        };
        if let Some(sign) = SIGNS.iter().find(|sign| text.starts_with(**sign)) {
            return Ok(Some((Token::Sign(sign), &text[sign.len()..])));
        }
        if first == '"' {
            let quoted = text[1..].split_once('"');
            let (quoted, rest) = quoted.ok_or_else(|| expected("a closing quote", None))?;
            return Ok(Some((Token::Text(quoted), rest)));
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        Ok(Some(match first {
            '0'..='9' => (Token::Number(word), rest),
            _ if end > 0 => (Token::Name(word), rest),
            _ => {
                return Err(expected(
                    "a name, a text in quotes or a number",
                    Some(Token::Text(&text[..first.len_utf8()])),
                ));
            }
        }))
    }

    fn token(&mut self) -> Result<Option<Token<'t>>, ConditionError> {
        let looked = self.look()?;
        Ok(looked.map(|(token, rest)| {
            self.rest = rest;
            token
        }))
    }

    fn next_if(&mut self, wanted: Token<'_>) -> Result<bool, ConditionError> {
        match self.look()? {
            Some((token, rest)) if token == wanted => {
                self.rest = rest;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn need(&mut self, sign: &'static str) -> Result<(), ConditionError> {
        match self.token()? {
            Some(Token::Sign(found)) if found == sign => Ok(()),
            found => Err(expected(sign, found)),
        }
    }

    fn either(&mut self) -> Result<Node, ConditionError> {
        let mut node = self.both()?;
        while self.next_if(Token::Name("OR"))? {
            node = Node::Or(Box::new(node), Box::new(self.both()?));
        }
        Ok(node)
    }

    fn both(&mut self) -> Result<Node, ConditionError> {
        let mut node = self.one()?;
        while self.next_if(Token::Name("AND"))? {
            node = Node::And(Box::new(node), Box::new(self.one()?));
        }
        Ok(node)
    }

    fn one(&mut self) -> Result<Node, ConditionError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(ConditionError::TooLarge);
        }
        let node = match self.token()? {
            Some(Token::Name("NOT")) => Node::Not(Box::new(self.one()?)),
            Some(Token::Sign("(")) => {
                let node = self.either()?;
                self.need(")")?;
                node
            }
            Some(Token::Name(name)) if self.next_if(Token::Sign("("))? => self.call(name)?,
            Some(Token::Name(name)) => self.comparison(name)?,
            found => return Err(expected("a condition", found)),
        };
        self.depth -= 1;
        Ok(node)
    }

    fn call(&mut self, name: &str) -> Result<Node, ConditionError> {
        let node = match name {
            "PathMatch" | "UrlMatch" => {
                let (field, of) = self.field()?;
                let is_url = field == Field::Urls;
                let is_text = matches!(of, Type::Text | Type::Texts);
                if !is_text || is_url != (name == "UrlMatch") {
                    return Err(ConditionError::WrongType(name.to_string()));
                }
                self.need(",")?;
                let text = self.text()?;
                let glob = Glob::parse(text);
                Node::Fits(
                    field,
                    glob.ok_or_else(|| ConditionError::WrongType(text.into()))?,
                )
            }
            "HasCapability" => {
                let word = self.text()?;
                let capability = Capability::of_word(word);
                Node::HasCapability(
                    capability.ok_or_else(|| ConditionError::UnknownName(word.into()))?,
                )
            }
            "InState" => {
                let word = self.text()?;
                let mode = Mode::of_word(word);
                Node::InState(mode.ok_or_else(|| ConditionError::UnknownName(word.into()))?)
            }
            name => return Err(ConditionError::UnknownName(name.to_string())),
        };
        self.need(")")?;
        Ok(node)
    }

    fn comparison(&mut self, name: &str) -> Result<Node, ConditionError> {
        let (field, of) = named_field(name)?;
        let comparison = match self.look()? {
            Some((Token::Sign("=="), _)) => Comparison::Equal,
            Some((Token::Sign("!="), _)) => Comparison::Unequal,
            Some((Token::Sign("<"), _)) => Comparison::Less,
            Some((Token::Sign("<="), _)) => Comparison::LessOrEqual,
            Some((Token::Sign(">"), _)) => Comparison::More,
            Some((Token::Sign(">="), _)) => Comparison::MoreOrEqual,
            _ if of == Type::Flag => return Ok(Node::Flag(field)),
            found => return Err(expected("a comparison", found.map(|(token, _)| token))),
        };
        self.token()?;
        let literal = match self.token()? {
            Some(Token::Text(text)) => Literal::Text(text.to_string()),
            Some(Token::Name("true")) => Literal::Flag(true),
            Some(Token::Name("false")) => Literal::Flag(false),
            Some(Token::Number(number)) => {
                let parsed = number.parse();
                Literal::Number(parsed.map_err(|_| ConditionError::WrongType(number.to_string()))?)
            }
            found => return Err(expected("a text in quotes, a number, true or false", found)),
        };
        let is_equality = matches!(comparison, Comparison::Equal | Comparison::Unequal);
        match (of, &literal) {
            (Type::Number, Literal::Number(_)) => {}
            (Type::Flag, Literal::Flag(_)) | (Type::Text, Literal::Text(_)) if is_equality => {}
            (Type::Word(words), Literal::Text(text)) if is_equality => {
                if !words.contains(&text.as_str()) {
                    return Err(ConditionError::NeverSo {
                        field: field.name(),
                        word: text.clone(),
                        words: words.join(", "),
                    });
                }
            }
            _ => return Err(ConditionError::WrongType(name.to_string())),
        }
        Ok(Node::Compare(field, comparison, literal))
    }

    fn field(&mut self) -> Result<(Field, Type), ConditionError> {
        match self.token()? {
            Some(Token::Name(name)) => named_field(name),
            found => Err(expected("a name", found)),
        }
    }

    fn text(&mut self) -> Result<&'t str, ConditionError> {
        match self.token()? {
            Some(Token::Text(text)) => Ok(text),
            found => Err(expected("a text in quotes", found)),
        }
    }
}

fn named_field(name: &str) -> Result<(Field, Type), ConditionError> {
    Field::of_name(name).ok_or_else(|| ConditionError::UnknownName(name.to_string()))
}
