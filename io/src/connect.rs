//! Each client's set-up for the proxy, for the address and token in force: to read (`tslp connect`), and to run (`tslp run`).

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::config::settings::Settings;

/// The clients, as data.
const CLIENTS: &str = include_str!("connect.txt");

/// A client and what to run or write: its part of the data.
struct ClientSetup(&'static str);

fn clients() -> impl Iterator<Item = ClientSetup> {
    let parts = CLIENTS.split("\n\n").filter(|it| it.starts_with("name: "));
    parts.map(ClientSetup)
}

/// What any other program is run with: the variables that the SDKs read.
const ANY_PROGRAM: &str = "OPENAI_BASE_URL=ORIGIN/v1 OPENAI_API_BASE=ORIGIN/v1 OPENAI_API_KEY=KEY ANTHROPIC_BASE_URL=ORIGIN ANTHROPIC_AUTH_TOKEN=KEY OLLAMA_HOST=ORIGIN";

/// A client that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientRun {
    /// The name of its program.
    pub(crate) program: String,
    /// Variables, the program, its arguments.
    pub(crate) line: String,
    /// A file in its folder, and the text.
    pub(crate) file: Option<(&'static str, &'static str)>,
}

/// What a client's line is filled in with.
pub(crate) struct RunPlaces<'p> {
    pub(crate) listen: SocketAddr,
    pub(crate) token: Option<&'p str>,
    /// The user's key for the model server.
    pub(crate) own_key: Option<&'p str>,
    pub(crate) model: &'p str,
    /// tslp's own folder for this client.
    pub(crate) folder: &'p Path,
}

/// A client's line, filled in.
pub(crate) struct RunWords {
    pub(crate) environment: Vec<(String, RunVariable)>,
    pub(crate) arguments: Vec<String>,
    pub(crate) file: Option<(PathBuf, String)>,
}

/// A variable's value.
pub(crate) struct RunVariable {
    pub(crate) text: String,
    /// Whether it is the user's to choose, as a model or the model server's key is.
    pub(crate) is_choice: bool,
}

/// How to run what the user calls a client: by its name in the table, or by its program's.
///
/// # Errors
/// If it can't be run for one time: why, and what to do instead.
pub(crate) fn client_run(name: &str) -> Result<ClientRun, (String, Vec<String>)> {
    let base = name.rsplit('/').next().unwrap_or(name);
    for known in clients() {
        let Some(line) = known.entry("run") else {
            if known.must("name") != base {
                continue;
            }
            let why = format!("{name} can't be run for one time: {}", known.must("not"));
            let mut lines = known.lines(Settings::default().listen, None);
            lines.push(
                "`tslp serve` runs a proxy, and `tslp connect` prints this with its address."
                    .into(),
            );
            return Err((why, lines));
        };
        let file = known.entry("file").zip(known.entry("holds"));
        let words = shell_words(line);
        let program = words.iter().find(|word| !is_assignment(word));
        let program = program.expect("every line has a program").clone();
        if known.must("name") == base || program == base {
            let named = if program == base { name } else { &program };
            return Ok(ClientRun {
                program: named.to_owned(),
                line: line.to_owned(),
                file,
            });
        }
    }
    Ok(ClientRun {
        program: name.to_owned(),
        line: format!("{ANY_PROGRAM} PROGRAM"),
        file: None,
    })
}

/// The model that the arguments name, without the provider that some clients want in front of it.
pub(crate) fn model_named(arguments: &[OsString]) -> Option<String> {
    let mut arguments = arguments.iter().map(|argument| argument.to_string_lossy());
    let named = loop {
        let argument = arguments.next()?;
        if matches!(&*argument, "-m" | "--model") {
            break arguments.next()?.into_owned();
        }
        if let Some(model) = argument.strip_prefix("--model=") {
            break model.to_owned();
        }
    };
    let bare = ["openai/", "local/"]
        .iter()
        .find_map(|it| named.strip_prefix(it));
    Some(bare.map_or_else(|| named.clone(), str::to_owned))
}

impl ClientRun {
    /// Fills the line in; the model isn't named if the user's own arguments name one.
    pub(crate) fn filled_in(&self, places: &RunPlaces<'_>, arguments: &[OsString]) -> RunWords {
        let origin = origin_of(places.listen);
        let key = places.token.or(places.own_key).unwrap_or(ANY_KEY);
        let folder = places.folder.to_string_lossy();
        let fill = |word: &str| {
            // In JSON and YAML they are between quotes.
            let escaped = |text: &str| match word.contains('"') {
                true => inside_json(text),
                false => text.to_owned(),
            };
            let word = word.replace("ORIGIN", &origin).replace("DIR", &folder);
            // Variables end in KEY and MODEL, too.
            let (name, value) = match word.split_once('=').filter(|_| is_assignment(&word)) {
                Some((name, value)) => (format!("{name}="), value.to_owned()),
                None => (String::new(), word.clone()),
            };
            let value = value.replace("MODEL", &escaped(places.model));
            let value = match value.as_str() {
                "KEY" => key.to_owned(),
                _ => value.replace("\"KEY\"", &format!("\"{}\"", inside_json(key))),
            };
            name + &value
        };
        let mut words = shell_words(&self.line).into_iter().peekable();
        let mut environment = Vec::new();
        while let Some(word) = words.next_if(|word| is_assignment(word)) {
            let is_key = word.ends_with("=KEY") && places.token.is_none();
            let is_choice = is_key || word.ends_with("=MODEL");
            let word = fill(&word);
            let (name, text) = word.split_once('=').expect("it is an assignment");
            let text = text.to_owned();
            environment.push((name.to_owned(), RunVariable { text, is_choice }));
        }
        let names_model = model_named(arguments).is_some();
        let mut own: Vec<String> = words.skip(1).collect();
        if names_model && let Some(at) = own.iter().position(|it| it == "-m" || it == "--model") {
            own.drain(at..own.len().min(at + 2));
        }
        RunWords {
            environment,
            arguments: own.iter().map(|word| fill(word)).collect(),
            file: self
                .file
                .map(|(name, text)| (places.folder.join(name), fill(text))),
        }
    }
}

/// Whether a word gives a variable its value.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    })
}

/// The words of a line of this table: single quotes are the only ones.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut is_quoted) = (String::new(), false);
    for c in line.chars() {
        match c {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words
}

/// A text as it is between the quotes of a JSON string.
fn inside_json(text: &str) -> String {
    let literal = serde_json::Value::from(text).to_string();
    literal[1..literal.len() - 1].to_owned()
}

/// The URL of an address; an address for all interfaces is this machine's own.
pub(crate) fn origin_of(listen: SocketAddr) -> String {
    let host = match listen.ip() {
        ip if ip.is_unspecified() => "127.0.0.1".to_owned(),
        std::net::IpAddr::V6(ip) => format!("[{ip}]"),
        ip => ip.to_string(),
    };
    format!("http://{host}:{}", listen.port())
}

/// A client's API key where the proxy asks for none.
const ANY_KEY: &str = "local";

/// The names that [`setup_lines`] takes.
#[must_use]
pub(crate) fn client_names() -> Vec<&'static str> {
    clients().map(|client| client.must("name")).collect()
}

/// What to run or write for a client; for all of them if none is named. `token` is the proxy's own.
#[must_use]
pub(crate) fn setup_lines(
    client: Option<&str>,
    listen: SocketAddr,
    token: Option<&str>,
) -> Vec<String> {
    let chosen = clients().filter(|known| client.is_none_or(|name| name == known.must("name")));
    let mut lines = Vec::new();
    for known in chosen {
        lines.extend(known.lines(listen, token));
        if known.must("name") == "ollama" && token.is_some() {
            lines.push(
                "  (its command line sends no token; its SDKs take the header `Authorization: Bearer` in their options)".to_owned(),
            );
        }
    }
    lines.push(
        "Put your model's name in the place of MODEL, and run the client in the workspace's root."
            .to_owned(),
    );
    lines
}

impl ClientSetup {
    fn entry(&self, key: &str) -> Option<&'static str> {
        let mut lines = self.0.lines();
        lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
    }

    /// What each client has.
    fn must(&self, key: &str) -> &'static str {
        self.entry(key).expect("the data are tested")
    }

    fn lines(&self, listen: SocketAddr, token: Option<&str>) -> Vec<String> {
        let place = format!("{}: {}", self.must("title"), self.must("place"));
        vec![place, format!("  {}", self.filled_in(listen, token))]
    }

    fn filled_in(&self, listen: SocketAddr, token: Option<&str>) -> String {
        let origin = origin_of(listen);
        let text = self.must("text").replace("ORIGIN", &origin);
        let key = token.unwrap_or(ANY_KEY);
        let in_quotes = key.replace('\'', r"'\''");
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:/@%+=".contains(c);
        let shell_word = if key.chars().all(is_plain) {
            key.to_owned()
        } else {
            format!("'{in_quotes}'")
        };
        let in_literal = &inside_json(key);
        // Whole words alone: a variable may end in them.
        [
            ("=KEY ", &*shell_word),
            (" KEY ", &shell_word),
            ("Bearer KEY'", &in_quotes),
            ("\"KEY\"", in_literal),
            ("Bearer KEY\"", in_literal),
        ]
        .into_iter()
        .fold(text, |text, (word, key)| {
            text.replace(word, &word.replace("KEY", key))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTEN: &str = "127.0.0.1:4141";

    #[test]
    fn same_as_page() {
        let page = include_str!("../../docs/clients.md");
        for client in clients() {
            let line = client.filled_in(LISTEN.parse().expect("an address"), None);
            let line = line.replace("-H 'Authorization: Bearer local' ", "");
            assert!(page.contains(&line), "{line}");
        }
    }

    /// A client is run with what `tslp connect` prints for it.
    #[test]
    fn printed_and_run() {
        let words = |name: &str, arguments: &[&str]| {
            let run = client_run(name).expect("it can be run");
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            let model = model_named(&arguments).unwrap_or_else(|| "qwen:7b".to_owned());
            let words = run.filled_in(
                &RunPlaces {
                    listen: LISTEN.parse().expect("an address"),
                    token: Some("to\"ken"),
                    own_key: Some("own"),
                    model: &model,
                    folder: Path::new("/data/x"),
                },
                &arguments,
            );
            let variables = words.environment.iter();
            let variables = variables.map(|(name, value)| format!("{name}={}", value.text));
            let all: Vec<String> = variables
                .chain([run.program])
                .chain(words.arguments)
                .collect();
            (all.join(" "), words.file)
        };
        let check = |name, arguments: &[&str], expected: &str| {
            assert_eq!(words(name, arguments).0, expected);
        };
        let aider = "OPENAI_API_KEY=to\"ken OPENAI_API_BASE=http://127.0.0.1:4141/v1 aider";
        check("aider", &[], &format!("{aider} --model openai/qwen:7b"));
        check("aider", &["--model", "openai/x"], aider);
        let claude = "ANTHROPIC_BASE_URL=http://127.0.0.1:4141 ANTHROPIC_AUTH_TOKEN=to\"ken ANTHROPIC_MODEL=qwen:7b ANTHROPIC_SMALL_FAST_MODEL=qwen:7b CLAUDE_CODE_ATTRIBUTION_HEADER=0 claude";
        check("claude", &["-p", "hello"], claude);
        check("claude-code", &[], claude);
        let codex = "LOCAL_KEY=to\"ken codex -c model_provider=local -c model_providers.local={name=\"local\", base_url=\"http://127.0.0.1:4141/v1\", env_key=\"LOCAL_KEY\", wire_api=\"responses\"}";
        check("codex", &["exec", "-m", "phi4"], codex);
        let (opencode, _) = words("/opt/bin/opencode", &["run", "-m", "local/phi4"]);
        let (variable, program) = opencode.rsplit_once(' ').expect("a program");
        assert_eq!(program, "/opt/bin/opencode");
        let json = variable
            .strip_prefix("OPENCODE_CONFIG_CONTENT=")
            .expect("its variable");
        let json: serde_json::Value = serde_json::from_str(json).expect("JSON");
        assert_eq!(json["provider"]["local"]["options"]["apiKey"], "to\"ken");
        assert_eq!(json["model"], "local/phi4");
        let (cline, file) = words("cline", &[]);
        assert_eq!(cline, "cline --data-dir /data/x");
        let (path, text) = file.expect("its providers");
        assert_eq!(path, Path::new("/data/x/settings/providers.json"));
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let settings = &json["providers"]["openai-compatible"]["settings"];
        assert_eq!(settings["baseUrl"], "http://127.0.0.1:4141/v1");
        assert_eq!(
            (&settings["model"], &settings["apiKey"]),
            (&"qwen:7b".into(), &"to\"ken".into())
        );
        let (python, _) = words("python3", &["x.py"]);
        assert!(
            python.contains("OPENAI_BASE_URL=http://127.0.0.1:4141/v1 "),
            "{python}"
        );
        assert!(python.ends_with(" python3"), "{python}");
        for name in client_names() {
            match client_run(name) {
                Ok(run) => assert!(!run.line.starts_with(ANY_PROGRAM), "{name}"),
                Err((why, lines)) => assert!(why.contains(name) && lines.len() == 3, "{why}"),
            }
        }
    }

    #[test]
    fn address_and_token() {
        for (listen, origin) in [
            ("0.0.0.0:99", "http://127.0.0.1:99"),
            ("[::1]:99", "http://[::1]:99"),
        ] {
            let all = setup_lines(None, listen.parse().expect("an address"), Some("secret"));
            let all = all.join("\n");
            assert!(
                !all.contains("ORIGIN") && !all.contains("KEY=local "),
                "{all}"
            );
            assert_eq!(all.matches(origin).count(), clients().count(), "{all}");
            assert_eq!(
                all.matches("secret").count(),
                clients().count() - 1,
                "{all}"
            );
        }
        let hostile = "a$(id)'b\"c\\";
        let all = setup_lines(None, LISTEN.parse().expect("an address"), Some(hostile)).join("\n");
        let shell = r#"=KEY "#.replace("KEY", r#"'a$(id)'\''b"c\'"#);
        assert!(all.contains(&shell), "{all}");
        assert!(all.contains(r#"Bearer a$(id)'\''b"c\'"#), "{all}");
        assert!(all.contains(r#""a$(id)'b\"c\\""#), "{all}");
        for name in client_names() {
            assert!(setup_lines(Some(name), LISTEN.parse().expect("an address"), None).len() == 3);
        }
    }
}
