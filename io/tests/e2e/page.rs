//! The page to look at (docs/using.md): its files over HTTP, and the real page in a real browser, if there is one.
//!
//! `TSLP_SCREENSHOTS=DIR` keeps the pictures of docs/using.md; with `TSLP_AIDER=PROGRAM` they are of a session with aider.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{env, fs};

use serde_json::{Value, json};
use tempfile::TempDir;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::path::RelPath;
use tslp_projections::file_code::{TrackedFileRow, TrueEntity};

use crate::budgets::Agent;
use crate::harness::{Places, RING, RING_PUT, Talk, Tslp, eventually, fenced, user};
use crate::ledger_file;
use crate::upstream::{Answer, Step, Upstream, barrier, event, last_events};
use tslp_scripted::Connection;

/// Where a browser of Debian's is.
const BROWSER: &str = "/usr/bin/chromium";

/// The page's files may weigh so much together.
const PAGE_BYTES_MAX: usize = 100_000;

/// The ring without its bounds: gate A refuses it.
const RING_LOST: &str = "int ring_put(struct ring *r, int value) {\n    return 0;\n}\n";

/// Settings that a model is asked to simplify.
const SETTINGS: &str = r#"LIMIT = 64


def deep_mapping(base, changes, *, depth=0):
    """Merges changes into base, mappings into mappings."""
    if depth > LIMIT:
        raise RecursionError("mappings nest too deep")
    merged = dict(base)
    for key, value in changes.items():
        if value is None:
            merged.pop(key, None)
            continue
        known = merged.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            merged[key] = deep_mapping(known, value, depth=depth + 1)
        else:
            merged[key] = value
    return merged


def load(path):
    with open(path, encoding="utf-8") as file:
        return parse(file.read())
"#;

/// What models make of it.
const DEEP_MAPPING_LOST: &str = r#"def deep_mapping(base, changes, *, depth=0):
    """Merges changes into base, mappings into mappings."""
    merged = dict(base)
    for key, value in changes.items():
        known = merged.get(key)
        merged[key] = value
    return merged
"#;

fn python(code: &str) -> String {
    format!("```python:src/settings.py\n{code}```\n")
}

/// A browser with one tab, which is told what to do over a pipe (the DevTools protocol).
struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    calls: u64,
    tab: String,
    _profile: TempDir,
}

impl Browser {
    /// `None`, and a line that says so, on a machine without one.
    #[expect(clippy::print_stderr, reason = "who runs the tests has to know")]
    fn start() -> Option<Self> {
        if !fs::exists(BROWSER).unwrap() {
            eprintln!("skipped: there is no {BROWSER}; `.ci/run` installs it");
            return None;
        }
        let profile = tempfile::tempdir().unwrap();
        let line = format!(
            "exec {BROWSER} --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --remote-debugging-pipe \
             --user-data-dir=\"$1\" about:blank 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"
        );
        let mut child = Command::new("sh")
            .args(["-c", &line, "sh"])
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut browser = Self {
            to: child.stdin.take().unwrap(),
            from: BufReader::new(child.stdout.take().unwrap()),
            child,
            calls: 0,
            tab: String::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", attach);
        session["sessionId"]
            .as_str()
            .unwrap()
            .clone_into(&mut browser.tab);
        browser.size(1280, 860);
        Some(browser)
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut call = json!({ "id": self.calls, "method": method, "params": parameters });
        if !self.tab.is_empty() {
            call["sessionId"] = json!(self.tab);
        }
        self.to.write_all(call.to_string().as_bytes()).unwrap();
        self.to.write_all(b"\0").unwrap();
        loop {
            let mut answer = Vec::new();
            let read = self.from.read_until(0, &mut answer).unwrap();
            assert!(read > 0, "the browser ended at {method}");
            answer.pop();
            let mut answer: Value = serde_json::from_slice(&answer).unwrap();
            if answer["id"] == self.calls {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].take();
            }
        }
    }

    /// The value of a script's expression, awaited.
    fn value(&mut self, expression: &str) -> Value {
        let parameters =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut result = self.call("Runtime.evaluate", parameters);
        assert!(
            result.get("exceptionDetails").is_none(),
            "{expression}: {result}"
        );
        result["result"]["value"].take()
    }

    /// Waits until an expression holds.
    fn until(&mut self, expression: &str) {
        eventually(|| (self.value(expression) == true).then_some(()));
    }

    fn go(&mut self, address: &str) {
        self.call("Page.navigate", json!({ "url": address }));
        self.until(
            "document.readyState === 'complete' && !!document.querySelector('main')?.dataset.view",
        );
    }

    /// A view of the page, drawn.
    fn view(&mut self, path: &str) -> String {
        self.value(&format!("location.hash = '#/{path}'"));
        self.until(&format!(
            "document.querySelector('main').dataset.view === '{path}'"
        ));
        self.text()
    }

    fn text(&mut self) -> String {
        let text = self.value("document.body.innerText");
        text.as_str().unwrap().to_owned()
    }

    fn key(&mut self, key: &str, code: u32) {
        for kind in ["keyDown", "keyUp"] {
            let mut press = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code });
            if kind == "keyDown" && (key.len() == 1 || key == "Enter") {
                press["text"] = json!(if key == "Enter" { "\r" } else { key });
            }
            self.call("Input.dispatchKeyEvent", press);
        }
    }

    fn size(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    fn scheme(&mut self, scheme: &str) {
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": [feature] }),
        );
    }

    /// Keeps a picture, where somebody wants them.
    fn picture(&mut self, name: &str) {
        let Ok(folder) = env::var("TSLP_SCREENSHOTS") else {
            return;
        };
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let mut decoder = Command::new("base64")
            .arg("-d")
            .stdin(Stdio::piped())
            .stdout(fs::File::create(format!("{folder}/{name}.png")).unwrap())
            .spawn()
            .unwrap();
        let text = shot["data"].as_str().unwrap();
        decoder
            .stdin
            .take()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        assert!(decoder.wait().unwrap().success());
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let close = json!({ "id": 0, "method": "Browser.close" });
        let _ = self.to.write_all(format!("{close}\0").as_bytes());
        let mut rest = Vec::new();
        let _ = self.from.read_to_end(&mut rest);
        self.child.wait().unwrap();
    }
}

fn address(tslp: &Tslp<'_>) -> String {
    format!("http://{}", tslp.address)
}

/// The columns of background and text of an element, as a browser draws them.
const CONTRASTS: &str = "(() => {
  const lum = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const rgb = s => (s.match(/[\\d.]+/g) ?? []).map(Number);
  const back = el => { for (; el; el = el.parentElement) { const c = rgb(getComputedStyle(el).backgroundColor); if (c.length === 3 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
  const bad = [];
  for (const el of document.querySelectorAll('body *')) {
    if (![...el.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !el.checkVisibility()) continue;
    const [a, b] = [lum(rgb(getComputedStyle(el).color).slice(0, 3)), lum(back(el))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) bad.push(`${el.tagName}.${el.className}: ${el.textContent.slice(0, 30)} ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
  }
  return bad;
})()";

/// What axe-core finds serious; `TSLP_AXE` is the path of its `axe.min.js`, which `.ci/run` takes from npm.
const AXE_SERIOUS: &str = "axe.run().then(found => found.violations.filter(it => ['serious', 'critical'].includes(it.impact)) \
  .map(it => `${it.id}: ${it.nodes[0].html.slice(0, 160)}`))";

/// What everybody needs to find their way: each control and picture has a name, each id is there once, headings begin with one.
const NAMELESS: &str = "[...document.querySelectorAll('a,button,input,[role=img],[role=listbox],[role=region]')].filter(el => el.checkVisibility() \
  && !(el.textContent.trim() || el.getAttribute('aria-label') || el.labels?.length)).map(el => el.outerHTML.slice(0, 80)) \
  .concat([...document.querySelectorAll('[id]')].filter(el => document.querySelectorAll('#' + CSS.escape(el.id)).length > 1).map(el => el.id))";

/// Views in both schemes, with contrasts and names, and on a phone.
fn check_for_everybody(chromium: &mut Browser, views: &[&str]) {
    let axe = env::var("TSLP_AXE").map(|path| fs::read_to_string(path).unwrap());
    let axe = axe.ok();
    for scheme in ["dark", "light"] {
        chromium.scheme(scheme);
        for view in views {
            chromium.view(view);
            assert_eq!(chromium.value(CONTRASTS), json!([]), "{scheme} {view}");
            assert_eq!(chromium.value(NAMELESS), json!([]), "{view}");
            if let Some(axe) = &axe {
                chromium.value(&format!("{axe};0"));
                assert_eq!(chromium.value(AXE_SERIOUS), json!([]), "{scheme} {view}");
            }
        }
    }
    chromium.size(390, 844);
    for view in views {
        chromium.view(view);
        let fits = chromium.value("document.documentElement.scrollWidth <= innerWidth");
        assert_eq!(fits, true, "{view} fits a phone");
    }
    chromium.size(1280, 860);
}

/// The root is the page for browsers and remains what it was for clients.
#[test]
fn root_for_browsers() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    assert_eq!(tslp.page("/")["status"], "ok");
    let browser = ("accept", "text/html,application/xhtml+xml");
    let page = tslp.request("GET", "/", &[browser], b"");
    assert_eq!(page.status(), 200);
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    let policy = page.header("content-security-policy").unwrap().to_owned();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self'"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    let tag = page.header("etag").unwrap().to_owned();
    let known = tslp.request("GET", "/", &[browser, ("if-none-match", &tag)], b"");
    assert_eq!((known.status(), known.body.len()), (304, 0));
    let html = String::from_utf8(page.body.clone()).unwrap();
    assert!(
        !html.contains("style=") && !html.contains("<script>"),
        "nothing is inline"
    );
    let files = ["/page/style.css", "/page/app.js", "/page/parts.js"];
    let sizes = files.map(|path| tslp.get(path).body.len());
    assert!(html.len() + sizes.iter().sum::<usize>() < PAGE_BYTES_MAX);
    for foreign in [
        ("origin", "http://evil.example"),
        ("sec-fetch-site", "cross-site"),
        ("host", "evil.example"),
    ] {
        for path in [
            "/",
            "/turn?episode=1",
            "/sent?episode=1",
            "/overview",
            "/events",
        ] {
            let refused = tslp.request("GET", path, &[browser, foreign], b"");
            assert!(
                matches!(refused.status(), 403 | 421 | 400),
                "{foreign:?} {path}: {refused:?}"
            );
        }
    }
    assert_eq!(tslp.request("POST", "/overview", &[], b"").status(), 405);
    tslp.stop();
}

#[test]
fn open_command() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let open = |opener: &str| {
        let programs = places.path("programs");
        fs::create_dir_all(&programs).unwrap();
        let program = programs.join(if cfg!(target_os = "macos") {
            "open"
        } else {
            "xdg-open"
        });
        fs::write(&program, format!("#!/bin/sh\n{opener}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = places.in_workspace(&["open"]);
        let output = command.env("PATH", &programs).output().unwrap();
        let texts = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (output.status.code(), texts)
    };
    let (code, [_, error]) = open("exit 0");
    assert_eq!(code, Some(1));
    assert!(
        error.contains("no proxy runs for this workspace"),
        "{error}"
    );
    let tslp = Tslp::start(&places, &upstream);
    let page = format!("{}/\n", address(&tslp));
    let opened = places.path("opened");
    let (code, [said, _]) = open(&format!("echo \"$1\" > '{}'", opened.display()));
    assert_eq!((code, &said), (Some(0), &page));
    assert_eq!(fs::read_to_string(opened).unwrap(), page);
    // Without a browser, the address is said all the same.
    let (code, [said, error]) = open("exit 3");
    assert_eq!((code, said), (Some(0), page));
    assert!(error.contains("no browser could be opened"), "{error}");
    tslp.stop();
}

/// The page needs no token, but what it shows does.
#[test]
fn token_for_content() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(
        &places,
        &upstream.url,
        &["--token", "s3cret-enough-to-be-one"],
    );
    let browser = ("accept", "text/html");
    assert_eq!(tslp.request("GET", "/", &[browser], b"").status(), 200);
    assert_eq!(tslp.get("/page/app.js").status(), 200);
    for path in [
        "/overview",
        "/turn?episode=1",
        "/sent?episode=1",
        "/entity?name=a.c",
        "/events",
    ] {
        assert_eq!(tslp.get(path).status(), 401, "{path}");
    }
    let Some(mut chromium) = Browser::start() else {
        return;
    };
    chromium.call("Page.navigate", json!({ "url": address(&tslp) }));
    chromium.until("document.activeElement?.id === 'token'");
    chromium.value("document.activeElement.value = 's3cret-enough-to-be-one'; document.forms[0].requestSubmit()");
    chromium.until("document.body.innerText.includes('Nothing has happened yet')");
    assert_eq!(
        chromium.value("localStorage.length + sessionStorage.length + document.cookie.length"),
        0
    );
}

/// Two turns: code becomes true, and a change that loses some of it is refused.
fn refuse_a_change(tslp: &Tslp<'_>, upstream: &Upstream) {
    let mut talk = Talk::new(tslp);
    upstream.will_say("fine");
    talk.ask(&fenced("src/ring.c", RING));
    // In another conversation, which is shown what is true.
    let mut talk = Talk::new(tslp);
    upstream.will_say(fenced("src/ring.c", RING_LOST));
    talk.ask("simplify ring_put");
}

/// law 14.3, 14.5 | The page shows a turn's proposal next to the truth with the rule that refused, and records nothing
#[test]
fn turn_with_refusal() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    refuse_a_change(&tslp, &upstream);
    tslp.ended(2);
    let before = tslp.page("/overview")["head"].clone();
    let turn = tslp.page("/turn?episode=2");
    let refused = &turn["versions"][0];
    assert_eq!(
        (&refused["entity"], &refused["state"]),
        (&json!(RING_PUT), &json!("refused"))
    );
    assert_eq!(refused["truth"]["text"], RING.trim_end());
    assert_eq!(refused["proposed"]["text"], RING_LOST.trim_end());
    let rules = refused["rules"].as_array().unwrap();
    let unmet = rules
        .iter()
        .any(|rule| rule["met"] == false && rule["is_needed"] == true);
    assert!(unmet, "{rules:?}");
    assert_eq!(turn["prompt"][0]["text"], "simplify ring_put");
    let sent = tslp.page("/sent?episode=2");
    let body: Value = serde_json::from_str(sent["body"]["text"].as_str().unwrap()).unwrap();
    upstream.next();
    assert_eq!(
        body,
        upstream.next().json(),
        "it is what the model server got"
    );
    let ours = sent["ours"].as_array().unwrap();
    assert!(
        ours[0].as_str().unwrap().contains("CURRENT STATE"),
        "{ours:?}"
    );
    let entity = tslp.page(&format!("/entity?name={RING_PUT}"));
    let code: String = entity["code"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it[1].as_str().unwrap())
        .collect();
    assert_eq!(code, RING.trim_end());
    assert!(
        entity["code"]
            .as_array()
            .unwrap()
            .contains(&json!(["keyword", "return"]))
    );
    let found = tslp.page("/state?contains=RING_P");
    assert_eq!(
        found["entities"]
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>(),
        [RING_PUT]
    );
    assert_eq!(tslp.page("/state?contains=nosuch")["entities"], json!({}));
    assert_eq!(tslp.get("/turn?episode=99").status(), 404);
    assert_eq!(
        tslp.page("/overview")["head"],
        before,
        "looking records nothing"
    );
    tslp.stop();
}

/// A turn shows who asked, what was added and how full the window was.
#[test]
fn turn_and_window() {
    let (places, upstream) = (Places::new(), Upstream::with_context(8192));
    let tslp = Tslp::start(&places, &upstream);
    let opencode = (
        "user-agent",
        "opencode/1.18.33 ai-sdk/provider-utils/4.0.23",
    );
    let request = json!({ "model": "m", "messages": [user("hello")] });
    // Nobody waits until the server has said how much it reads.
    let turn = eventually(|| {
        let episode = tslp.chat_with(&[opencode], &request).episode();
        let turn = tslp.ended(episode);
        turn["window_tokens"].is_u64().then_some(turn)
    });
    assert_eq!(turn["client"], "opencode");
    assert_eq!(turn["window_tokens"], 8192);
    assert!(turn["added_ms"].as_f64() > Some(0.0), "{turn}");
    for (said, name) in [
        ("OpenAI/Python 2.20.0", json!("OpenAI/Python")),
        (
            "codex_exec/0.169.0 (Debian 12.0.0; x86_64)",
            json!("codex_exec"),
        ),
        ("", Value::Null),
    ] {
        let response = tslp.chat_with(&[("user-agent", said)], &request);
        assert_eq!(tslp.ended(response.episode())["client"], name);
    }
    tslp.stop();
}

/// Open pages hear of each commit without asking again.
#[test]
fn commits_are_announced() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let listen = || {
        let mut page = tslp.client();
        page.send("GET", "/events", &[], b"");
        page
    };
    let mut pages: Vec<Connection> = (0..16).map(|_| listen()).collect();
    for page in &mut pages {
        page.until("text/event-stream");
        page.until("data: ");
    }
    assert_eq!(tslp.get("/events").status(), 503, "each holds a connection");
    assert_eq!(tslp.request("POST", "/events", &[], b"").status(), 405);
    tslp.say("hello");
    let head = tslp.page("/overview")["head"].as_u64().unwrap();
    for page in &mut pages {
        page.until(&format!("data: {head}\n\n"));
    }
    // Who closes makes room.
    pages.pop();
    eventually(|| {
        let mut page = listen();
        page.until("\r\n\r\n");
        page.has("text/event-stream").then_some(())
    });
    // Nobody waits for pages when the proxy is to end.
    tslp.stop();
    for page in pages {
        assert_eq!(page.response().status(), 200);
    }
}

/// Damage after a turn does not hide the turn.
#[test]
fn damage_after_a_turn() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    refuse_a_change(&tslp, &upstream);
    tslp.say("something else");
    let pages = ["/turn?episode=2", "/sent?episode=2"];
    let sound = pages.map(|page| tslp.page(page));
    assert_eq!(sound[0]["versions"][0]["state"], "refused", "{}", sound[0]);
    assert!(sound[0]["events"].to_string().contains("prompt_measured"));
    assert!(
        sound[1]["ours"]
            .as_array()
            .is_some_and(|ours| !ours.is_empty())
    );
    tslp.stop();
    let damaged = ledger_file::open(&places.data).execute_batch(&format!(
        "DROP TRIGGER ledger_refuses_update;
         UPDATE ledger SET payload = x'00' WHERE episode = 3 AND abs(kind) = {}",
        tslp_migrations::number_of(tslp_core::event::EventKind::PromptSent)
    ));
    damaged.unwrap();
    ledger_file::distrust(&places.data);
    let tslp = Tslp::start(&places, &upstream);
    for (page, sound) in pages.into_iter().zip(sound) {
        let mut shown = tslp.page(page);
        if let Some(page) = shown.as_object_mut() {
            page.remove("unverified");
        }
        assert_eq!(shown, sound, "only its own events are read");
    }
    assert_eq!(tslp.get("/turn?episode=3").status(), 503);
    tslp.stop_with(3);
}

#[test]
fn session_as_it_happens() {
    let Some(mut chromium) = Browser::start() else {
        return;
    };
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let mut talk = Talk::new(&tslp);
    chromium.go(&address(&tslp));
    let first = chromium.text();
    assert!(
        first.contains("Nothing has happened yet.") && first.contains("OPENAI_BASE_URL"),
        "{first}"
    );
    assert!(chromium.view("truth").contains("Truth"));
    chromium.until("document.body.innerText.includes('Nothing is true yet')");
    assert!(chromium.view("turns").contains("No prompt has come yet"));

    // A paste appears without reloading.
    upstream.will_say("fine");
    places.write("src/settings.py", SETTINGS);
    talk.ask(&format!("Here are our settings\n{}", python(SETTINGS)));
    chromium.until("document.querySelectorAll('.turn').length === 1 && document.body.innerText.includes('✓ src/settings.py::deep_mapping')");

    // A refused edit stands next to the truth, lost lines marked, with the rule.
    // In another conversation, which is shown what is true.
    let mut talk = Talk::new(&tslp);
    upstream.will_say(python(DEEP_MAPPING_LOST));
    let opencode = ("user-agent", "opencode/1.18.33 runtime/bun/1.3.14");
    tslp.chat_with(
        &[opencode],
        &talk.request("Make deep_mapping simpler, please."),
    );
    chromium.until("document.body.innerText.includes('✕ src/settings.py::deep_mapping lost')");
    let listed = chromium.text();
    assert!(
        listed.contains("opencode · m") && listed.contains("ms added"),
        "{listed}"
    );
    let turn = chromium.view("turn/2");
    for part in [
        "What is true",
        "What the model proposed",
        "tslp confirm src/settings.py::deep_mapping",
        "needs",
    ] {
        assert!(turn.contains(part), "{part}: {turn}");
    }
    assert_eq!(
        chromium.value(
            "[...document.querySelectorAll('.side.lost .text')].map(it => it.textContent.trim())"
        ),
        json!([
            "if depth > LIMIT:",
            "raise RecursionError(\"mappings nest too deep\")",
            "if value is None:",
            "merged.pop(key, None)",
            "continue",
            "if isinstance(known, dict) and isinstance(value, dict):",
            "merged[key] = deep_mapping(known, value, depth=depth + 1)",
            "else:",
            "merged[key] = value"
        ])
    );
    // In the colours of its grammar.
    assert_eq!(
        chromium.value("document.querySelector('.side.lost .keyword').textContent"),
        "if"
    );
    chromium.view("now");
    chromium.until("document.querySelector('h2').textContent.includes('1 was refused')");

    // What the model saw, ours in colour.
    chromium.view("sent/2");
    assert!(
        chromium
            .value("document.querySelectorAll('pre .ours').length")
            .as_u64()
            > Some(0)
    );

    // The client has written the refused edit all the same: the page says that the file holds it.
    let (before, after) = (
        SETTINGS.find("def deep").unwrap(),
        SETTINGS.find("\n\ndef load").unwrap(),
    );
    let held = [&SETTINGS[..before], DEEP_MAPPING_LOST, &SETTINGS[after..]].concat();
    places.write("src/settings.py", &held);
    upstream.will_say("64");
    talk.ask("What is LIMIT?");
    tslp.ended(3);
    let now = chromium.view("now");
    assert!(
        now.contains("lost 8 lines, and your file holds it")
            && now.contains("1 was refused, and your file holds it"),
        "{now}"
    );
    assert!(chromium.view("turn/2").contains("tslp undo --episode 2"));

    // A file that is edited outside turns STALE, with a diff against it.
    places.write(
        "src/settings.py",
        &SETTINGS.replace("return merged", "return base"),
    );
    upstream.will_say("yes");
    talk.ask("is deep_mapping fine?");
    tslp.ended(4);
    let entity = "entity/src%2Fsettings.py%3A%3Adeep_mapping";
    let shown = chromium.view(entity);
    assert!(
        shown.contains("STALE")
            && shown.contains("What your file holds")
            && shown.contains("return base"),
        "{shown}"
    );
    assert_eq!(
        chromium.value("[...document.querySelectorAll('.timeline li')].map(it => it.className)"),
        json!(["true", "refused", "dropped"])
    );

    let views = ["now", "turns", "turn/2", "sent/2", entity, "systems"];
    check_for_everybody(&mut chromium, &views);
    // By keyboard alone.
    chromium.key("2", 50);
    chromium
        .until("location.hash === '#/turns' && document.querySelectorAll('.turn').length === 4");
    chromium.key("/", 191);
    chromium.until("document.activeElement.id === 'filter'");
    for letter in "refused".chars() {
        chromium.key(&letter.to_string(), u32::from(letter.to_ascii_uppercase()));
    }
    chromium.until("document.querySelectorAll('.turn').length === 1");
    for (filter, turns) in [
        ("client:opencode", 1),
        ("client:nosuch", 0),
        ("file:src/settings.py today", 4),
        ("refused today", 1),
        ("turn:3", 1),
        ("cache", 0),
        ("refused file:src/other.c", 0),
    ] {
        chromium.value(&format!("(() => {{ const f = document.activeElement; f.value = '{filter}'; f.dispatchEvent(new Event('input')); }})()"));
        let found = chromium.value("document.querySelectorAll('.turn').length");
        assert_eq!(found, turns, "{filter}");
    }
    chromium.value("(() => { const f = document.activeElement; f.value = 'refused'; f.dispatchEvent(new Event('input')); })()");
    chromium.key("Escape", 27);
    chromium.key("j", 74);
    chromium.until("document.activeElement.classList.contains('turn')");
    chromium.key("Enter", 13);
    chromium.until("document.querySelector('main').dataset.view === 'turn/2'");

    // A turn whose reply is still coming shows its end without reloading.
    let (go_on, waits) = barrier();
    let steps = [
        Step::Chunk(event("It is 64.")),
        waits,
        Step::Chunk(last_events()),
    ];
    upstream.will(Answer::Steps(steps.into()));
    let asking = tslp.asking(&talk.request("And LIMIT?"));
    chromium.view("turns");
    chromium.value("(() => { const f = document.getElementById('filter'); f.value = ''; f.dispatchEvent(new Event('input')); })()");
    chromium.until("document.body.innerText.includes('And LIMIT?')");
    let open = chromium.view("turn/5");
    assert!(open.contains("under way"), "{open}");
    go_on.send(()).unwrap();
    chromium.until("document.body.innerText.includes('Reply (completed)')");
    assert!(chromium.text().contains("It is 64."));
    assert_eq!(asking.response().status(), 200);
    tslp.stop();
}

/// Says something with aider, if `TSLP_AIDER` is its program; otherwise as a client like it does, which writes each file that a reply holds.
fn code_with(tslp: &Tslp<'_>, talk: &mut Talk<'_>, text: &str, reply: Option<&str>) {
    let places = tslp.places;
    let Some(aider) = env::var_os("TSLP_AIDER") else {
        talk.ask(&format!("{text} (src/settings.py)"));
        if let Some(code) = reply {
            places.write("src/settings.py", code);
        }
        return;
    };
    let home = places.path("home");
    fs::create_dir_all(&home).unwrap();
    // Without a repository it calls files by their names from the first one's folder on.
    let mut git = Command::new("git");
    let git = git.args(["init", "--quiet"]).current_dir(&places.workspace);
    assert!(git.status().unwrap().success());
    let arguments = "--model openai/qwen2.5-coder:7b --edit-format whole --no-show-model-warnings --no-check-update --no-show-release-notes \
                     --no-gitignore --no-auto-commits --no-dirty-commits --no-auto-lint --no-pretty --no-detect-urls --no-suggest-shell-commands --map-tokens 0 --yes-always src/settings.py --message";
    let output = Command::new(aider)
        .args(arguments.split_whitespace())
        .arg(text)
        .current_dir(&places.workspace)
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .env("HOME", &home)
        .env("OPENAI_API_KEY", "local")
        .env("OPENAI_API_BASE", format!("{}/v1", address(tslp)))
        .env("AIDER_ANALYTICS", "false")
        .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// As aider has models answer: the file's name, and all of it.
fn whole_file(code: &str) -> String {
    format!("src/settings.py\n```python\n{code}```\n")
}

/// What a client does over an hour is told in sentences.
#[test]
fn an_hour_in_sentences() {
    let Some(mut chromium) = Browser::start() else {
        return;
    };
    let (places, upstream) = (Places::new(), Upstream::with_context(8192));
    let tslp = Tslp::start(&places, &upstream);
    let mut talk = Talk::new(&tslp);
    places.write("src/settings.py", SETTINGS);
    let better = SETTINGS.replace(
        "    with open(path, encoding=\"utf-8\") as file:\n        return parse(file.read())\n",
        "    try:\n        with open(path, encoding=\"utf-8\") as file:\n            return parse(file.read())\n    except FileNotFoundError:\n        return {}\n",
    );
    upstream.will_say("`deep_mapping` merges `changes` into a copy of `base`, and goes down into mappings that both have.");
    code_with(&tslp, &mut talk, "What does deep_mapping do?", None);
    upstream.will_say(whole_file(&better));
    let text = "Let `load` give an empty mapping when there is no file.";
    code_with(&tslp, &mut talk, text, Some(&better));
    let (before, after) = (
        better.find("def deep").unwrap(),
        better.find("\n\ndef load").unwrap(),
    );
    let lossy = [&better[..before], DEEP_MAPPING_LOST, &better[after..]].concat();
    upstream.will_say(whole_file(&lossy));
    code_with(&tslp, &mut talk, "Make deep_mapping simpler.", Some(&lossy));
    upstream.will_say("It is 64.");
    code_with(&tslp, &mut talk, "What is LIMIT?", None);
    tslp.ended(4);
    chromium.go(&address(&tslp));
    chromium.until("document.querySelector('h2').textContent.includes('and your file')");
    let now = chromium.text();
    for part in [
        "src/settings.py::deep_mapping",
        "1 was refused, and your file holds it",
        "lost 8 lines",
        "See it next to the truth (turn 3)",
        "of the window",
        "of 8,192 tokens",
    ] {
        assert!(now.contains(part), "{part}: {now}");
    }
    chromium.picture("now");
    chromium.view("turns");
    chromium.picture("turns");
    let turn = chromium.view("turn/3");
    assert!(turn.contains("tslp undo --episode 3"), "{turn}");
    chromium.picture("refused");
    chromium.view("sent/3");
    chromium.picture("sent");
    chromium.view("entity/src%2Fsettings.py%3A%3Adeep_mapping");
    chromium.picture("truth");
    chromium.view("systems");
    chromium.picture("systems");
    tslp.stop();
}

#[test]
fn hostile_text() {
    let Some(mut chromium) = Browser::start() else {
        return;
    };
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let hostile = "<img src=x onerror=\"document.title='owned'\"> </script><script>document.title='owned'</script> \u{202e}gnorw \u{1b}[31mred\u{1b}[0m nul\u{0}nul";
    let path = "src/<img src=x onerror=alert(1)>.c";
    let line = "x".repeat(1 << 20);
    upstream.will_say(hostile);
    let prompt =
        format!("{hostile}\n```c\n// file: {path}\nint f(void) {{ return 1; }}\n```\n{line}");
    let client = ("user-agent", "<script>document.title='owned'</script>/1");
    let request = json!({ "model": hostile, "messages": [user(&prompt)] });
    tslp.chat_with(&[client], &request);
    tslp.ended(1);
    chromium.go(&address(&tslp));
    let entity = "entity/src%2F%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E.c%3A%3Af";
    for view in [
        "now", "turns", "turn/1", "sent/1", "truth", entity, "systems",
    ] {
        chromium.view(view);
        let owned = chromium.value(
            "document.title === 'owned' || !!document.querySelector('main img, main script')",
        );
        assert_eq!(owned, false, "{view}");
    }
    let turn = chromium.view("turn/1");
    assert!(
        turn.contains("<img src=x")
            && turn.contains("\\u{202e}gnorw")
            && turn.contains("\\u{1b}[31m"),
        "{turn}"
    );
    assert!(turn.len() < 400_000, "a long line is cut");
    chromium.value("[...document.querySelectorAll('button.more')].find(it => it.textContent.startsWith('Show all')).click()");
    chromium.until("document.body.textContent.length > (1 << 20)");
    tslp.stop();
}

/// Budgets, grants, locks and records are shown with what is left of them.
#[test]
fn what_is_left() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let settings = [
        "--budget-day",
        "requests 200",
        "--guardian-client-tools",
        "strict",
    ];
    let tslp = Tslp::with(&places, &upstream.url, &settings);
    places.write("src/ring.c", RING);
    tslp.say("What does src/ring.c do?");
    let note = "fact #ring.store: <b>Values</b> go to the head. `r->slots[r->head] = value;` [src/ring.c:2]";
    assert_eq!(places.cli_json(&["note", note]).0, 0);
    let records = || tslp.page("/overview")["records"].clone();
    assert_eq!(records()[0]["grounded"], true, "{}", records());
    places.write("src/ring.c", RING_LOST);
    tslp.say("What does src/ring.c do?");
    assert_eq!(records()[0]["grounded"], false, "{}", records());
    assert_eq!(
        records(),
        places.cli_json(&["status", "notes"]).1["records"]
    );
    let mut agent = Agent::new(&tslp, &upstream, "/v1/chat/completions", "Clean up.");
    agent.call("bash", &json!({ "command": "rm -rf ~" }), "done");
    // The client has its reply before all of it is on disk.
    let over = eventually(|| {
        let over = tslp.page("/overview");
        over["calls"][0]["decision"].is_string().then_some(over)
    });
    let call = &over["calls"][0];
    assert_eq!(call["decision"], "DENY", "{call}");
    assert!(
        call["text"].as_str().unwrap().contains("rm -rf ~"),
        "{call}"
    );
    let budget = &over["budgets"][0];
    let number = |field: &str| budget[field].as_str().unwrap().parse::<u64>().unwrap();
    assert_eq!(budget["what"], "requests");
    assert_eq!(number("left") + number("used"), 200, "{budget}");
    assert!(number("used") > 0);
    assert_eq!(over["usage"][0]["cost"], "0");
    let Some(mut chromium) = Browser::start() else {
        return;
    };
    chromium.go(&address(&tslp));
    let shown = chromium.view("systems");
    for part in [
        "<b>Values</b> go to the head.",
        "not told: the code that it quotes has changed",
        "rm -rf ~",
        "DENY",
        "left",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    check_for_everybody(&mut chromium, &["systems"]);
    tslp.stop();
}

/// Entities of a large project, and how many names one page of the server looks through at most.
const ENTITIES: u64 = 200_000;
const NAMES_OF_A_PAGE: u64 = 50_000;

/// Puts more like what is true beside it: 100 functions in each of many files.
fn fill_state_map(places: &Places) {
    let mut database = ledger_file::open(&places.data);
    database
        .busy_timeout(std::time::Duration::from_secs(20))
        .unwrap();
    let known = ledger_file::tracked_files(&database).pop().unwrap();
    let known = known.true_entities().unwrap().pop().unwrap();
    let filling = database.transaction().unwrap();
    for file in 0..ENTITIES / 100 {
        let path = RelPath::from_normalised(&format!("src/m{file:04}.c"));
        let entities = (0..100).map(|function| {
            let name = format!("f{file}_{function}");
            let entity = EntityId::symbol(path.clone(), Symbol::new(&name));
            TrueEntity {
                entity,
                ..known.clone()
            }
        });
        let row = TrackedFileRow::of_entities(path.clone(), &entities.collect::<Vec<_>>());
        ledger_file::put_tracked(&filling, &row);
    }
    filling.commit().unwrap();
}

/// A large state is filtered by the server and windowed by the page.
#[test]
fn large_state() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    upstream.will_say("ok");
    let reply = tslp.say(&fenced("src/a.c", "int first(void) { return 1; }\n"));
    // With the page, its rows are written.
    tslp.ended(reply.episode());
    fill_state_map(&places);
    // Only so many names are looked through before other pages have their turn.
    let mut path = "/state?contains=nosuch".to_owned();
    let mut pages = 0;
    loop {
        let page = tslp.page(&path);
        pages += 1;
        assert_eq!(page["entities"], json!({}));
        let Some(next) = page["next"].as_str() else {
            break;
        };
        path = format!("/state?contains=nosuch&after={next}");
    }
    assert_eq!(pages, ENTITIES / NAMES_OF_A_PAGE + 1);
    assert_eq!(
        tslp.page("/state?limit=3&contains=F1999_99")["entities"],
        json!({}),
        "that is on a later page"
    );
    let Some(mut chromium) = Browser::start() else {
        return;
    };
    chromium.go(&address(&tslp));
    chromium.view("truth");
    chromium.until("document.querySelectorAll('#tree .row').length > 20");
    let rows_drawn = "document.querySelectorAll('#tree .row').length";
    assert!(chromium.value(rows_drawn).as_u64() < Some(120));
    // On and on, page by page.
    chromium.until("(() => { const t = document.getElementById('tree'); t.scrollTop = t.scrollHeight; return [...t.querySelectorAll('.row')].some(it => it.textContent === 'f9_99'); })()");
    assert!(chromium.value(rows_drawn).as_u64() < Some(120));
    let type_in = |chromium: &mut Browser, text: &str| {
        chromium.value(&format!("(() => {{ const f = document.getElementById('filter'); f.focus(); f.value = '{text}'; f.dispatchEvent(new Event('input')); }})()"));
    };
    type_in(&mut chromium, "f12_7");
    chromium.until("[...document.querySelectorAll('#tree .row')].map(it => it.textContent).join() === 'src/m0012.c,f12_7,f12_70,f12_71,f12_72,f12_73,f12_74,f12_75,f12_76,f12_77,f12_78,f12_79'");
    // What is near the end, and what is nowhere, takes as many questions as there are pages, and no more.
    type_in(&mut chromium, "F1999_99");
    chromium.until("[...document.querySelectorAll('#tree .row')].map(it => it.textContent).join() === 'src/m1999.c,f1999_99'");
    type_in(&mut chromium, "nosuch");
    chromium.until("document.body.innerText.includes('Nothing true is named so')");
    for filter in ["F1999_99", "nosuch"] {
        let questions = chromium.value(&format!("performance.getEntriesByType('resource').filter(it => it.name.includes('contains={filter}')).length"));
        assert_eq!(questions, pages, "{filter}");
    }
    tslp.stop();
}

/// What is gone is shown with what the file holds and how it went.
#[test]
fn gone_code() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let mut talk = Talk::new(&tslp);
    let other = "int other(void) {\n    return 7;\n}\n";
    let includes = "#include \"ring.h\"\n\n";
    let whole = format!("{includes}{RING}\n{other}");
    places.write("src/ring.c", &whole);
    upstream.will_say("fine");
    talk.ask(&fenced("src/ring.c", &whole));
    let entity = || tslp.page(&format!("/entity?name={RING_PUT}"));
    let text = |pieces: &Value| -> Option<String> {
        let pieces = pieces.as_array()?.iter();
        Some(pieces.map(|it| it[1].as_str().unwrap()).collect())
    };
    assert_eq!(text(&entity()["on_disk"]), None, "the file holds it");
    // Before the next prompt has looked: the page looks itself.
    places.write("src/ring.c", other);
    let gone = entity();
    assert_eq!(text(&gone["code"]).as_deref(), Some(RING.trim_end()));
    assert_eq!(text(&gone["on_disk"]).as_deref(), Some(""), "{gone}");
    fs::remove_file(places.workspace.join("src/ring.c")).unwrap();
    assert_eq!(text(&entity()["on_disk"]).as_deref(), Some(""));
    // The user takes it away; the file still holds another form of it.
    upstream.will_say("fine");
    talk.ask(&format!(
        "I removed ring_put, this is the whole file now:\n{}",
        fenced("src/ring.c", &format!("{includes}{other}"))
    ));
    places.write("src/ring.c", &format!("{includes}{RING_LOST}\n{other}"));
    let removed = entity();
    assert_eq!(removed["now"], Value::Null, "{removed}");
    assert_eq!(text(&removed["code"]).as_deref(), Some(RING.trim_end()));
    assert_eq!(
        text(&removed["on_disk"]).as_deref(),
        Some(RING_LOST.trim_end())
    );
    let story = removed["story"].as_array().unwrap().iter();
    let states: Vec<&Value> = story
        .map(|event| &event["state"])
        .filter(|state| !state.is_null())
        .collect();
    assert_eq!(states, ["true", "removed"]);
    if let Some(mut chromium) = Browser::start() {
        chromium.go(&address(&tslp));
        let shown = chromium.view("entity/src%2Fring.c%3A%3Aring_put");
        assert!(
            shown.contains("What was true last") && shown.contains("version 1"),
            "{shown}"
        );
        assert_eq!(
            chromium
                .value("[...document.querySelectorAll('.timeline li')].map(it => it.className)"),
            json!(["true", "removed"])
        );
    }
    tslp.stop();
}
