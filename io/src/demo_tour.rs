//! `tslp demo`: a tour over real sockets in a temporary workspace. It shows what the proxy is for, step by step, and
//! checks each step itself.

use std::error::Error;
use std::fmt::Display;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tslp_core::ids::Seq;
use tslp_core::reason::Reason;
use tslp_projections::TABLES;
use tslp_store::ledger::{self, DataFiles};

use crate::config::environment::Environment;
use crate::config::settings::Settings;
use crate::config::upstream::UpstreamSetting;
use crate::evidence::describe::reason_words;
use crate::exit::Exit;
use crate::json_client;
use crate::main_loop::LoopHandle;
use crate::out::Out;
use crate::serve::{BoundServer, ServeEnd, ServeError};

/// The project of the tour.
const FILE: &str = "src/ring.c";
const ENTITY: &str = "src/ring.c::ring_put";
const SOURCE: &str = include_str!("demo_tour/ring.c");

/// How often it is asked whether a reply has been judged.
const LOOKS_MAX: u32 = 1000;

/// An error that ends the tour: a step doesn't do what it says, or the proxy, its ledger, files or sockets fail.
pub type TourError = Box<dyn Error + Send + Sync>;

fn failed(what: impl Display) -> TourError {
    format!("the tour's check failed: {what}").into()
}

/// Whether each of these holds.
fn ensure_all(checks: &[(bool, &str)]) -> Result<(), TourError> {
    let broken = checks.iter().find(|(holds, _)| !holds);
    broken.map_or(Ok(()), |(_, what)| Err(failed(what)))
}

/// Runs the tour.
///
/// # Errors
/// At the first step that doesn't do what it says.
pub fn run_tour<W: io::Write>(out: &mut Out<W>) -> Result<Exit, TourError> {
    let mut tour = Tour::prepare(out)?;
    tour.paste_becomes_truth()?;
    tour.full_update_is_promoted()?;
    tour.lazy_edit_is_refused()?;
    tour.hand_edit_goes_stale()?;
    tour.projections_are_rebuilt()?;
    tour.print_line("\nEvery step happened as it should. Next: `tslp serve` in your own project.")?;
    tour.proxy.stop()?;
    Ok(Exit::Ok)
}

struct Tour<'o, W: io::Write> {
    out: &'o mut Out<W>,
    proxy: TourProxy,
    workspace: PathBuf,
    data_dir: PathBuf,
    step: u32,
    _folder: TempDir,
}

impl<'o, W: io::Write> Tour<'o, W> {
    fn prepare(out: &'o mut Out<W>) -> Result<Self, TourError> {
        let folder = tempfile::Builder::new().prefix("tslp-demo-").tempdir()?;
        let workspace = folder.path().join("project");
        let data_dir = folder.path().join("data");
        fs::create_dir_all(workspace.join("src"))?;
        fs::write(workspace.join(FILE), SOURCE)?;
        out.line(format_args!(
            "A small project lies in {}. A proxy starts in front of the embedded demo model.",
            workspace.display()
        ))?;
        let proxy = TourProxy::start(&workspace, &data_dir)?;
        out.line(format_args!("It listens on http://{}.", proxy.address))?;
        Ok(Self {
            out,
            proxy,
            workspace,
            data_dir,
            step: 0,
            _folder: folder,
        })
    }

    fn paste_becomes_truth(&mut self) -> Result<(), TourError> {
        self.print_title("You paste a file, with its path, and it becomes the truth")?;
        let paste = format!("{FILE}\n```c\n{SOURCE}```\nThis is my ring buffer.");
        self.proxy.chat(&paste)?;
        let entity = self.proxy.find_entity(ENTITY)?;
        let is_users = entity["origin"] == "user";
        ensure_all(&[(is_users, "the pasted function is authoritative")])?;
        self.tell_entity(&entity)
    }

    fn full_update_is_promoted(&mut self) -> Result<(), TourError> {
        self.print_title("In a new conversation you name the function; the model gets its code")?;
        let before = self.proxy.find_entity(ENTITY)?;
        let reply = self.proxy.chat("Please improve `ring_put`.")?;
        let prompt = self.proxy.last_prompt()?;
        let is_hydrated = prompt.contains("[CURRENT STATE: AUTHORITATIVE]");
        let is_shown = prompt.contains("r->count++;");
        self.print_line("  The model saw, directly in front of your words:")?;
        self.print_quoted(&prompt, 7)?;
        let after = self.proxy.find_entity(ENTITY)?;
        let is_other = after["artifact"] != before["artifact"];
        ensure_all(&[
            (is_hydrated, "the prompt shows the true code"),
            (is_shown, "the model was shown the function"),
            (is_other, "the update has another hash"),
            (
                after["origin"] == "model",
                "the model's full update was promoted",
            ),
        ])?;
        self.print_line("  It answered with the whole function, so it is taken:")?;
        self.tell_entity(&after)?;
        self.apply_reply(&reply)?;
        self.print_line("  Your editor applies it to the file.")
    }

    fn lazy_edit_is_refused(&mut self) -> Result<(), TourError> {
        self.print_title("The model gets lazy: \"// ... rest unchanged ...\"")?;
        let before = self.proxy.find_entity(ENTITY)?;
        let reply = self.proxy.chat("Give me a lazy edit of `ring_put`.")?;
        self.print_quoted(&reply, 10)?;
        let after = self.proxy.find_entity(ENTITY)?;
        let reason = self.proxy.last_refusal()?;
        ensure_all(&[
            (
                after["artifact"] == before["artifact"],
                "the truth is what it was",
            ),
            (
                reason == Reason::Elided.code(),
                "the refusal names the placeholder",
            ),
        ])?;
        let why = reason_words(Reason::Elided);
        self.print_line(&format!("  Refused: {why}. What is true is what it was."))
    }

    fn hand_edit_goes_stale(&mut self) -> Result<(), TourError> {
        self.print_title("You edit the file by hand and tell nobody")?;
        let path = self.workspace.join(FILE);
        let edited = fs::read_to_string(&path)?.replace("return -1;", "return RING_FULL;");
        fs::write(&path, edited)?;
        self.proxy
            .chat("What does `ring_put` return when the ring is full?")?;
        let entity = self.proxy.find_entity(ENTITY)?;
        let prompt = self.proxy.last_prompt()?;
        let is_withheld = !prompt.contains("r->count++;");
        ensure_all(&[
            (entity["stale"] == true, "the entity is STALE"),
            (is_withheld, "the model was not shown the old code"),
            (prompt.contains("STALE"), "the model was told why"),
        ])?;
        self.print_line(
            "  The proxy noticed. The old code is withheld, and the model is told so:",
        )?;
        self.print_quoted(&prompt, 6)
    }

    fn projections_are_rebuilt(&mut self) -> Result<(), TourError> {
        self.print_title("The proxy stops, and what is derived is thrown away; the ledger stays")?;
        let before = self.proxy.get("/state")?;
        self.proxy.stop()?;
        let Seq(events) = ledger::drop_tables(&DataFiles::of(&self.data_dir))?;
        self.proxy = TourProxy::start(&self.workspace, &self.data_dir)?;
        let after = self.proxy.get("/state")?;
        ensure_all(&[(before == after, "the rebuilt state equals the old one")])?;
        self.print_line(&format!(
            "  {} tables dropped, {events} events verified and folded anew: the state is the same, byte for byte.",
            TABLES.len()
        ))
    }

    /// Writes the function of the reply over the one in the file, as an editor would.
    fn apply_reply(&self, reply: &str) -> Result<(), TourError> {
        let mut parts = reply.split("```");
        let code = parts.nth(1).and_then(|block| block.split_once('\n'));
        let (_, code) = code.ok_or_else(|| failed("the reply holds code"))?;
        let path = self.workspace.join(FILE);
        let old = fs::read_to_string(&path)?;
        let (before, rest) = old.split_once("int ring_put").unwrap_or_default();
        let (_, after) = rest.split_once("int ring_get").unwrap_or_default();
        ensure_all(&[(!after.is_empty(), "the file holds both functions")])?;
        let new = format!("{before}{}\n\nint ring_get{after}", code.trim_end());
        Ok(fs::write(&path, new)?)
    }

    fn print_title(&mut self, title: &str) -> Result<(), TourError> {
        self.step += 1;
        self.print_line(&format!("\n{}. {title}.", self.step))
    }

    fn tell_entity(&mut self, entity: &Value) -> Result<(), TourError> {
        let from = text_of(&entity["origin"])?;
        self.print_line(&format!("  {ENTITY} is true now, from the {from}."))
    }

    fn print_quoted(&mut self, text: &str, lines_max: usize) -> Result<(), TourError> {
        for line in text.lines().take(lines_max) {
            self.print_line(&format!("    | {line}"))?;
        }
        if text.lines().count() > lines_max {
            self.print_line("    | …")?;
        }
        Ok(())
    }

    fn print_line(&mut self, line: &str) -> Result<(), TourError> {
        Ok(self.out.lines(line.split('\n').map(str::to_owned))?)
    }
}

/// A proxy of this process.
struct TourProxy {
    address: SocketAddr,
    handle: LoopHandle,
    thread: Option<JoinHandle<Result<ServeEnd, ServeError>>>,
}

impl TourProxy {
    fn start(workspace: &Path, data_dir: &Path) -> Result<Self, TourError> {
        let mut settings = Settings {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            workspace: workspace.to_owned(),
            data_dir: data_dir.to_owned(),
            debug: true,
            // The tour tells what becomes of each reply, and holds standard output for that until its end.
            is_quiet: true,
            ..Settings::default()
        };
        settings.upstream.named.place = UpstreamSetting::Demo;
        settings.settle(&Environment::of_process())?;
        let server = BoundServer::bind_and_open(&settings)?;
        let (address, handle) = (server.listen_address(), server.loop_handle());
        let thread = thread::Builder::new()
            .name("proxy".into())
            .spawn(move || server.run_until_end())?;
        Ok(Self {
            address,
            handle,
            thread: Some(thread),
        })
    }

    fn stop(&mut self) -> Result<(), TourError> {
        self.handle.shutdown();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            ended.map_err(|_| failed("the proxy ends without a panic"))??;
        }
        Ok(())
    }

    /// One prompt in a conversation of its own; returns the reply's text once it has been judged, after the client has it.
    fn chat(&self, prompt: &str) -> Result<String, TourError> {
        let body = json!({ "model": "demo", "messages": [{ "role": "user", "content": prompt }] });
        let reply = self.request_json("POST", "/v1/chat/completions", &body.to_string())?;
        for _ in 0..LOOKS_MAX {
            let recent = self.get("/recent?limit=1")?;
            if recent["episodes"][0]["outcome"] == "completed" {
                return Ok(text_of(&reply["choices"][0]["message"]["content"])?.to_owned());
            }
            thread::sleep(Duration::from_millis(5));
        }
        Err(failed("the reply is judged soon after its end"))
    }

    fn get(&self, path: &str) -> io::Result<Value> {
        self.request_json("GET", path, "")
    }

    fn request_json(&self, method: &str, path: &str, body: &str) -> io::Result<Value> {
        let address = self.address;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        json_client::request_json(TcpStream::connect(address)?, request.as_bytes())
    }

    fn find_entity(&self, name: &str) -> Result<Value, TourError> {
        let state = self.get("/state")?;
        let entity = state["entities"][name].clone();
        ensure_all(&[(entity.is_object(), "the function stands in the State Map")])?;
        Ok(entity)
    }

    /// The newest message that the model saw: what the proxy put in front of the user's words, and these.
    fn last_prompt(&self) -> Result<String, TourError> {
        let page = self.get("/debug/last-prompt")?;
        let messages = page["request"]["messages"].as_array();
        let newest = messages.and_then(|messages| messages.last());
        Ok(text_of(&newest.unwrap_or(&Value::Null)["content"])?.to_owned())
    }

    /// The reason why the last episode's artifact stayed PROPOSED.
    fn last_refusal(&self) -> Result<String, TourError> {
        let recent = self.get("/recent?limit=1")?;
        let states = recent["episodes"][0]["artifact_states"].as_array();
        let mut states = states.into_iter().flatten();
        let proposed = states.find(|state| state["state"] == "PROPOSED");
        Ok(text_of(&proposed.unwrap_or(&Value::Null)["reason"])?.to_owned())
    }
}

fn text_of(value: &Value) -> Result<&str, TourError> {
    let text = value.as_str();
    text.ok_or_else(|| failed(format_args!("{value} is a text")))
}
