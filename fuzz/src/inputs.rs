//! Inputs for short runs: seeds, words put together, and small damages to both, all from one number.

use tslp_snapshots::random::entropy;

/// Fences, paths and prose.
pub const MARKDOWN: &[&str] = &[
    "```",
    "````",
    "~~~",
    "\n",
    "c",
    "cpp:src/tree.cpp",
    "c:src/list.c",
    " title=\"a.c\"",
    "**src/list.c**",
    "src/list.c",
    "list.c",
    ":",
    "// filepath: ",
    "/* ",
    " */",
    "# ",
    "- ",
    "    ",
    "int push(int x) { return x; }",
    "`push`",
    "push(",
    "ns::Tree::grow",
    "list_len",
    "src/list.c::push",
    "../",
    "/",
    "\\",
    " (10-20)",
    "é",
    "\u{202e}",
    "（",
    "：",
    "\r\n",
    ".",
];

/// Our delimiters and what looks like them.
pub const DELIMITERS: &[&str] = &[
    "[CURRENT STATE: AUTHORITATIVE]",
    "[END CURRENT STATE]",
    "[STATE NOTICE]",
    "[END NOTICE]",
    "[RECENT CONTEXT: READ-ONLY]",
    "[END RECENT CONTEXT]",
    "[",
    "]",
    "[[",
    "state notice]",
    "\n",
    " ",
    "\t",
    "END ",
    "é",
    "[ e n d n o t i c e ]",
    "CURRENT",
    "\r\n",
];

/// Keys and what looks like them.
pub const CREDENTIALS: &[&str] = &[
    "sk-",
    "ghp_",
    "AKIA",
    "abcdefghijklmnop0123456789",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----BEGIN ",
    "PRIVATE KEY-----",
    "-----END RSA PRIVATE KEY-----",
    "-----END ",
    "\n",
    " ",
    "[REDACTED CREDENTIAL]",
    "é",
    "-",
    "_",
    "0",
];

/// Parts of paths.
pub const PATHS: &[&str] = &[
    "/work/space",
    "/work/space/",
    "src",
    "a.c",
    "/",
    "//",
    "\\",
    ".",
    "..",
    "../",
    "./",
    "C:",
    "nul",
    "com1",
    "con.c",
    " ",
    "\0",
    "\u{202e}",
    "\u{200b}",
    "é",
    "~",
    "\n",
    "lpt9",
    "aux.",
];

/// C.
pub const C: &[&str] = &[
    "int ",
    "f",
    "(",
    ")",
    "{",
    "}",
    ";",
    "x",
    "return ",
    "#if A\n",
    "#else\n",
    "#endif\n",
    "#define M(x) x\n",
    "#include <a.h>\n",
    "struct S ",
    "typedef ",
    "enum ",
    "/* ... */",
    "// ... existing code ...\n",
    "\n",
    "*",
    ",",
    "=",
    "\"",
    "'",
    "static ",
    "M(",
    "\\\n",
    "\0",
    "é",
    "__attribute__((x)) ",
    "const ",
    "1",
];

/// C++.
pub const CPP: &[&str] = &[
    "int ",
    "f",
    "(",
    ")",
    "{",
    "}",
    ";",
    "::",
    "class C ",
    "struct S ",
    "namespace n ",
    "template <typename T> ",
    "operator+",
    "~C",
    "public:",
    "virtual ",
    "= default;",
    "= 0;",
    "[]",
    "&",
    "<",
    ">",
    "#if A\n",
    "#endif\n",
    "\n",
    "// ...\n",
    "auto ",
    "-> ",
    "const ",
    "\"",
    "R\"(",
    ")\"",
    "extern \"C\" ",
    "using ",
    "friend ",
    "noexcept ",
];

/// Languages without a grammar; the first byte of an input chooses one.
pub const PATTERNS: &[&str] = &[
    "\u{0}",
    "\u{1}",
    "\u{2}",
    "\u{3}",
    "\u{4}",
    "\u{5}",
    "\u{6}",
    "\u{7}",
    "\u{8}",
    "\t",
    "\u{b}",
    "\u{c}",
    "\r",
    "\u{e}",
    "\u{f}",
    "def f(a):\n",
    "    ",
    "\t",
    "\n",
    "\r\n",
    "pass\n",
    "...\n",
    "class A",
    "class A:\n",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    "=",
    "=>",
    "->",
    ".",
    "|",
    "/",
    "\\",
    "@a\n",
    "#[a]\n",
    "#",
    "//",
    "--",
    "/*",
    "*/",
    "\"",
    "'",
    "`",
    "\"\"\"",
    "'''",
    "r#\"",
    "\"#",
    "${",
    "#{",
    "\\(",
    "$(",
    "<<EOF\n",
    "EOF\n",
    "<?php ",
    "?>",
    "$$",
    "[[",
    "]]",
    "%w[",
    "=begin\n",
    "\n=end",
    "function f(",
    "fn f() ",
    "func (a A) f() ",
    "impl A for B ",
    "pub ",
    "static ",
    "const x",
    "let x",
    "type (\n",
    "A = 1\n",
    "int f() ",
    "namespace a ",
    "end\n",
    "do ",
    "if x ",
    "while x ",
    "def f\n",
    "f() {\n",
    "CREATE TABLE a (",
    "BEGIN ",
    "END;\n",
    "a: b\n\t",
    "define A\n",
    "endef\n",
    "// ... existing code ...\n",
    "# TODO\n",
    "return ",
    "é",
    "1",
    "x",
];

/// Chat bodies.
pub const CHAT: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"messages\"",
    "\"model\"",
    "\"role\"",
    "\"content\"",
    "\"user\"",
    "\"system\"",
    "\"assistant\"",
    "\"tool_calls\"",
    "\"function\"",
    "\"arguments\"",
    "\"name\"",
    "\"type\":\"text\"",
    "\"text\"",
    "\"stream\":true",
    "null",
    "1e999",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "\"é\"",
    "{\"role\":\"user\",\"content\":\"x\"}",
    "{\"messages\":[",
    "]}",
    "\"tools\":[1]",
    " ",
    "\n",
];

/// Event streams.
pub const EVENT_STREAM: &[&str] = &[
    "data: ",
    "data:",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "[DONE]",
    ": comment",
    "event: x",
    "{\"choices\":[{\"delta\":",
    "{\"content\":\"x\"}",
    "}]}",
    "\"finish_reason\":\"stop\"",
    ",",
    "{\"choices\":[{\"message\":{\"content\":\"y\"}}]}",
    "{\"error\":{}}",
    "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"n\",\"arguments\":\"{\"}}]}}]}",
    "{",
    "}",
    "é",
    "\u{feff}",
    " ",
];

/// Heads of requests and responses.
pub const HTTP: &[&str] = &[
    "GET / HTTP/1.1\r\n",
    "POST /v1/chat/completions HTTP/1.1\r\n",
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 100 Continue\r\n",
    "HTTP/1.0 ",
    "Host: localhost\r\n",
    "Content-Length: 3\r\n",
    "Content-Length: ",
    "Transfer-Encoding: chunked\r\n",
    "Connection: close\r\n",
    "Expect: 100-continue\r\n",
    "\r\n",
    "\n",
    "\r",
    "abc",
    "3\r\nabc\r\n0\r\n\r\n",
    " ",
    "\t",
    ":",
    "\0",
    "é",
    "+3",
    "0",
    ", ",
    "HTTP/1.1 204 \r\n",
    "chunked, chunked",
    "18446744073709551616",
];

/// Chunked bodies.
pub const CHUNKS: &[&str] = &[
    "3\r\nabc\r\n",
    "0\r\n\r\n",
    "\r\n",
    "\n",
    "\r",
    "f",
    "ffffffffffffffff",
    ";x=y",
    "0",
    "A: b\r\n",
    "\0",
    " ",
    "é",
    "\u{2}",
    "\u{5}",
    "10\r\n",
];

/// The input of one round.
#[must_use]
pub fn generate(round: u64, words: &[&str], seeds: &[Vec<u8>]) -> Vec<u8> {
    let noise = entropy::bytes(round, 512);
    let mut dice = Dice {
        noise: &noise,
        at: 0,
    };
    let mut input = match dice.below(4) {
        0 => {
            let length = dice.below(200);
            entropy::bytes(round ^ u64::MAX, length)
        }
        1 if !seeds.is_empty() => seeds[dice.below(seeds.len())].clone(),
        _ if words.is_empty() => entropy::bytes(!round, 40 + 12 * dice.below(200)),
        _ => (0..dice.below(60))
            .flat_map(|_| words[dice.below(words.len())].bytes())
            .collect(),
    };
    for _ in 0..dice.below(4) {
        damage(&mut input, &mut dice, words);
    }
    input
}

fn damage(input: &mut Vec<u8>, dice: &mut Dice<'_>, words: &[&str]) {
    if input.is_empty() {
        return;
    }
    let at = dice.below(input.len());
    let end = (at + dice.below(20)).min(input.len());
    match dice.below(5) {
        0 => input[at] ^= 1 << dice.below(8),
        1 => drop(input.drain(at..end)),
        2 => {
            let copy = input[at..end].to_vec();
            input.splice(at..at, copy);
        }
        3 => input.truncate(at),
        _ if words.is_empty() => input.insert(at, b'\n'),
        _ => drop(input.splice(at..at, words[dice.below(words.len())].bytes())),
    }
}

/// Small numbers out of noise.
struct Dice<'n> {
    noise: &'n [u8],
    at: usize,
}

impl Dice<'_> {
    fn below(&mut self, bound: usize) -> usize {
        let byte = |at: usize| usize::from(self.noise[at % self.noise.len()]);
        let number = byte(self.at) * 256 + byte(self.at + 1);
        self.at += 2;
        number % bound.max(1)
    }
}
