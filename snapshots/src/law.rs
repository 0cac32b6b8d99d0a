//! The line that says which rule of the law a story or a test shows.
//!
//! ```text
//! law engine 8 | Nothing else can be confirmed, and it is said why | not_confirmable
//! law 9.2 | A fragment tombstones nothing
//! ```
//!
//! It names the section of docs/spec.md, the rule, and the reasons that are recorded, if there are any.

/// What such a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Law {
    /// The sections, like `4.1 (2)`, `6 B, 10` or `engine 5`.
    pub section: String,
    /// The rule, in one sentence.
    pub rule: String,
    /// The codes of the reasons.
    pub reasons: Vec<String>,
}

impl Law {
    /// Reads a line; `None` if it is another one.
    ///
    /// # Panics
    /// When it is such a line and has no rule, or more than three parts.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let parts: Vec<&str> = line.strip_prefix("law ")?.split(" | ").collect();
        let (section, rule, reasons) = match parts[..] {
            [section, rule] => (section, rule, None),
            [section, rule, reasons] => (section, rule, Some(reasons)),
            _ => panic!("not `law SECTION | RULE | REASON, REASON`: {line}"),
        };
        let reasons = reasons.into_iter().flat_map(|codes| codes.split(", "));
        Some(Self {
            section: section.into(),
            rule: rule.into(),
            reasons: reasons.map(String::from).collect(),
        })
    }
}
