//! Recognises sed scripts that only print: they write no files and run no programs.

/// Whether every command of a script is one that prints, changes or drops lines on their way: `s` without the flags that
/// write or run, `p`, `d`, `q`, `=` and the like, each with an address or none.
#[must_use]
pub(super) fn only_prints(script: &str) -> bool {
    let mut rest = ScriptReader(script.as_bytes());
    loop {
        rest.skip_bytes(|byte| matches!(byte, b' ' | b';'));
        if rest.0.is_empty() {
            return true;
        }
        if rest.skip_command().is_none() {
            return false;
        }
    }
}

/// The part of a script that isn't read yet.
struct ScriptReader<'s>(&'s [u8]);

impl ScriptReader<'_> {
    fn skip_bytes(&mut self, is_skipped: impl Fn(u8) -> bool) {
        while self.0.first().is_some_and(|byte| is_skipped(*byte)) {
            self.0 = &self.0[1..];
        }
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn next_if(&mut self, wanted: u8) -> bool {
        let is_next = self.0.first() == Some(&wanted);
        self.0 = &self.0[usize::from(is_next)..];
        is_next
    }

    /// Up to the next `end` that isn't escaped.
    fn skip_past(&mut self, end: u8) -> Option<()> {
        loop {
            match self.next()? {
                b'\\' => drop(self.next()?),
                byte if byte == end => return Some(()),
                _ => {}
            }
        }
    }

    fn skip_address(&mut self) -> Option<()> {
        if self.next_if(b'/') {
            self.skip_past(b'/')?;
            self.next_if(b'I');
        } else {
            self.skip_bytes(|byte| matches!(byte, b'0'..=b'9' | b'$' | b'~' | b'+'));
        }
        Some(())
    }

    fn skip_command(&mut self) -> Option<()> {
        self.skip_address()?;
        if self.next_if(b',') {
            self.skip_address()?;
        }
        self.skip_bytes(|byte| matches!(byte, b' ' | b'!'));
        match self.next()? {
            b'p' | b'd' | b'q' | b'=' | b'n' | b'N' | b'D' | b'P' | b'g' | b'G' | b'h' | b'H'
            | b'x' => {}
            b's' => {
                let delimiter = self.next().filter(u8::is_ascii_punctuation)?;
                self.skip_past(delimiter)?;
                self.skip_past(delimiter)?;
                self.skip_bytes(|byte| matches!(byte, b'g' | b'p' | b'I' | b'i' | b'0'..=b'9'));
            }
            _ => return None,
        }
        self.skip_bytes(|byte| byte == b' ');
        (self.0.is_empty() || self.next_if(b';')).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_print_are_told_from_those_that_act() {
        for script in [
            "10,20p",
            "$p",
            "1~2d",
            "/start/,/end/p",
            "s/a/b/",
            "s|/usr|/opt|g",
            "5q",
            "1!d",
            "p;p",
            "/a\\/b/I p",
            "s/a\\/e/b/2p; 3q",
            "s,a,b,",
            "=",
        ] {
            assert!(only_prints(script), "{script}");
        }
        for script in [
            "1e ls",
            "s/a/b/e",
            "s/a/b/ge",
            "w out",
            "s/a/b/w out",
            "r /etc/passwd",
            "R x",
            "1i\\x",
            "s/a/b",
            "/a",
            "e",
            "W x",
            "y",
            "a",
            "{p",
            "s/a/b/;e",
            "s\nx",
            "p w x",
            "c",
            "\\xaxe ls",
        ] {
            assert!(!only_prints(script), "{script}");
        }
    }
}
