//! Header fields as they arrived: original order, spelling and bytes, with look-up by name.

use core::ops::Range;

/// The fields of one message head. Names are ASCII tokens, and values have no surrounding whitespace; the parser has checked
/// both.
#[derive(Clone, Debug, Default)]
pub struct Headers {
    raw: Vec<u8>,
    fields: Vec<(Range<u32>, Range<u32>)>,
}

impl Headers {
    /// Adds a field at the end.
    pub fn push(&mut self, name: &str, value: &[u8]) {
        let name = self.store_text(name.as_bytes());
        let value = self.store_text(value);
        self.fields.push((name, value));
    }

    /// Takes out all fields of that name.
    pub fn remove(&mut self, name: &str) {
        let raw = &self.raw;
        self.fields.retain(|(field, _)| {
            let field = &raw[field.start as usize..field.end as usize];
            !field.eq_ignore_ascii_case(name.as_bytes())
        });
    }

    fn store_text(&mut self, bytes: &[u8]) -> Range<u32> {
        let offset = |at: usize| u32::try_from(at).expect("a head is far shorter than 4 GiB");
        let start = offset(self.raw.len());
        self.raw.extend_from_slice(bytes);
        start..offset(self.raw.len())
    }

    fn stored_text(&self, range: &Range<u32>) -> &[u8] {
        &self.raw[range.start as usize..range.end as usize]
    }

    /// All fields in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.fields.iter().map(|(name, value)| {
            let name = core::str::from_utf8(self.stored_text(name));
            let name = name.expect("names are pushed as text");
            (name, self.stored_text(value))
        })
    }

    /// The values of every field of that name, in order.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.iter()
            .filter(move |(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// The first value of that name.
    #[must_use]
    pub fn first(&self, name: &str) -> Option<&[u8]> {
        self.iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// The first value of that name, if it is UTF-8.
    #[must_use]
    pub fn first_text(&self, name: &str) -> Option<&str> {
        self.first(name)
            .and_then(|value| core::str::from_utf8(value).ok())
    }

    /// The comma-separated members of every field of that name, trimmed, without empty ones.
    pub fn members<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.all(name)
            .flat_map(|value| value.split(|byte| *byte == b','))
            .map(<[u8]>::trim_ascii)
            .filter(|member| !member.is_empty())
    }

    /// Whether a list field of that name has this member, letter case aside.
    #[must_use]
    pub fn has_member(&self, name: &str, member: &str) -> bool {
        self.members(name)
            .any(|value| value.eq_ignore_ascii_case(member.as_bytes()))
    }

    /// Whether the field belongs to one connection only and must not be relayed (RFC 9110 §7.6.1).
    #[must_use]
    pub fn is_hop_by_hop(&self, name: &str) -> bool {
        const FIXED: [&str; 9] = [
            "connection",
            "keep-alive",
            "proxy-connection",
            "proxy-authorization",
            "proxy-authenticate",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
        ];
        // `Connection` may name further ones.
        FIXED.iter().any(|fixed| name.eq_ignore_ascii_case(fixed))
            || self.has_member("connection", name)
    }
}
