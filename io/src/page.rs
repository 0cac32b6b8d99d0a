//! The page to look at (docs/using.md): its files, which are in the binary, and what a browser may do with them.

use std::sync::LazyLock;

use tslp_wire::http::head::OwnAnswer;
use tslp_wire::http::request::RequestHead;

/// Everything comes from here, nothing is inline, and no other page may frame it.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// A file of the page.
#[derive(Debug, PartialEq, Eq)]
pub struct PageFile {
    content_type: &'static str,
    body: &'static [u8],
    /// Its hash, quoted (RFC 9110 §8.8.3).
    etag: String,
}

/// The files, by path.
static FILES: LazyLock<[(&str, PageFile); 4]> = LazyLock::new(|| {
    let file = |content_type, body: &'static [u8]| PageFile {
        content_type,
        body,
        etag: format!("\"{:.16}\"", tslp_core::hash::ArtifactHash::of(body)),
    };
    let script = "text/javascript; charset=utf-8";
    [
        (
            "/",
            file(
                "text/html; charset=utf-8",
                include_bytes!("page/index.html"),
            ),
        ),
        (
            "/page/style.css",
            file("text/css; charset=utf-8", include_bytes!("page/style.css")),
        ),
        ("/page/app.js", file(script, include_bytes!("page/app.js"))),
        (
            "/page/parts.js",
            file(script, include_bytes!("page/parts.js")),
        ),
    ]
});

/// The page's file that a request asks for. The root is one for browsers alone: clients ask for it to see whether somebody is there.
///
/// The files say nothing about anybody's code, so they need no token; the page asks for it, and sends it with what it reads.
#[must_use]
pub fn file_asked_for(head: &RequestHead) -> Option<&'static PageFile> {
    let mut accepted = head.headers.all("accept");
    let mut is_browser = || accepted.any(|types| types.windows(9).any(|at| at == b"text/html"));
    let reads = matches!(head.method.as_str(), "GET" | "HEAD");
    let (path, file) = FILES.iter().find(|(path, _)| *path == head.path())?;
    (reads && (*path != "/" || is_browser())).then_some(file)
}

impl PageFile {
    /// The answer to a request, with header fields beside the usual ones: empty where the browser has the file.
    #[must_use]
    pub fn answer(&self, head: &RequestHead) -> (OwnAnswer, [(&'static str, &str); 5]) {
        let mut known = head.headers.all("if-none-match");
        let is_known = known.any(|tag| tag == self.etag.as_bytes());
        let answer = OwnAnswer {
            status: if is_known { 304 } else { 200 },
            content_type: self.content_type,
            body: if is_known {
                Vec::new()
            } else {
                self.body.to_vec()
            },
        };
        let fields = [
            ("cache-control", "no-cache"),
            ("content-security-policy", CONTENT_SECURITY_POLICY),
            ("etag", &*self.etag),
            ("referrer-policy", "no-referrer"),
            // What `/` is depends on who asks.
            ("vary", "accept"),
        ];
        (answer, fields)
    }
}
