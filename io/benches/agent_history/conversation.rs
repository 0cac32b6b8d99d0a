//! A project of real C files, and an agent's conversation that reads one after the other.

use std::error::Error;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::client::Client;

/// Entities that the ledger knows before the conversation begins.
const ENTITIES: u64 = 10_000;
/// Files taken for that: a C file of a library has about thirty definitions.
const FILES_MAX: usize = 500;
const FILE_BYTES: std::ops::Range<u64> = 4_000..60_000;
/// Bytes of a file that one step reads, as agents' tools cap them.
const READ_BYTES: usize = 12_000;

/// Of the files that the conversation has read, one in so many was changed since.
const OUTDATED_EVERY: usize = 10;

/// The workspace and its ledger.
pub(crate) struct Project {
    pub(crate) workspace: PathBuf,
    pub(crate) data_dir: PathBuf,
    /// Each file's path in the workspace and its text as the conversation reads it.
    pub(crate) files: Vec<(String, String)>,
    pub(crate) entities: u64,
    pub(crate) outdated_files: usize,
}

impl Project {
    /// Copies C files into a workspace, adopts them, changes some, and adopts those again.
    pub(crate) fn collect(from: Option<PathBuf>, dir: &Path) -> Result<Self, Box<dyn Error>> {
        let workspace = dir.join("workspace");
        let data_dir = dir.join("data");
        let mut files = Vec::new();
        let from = from.unwrap_or_else(registry);
        for source in sources(&from)? {
            let Ok(text) = std::fs::read_to_string(&source) else {
                continue;
            };
            let path = format!("src/{:03}/{}", files.len(), file_name(&source));
            let to = workspace.join(&path);
            std::fs::create_dir_all(to.parent().unwrap_or(&workspace))?;
            std::fs::write(to, &text)?;
            files.push((path, text));
            if files.len() == FILES_MAX {
                break;
            }
        }
        let mut project = Self {
            workspace,
            data_dir,
            files,
            entities: 0,
            outdated_files: 0,
        };
        project.adopt()?;
        for (path, text) in project.files.iter().step_by(OUTDATED_EVERY) {
            let changed = text.replace("return", "(void)0; return");
            std::fs::write(project.workspace.join(path), changed)?;
            project.outdated_files += 1;
        }
        project.adopt()?;
        project.entities = project.count_entities()?;
        if project.entities < ENTITIES {
            return Err(format!(
                "only {} entities: name a folder with more C files",
                project.entities
            )
            .into());
        }
        Ok(project)
    }

    fn adopt(&self) -> Result<(), Box<dyn Error>> {
        let adopted = Command::new(crate::proxy::program())
            .args(["adopt", ".", "--log-level", "error", "--workspace"])
            .arg(&self.workspace)
            .arg("--data-dir")
            .arg(&self.data_dir)
            .current_dir(&self.workspace)
            .output()?;
        if !adopted.status.success() {
            return Err(String::from_utf8_lossy(&adopted.stderr).into());
        }
        Ok(())
    }

    fn count_entities(&self) -> Result<u64, Box<dyn Error>> {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let ledger = self.data_dir.join("ledger.db");
        let database = rusqlite::Connection::open_with_flags(ledger, flags)?;
        let count = "SELECT sum(entities) FROM state_map";
        Ok(database.query_row(count, [], |row| row.get::<_, i64>(0))? as u64)
    }
}

fn registry() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home =
        home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    home.unwrap_or_default().join("registry/src")
}

/// C files beneath a folder, in a fixed order.
fn sources(from: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = vec![from.to_owned()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
        entries.sort_by_key(std::fs::DirEntry::path);
        for entry in entries {
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "c")
                && FILE_BYTES.contains(&entry.metadata()?.len())
            {
                sources.push(path);
            }
        }
    }
    Ok(sources)
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// An agent's conversation, as JSON.
pub(crate) struct Conversation<'p> {
    project: &'p Project,
    /// All messages, with a comma between two.
    messages: String,
    count: usize,
    files_read: usize,
    calls: usize,
}

const SYSTEM: &str =
    "You are a coding agent. Use the tools to read and change the project's files. ";

const TOOLS: &str = r#"[{"type":"function","function":{"name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer"}}}}},{"type":"function","function":{"name":"list","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}]"#;

impl<'p> Conversation<'p> {
    pub(crate) fn new(project: &'p Project) -> Self {
        let mut conversation = Self {
            project,
            messages: String::new(),
            count: 0,
            files_read: 0,
            calls: 0,
        };
        conversation.push("system", &SYSTEM.repeat(120), "");
        let prompt = "Read the project file by file and find out why it leaks memory at its end.";
        conversation.push("user", prompt, "");
        conversation
    }

    /// Goes on, step by step, until the conversation has so many bytes.
    pub(crate) fn grow_to(&mut self, bytes: usize, client: &mut Client) -> io::Result<()> {
        while self.bytes() < bytes {
            self.read_file(READ_BYTES);
            client.chat(&self.body())?;
            self.replied(&client.reply());
        }
        Ok(())
    }

    /// One more step: the agent reads the next file, or as much of the next ones as make so many bytes.
    pub(crate) fn read_file(&mut self, bytes: usize) {
        let project = self.project;
        let mut shown = String::new();
        let mut path = "";
        while shown.len() < bytes {
            let (name, text) = &project.files[self.files_read % project.files.len()];
            self.files_read += 1;
            path = name;
            let _ = writeln!(shown, "<file path=\"{name}\">");
            for (line, code) in text.lines().enumerate() {
                if shown.len() >= bytes {
                    break;
                }
                // Some agents number the lines, some don't.
                let _ = match self.files_read % 2 {
                    0 => writeln!(shown, "{:>5}\t{code}", line + 1),
                    _ => writeln!(shown, "{code}"),
                };
            }
            shown.push_str("</file>\n");
        }
        self.call("read", path, &shown);
    }

    /// One more step: the agent lists a folder.
    pub(crate) fn list_folder(&mut self) {
        let entries = format!(
            "entries of step {}: README Makefile include tests",
            self.calls
        );
        self.call("list", "doc", &entries);
    }

    fn call(&mut self, tool: &str, path: &str, result: &str) {
        self.calls += 1;
        let id = format!("call_{}", self.calls);
        let arguments = serde_json::json!({ "path": path }).to_string();
        let calls = serde_json::json!([{
            "id": id, "type": "function", "function": { "name": tool, "arguments": arguments },
        }]);
        self.push("assistant", "", &format!(",\"tool_calls\":{calls}"));
        self.push("tool", result, &format!(",\"tool_call_id\":\"{id}\""));
    }

    /// The model's reply becomes history.
    pub(crate) fn replied(&mut self, text: &str) {
        self.push("assistant", text, "");
    }

    fn push(&mut self, role: &str, text: &str, fields: &str) {
        if self.count > 0 {
            self.messages.push(',');
        }
        self.count += 1;
        let text = serde_json::Value::from(text);
        let _ = write!(
            self.messages,
            "{{\"role\":\"{role}\",\"content\":{text}{fields}}}"
        );
    }

    pub(crate) fn bytes(&self) -> usize {
        self.messages.len()
    }

    pub(crate) const fn message_count(&self) -> usize {
        self.count
    }

    /// The request.
    pub(crate) fn body(&self) -> String {
        format!(
            "{{\"model\":\"bench\",\"stream\":true,\"messages\":[{}],\"tools\":{TOOLS}}}",
            self.messages
        )
    }

    /// Another conversation's prompt, of 4 KB.
    pub(crate) fn small_prompt(&self, number: usize) -> String {
        let prose = "the parser reads the header first and counts what is left to do ";
        let text = format!("Question {number}: {}", prose.repeat(60));
        format!(
            "{{\"model\":\"bench\",\"stream\":true,\"messages\":[{{\"role\":\"user\",\"content\":{}}}]}}",
            serde_json::Value::from(text)
        )
    }
}
