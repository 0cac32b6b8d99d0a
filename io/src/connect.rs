//! Each client's set-up for the proxy, for the address and token in force: to read (`tslp connect`), and to run (`tslp run`).

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::config::settings::Settings;

/// A client and what to run or write.
struct ClientSetup {
    /// As it is named on the command line.
    name: &'static str,
    title: &'static str,
    /// The file or shell that the text is for.
    place: &'static str,
    /// `ORIGIN` is the proxy's address, `KEY` its token or anything, `MODEL` the model.
    text: &'static str,
    run: RunWay,
}

/// How a client is run for this one time, so that no file of the user's is changed.
enum RunWay {
    /// By the text, which is a shell line.
    ByText,
    /// By this shell line.
    ByLine(&'static str),
    /// By this shell line, in which `DIR` is a folder of tslp's own, with this file in it.
    ByFile(&'static str, (&'static str, &'static str)),
    /// Not at all: the reason, as the end of a sentence.
    No(&'static str),
}

const SHELL: &str = "run";

const CLIENTS: [ClientSetup; 13] = [
    ClientSetup {
        name: "aider",
        title: "aider",
        place: SHELL,
        text: "OPENAI_API_KEY=KEY OPENAI_API_BASE=ORIGIN/v1 aider --model openai/MODEL",
        run: RunWay::ByText,
    },
    ClientSetup {
        name: "opencode",
        title: "OpenCode",
        place: "in opencode.json",
        text: r#""provider": {"local": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "ORIGIN/v1", "apiKey": "KEY"}, "models": {"MODEL": {}}}}"#,
        run: RunWay::ByLine(
            r#"OPENCODE_CONFIG_CONTENT='{"model": "local/MODEL", "provider": {"local": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "ORIGIN/v1", "apiKey": "KEY"}, "models": {"MODEL": {}}}}}' opencode"#,
        ),
    },
    ClientSetup {
        name: "cline",
        title: "Cline",
        place: SHELL,
        text: "cline auth openai-compatible -k KEY -m MODEL -b ORIGIN/v1",
        run: RunWay::ByFile(
            "cline --data-dir DIR",
            (
                "settings/providers.json",
                r#"{"version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": {"openai-compatible": {"settings": {"provider": "openai-compatible", "apiKey": "KEY", "model": "MODEL", "baseUrl": "ORIGIN/v1"}, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}}}"#,
            ),
        ),
    },
    ClientSetup {
        name: "continue",
        title: "Continue",
        place: "in ~/.continue/config.yaml, under `models`",
        text: "{name: local, provider: openai, model: MODEL, apiBase: \"ORIGIN/v1\", apiKey: \"KEY\"}",
        run: RunWay::ByFile(
            "cn --config DIR/config.yaml",
            (
                "config.yaml",
                r#"{name: tslp, version: 1.0.0, schema: v1, models: [{name: local, provider: openai, model: "MODEL", apiBase: "ORIGIN/v1", apiKey: "KEY"}]}"#,
            ),
        ),
    },
    ClientSetup {
        name: "qwen-code",
        title: "Qwen Code",
        place: SHELL,
        text: "OPENAI_API_KEY=KEY OPENAI_BASE_URL=ORIGIN/v1 qwen --auth-type openai -m MODEL",
        run: RunWay::ByText,
    },
    ClientSetup {
        name: "claude-code",
        title: "Claude Code",
        place: SHELL,
        text: "ANTHROPIC_BASE_URL=ORIGIN ANTHROPIC_AUTH_TOKEN=KEY ANTHROPIC_MODEL=MODEL ANTHROPIC_SMALL_FAST_MODEL=MODEL CLAUDE_CODE_ATTRIBUTION_HEADER=0 claude",
        run: RunWay::ByText,
    },
    ClientSetup {
        name: "codex",
        title: "Codex",
        place: SHELL,
        text: "LOCAL_KEY=KEY codex -m MODEL -c model_provider=local -c 'model_providers.local={name=\"local\", base_url=\"ORIGIN/v1\", env_key=\"LOCAL_KEY\", wire_api=\"responses\"}'",
        run: RunWay::ByText,
    },
    ClientSetup {
        name: "open-webui",
        title: "Open WebUI",
        place: SHELL,
        text: "OPENAI_API_BASE_URL=ORIGIN/v1 OPENAI_API_KEY=KEY open-webui serve",
        run: RunWay::ByLine("OPENAI_API_BASE_URL=ORIGIN/v1 OPENAI_API_KEY=KEY open-webui"),
    },
    ClientSetup {
        name: "llm",
        title: "llm",
        place: "in extra-openai-models.yaml of the folder that `llm logs path` names",
        text: "- {model_id: local, model_name: MODEL, api_base: \"ORIGIN/v1\", headers: {Authorization: \"Bearer KEY\"}}",
        run: RunWay::No("it reads its models from its own folder alone"),
    },
    ClientSetup {
        name: "openai-sdk",
        title: "OpenAI SDKs",
        place: SHELL,
        text: "OPENAI_BASE_URL=ORIGIN/v1 OPENAI_API_KEY=KEY python your_program.py",
        run: RunWay::No("it is no program: run yours, as in `tslp run python your_program.py`"),
    },
    ClientSetup {
        name: "anthropic-sdk",
        title: "Anthropic SDKs",
        place: SHELL,
        text: "ANTHROPIC_BASE_URL=ORIGIN ANTHROPIC_AUTH_TOKEN=KEY python your_program.py",
        run: RunWay::No("it is no program: run yours, as in `tslp run python your_program.py`"),
    },
    ClientSetup {
        name: "ollama",
        title: "Ollama's client and SDKs",
        place: SHELL,
        text: "OLLAMA_HOST=ORIGIN ollama run MODEL",
        run: RunWay::ByLine("OLLAMA_HOST=ORIGIN ollama"),
    },
    ClientSetup {
        name: "curl",
        title: "curl",
        place: SHELL,
        text: "curl ORIGIN/v1/chat/completions -H 'Authorization: Bearer KEY' -H 'Content-Type: application/json' -d '{\"model\": \"MODEL\", \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}'",
        run: RunWay::No("it takes the address as an argument"),
    },
];

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
    /// Whether it is the user's to choose, as a model is.
    pub(crate) is_choice: bool,
}

/// How to run what the user calls a client: by its name in the table, or by its program's.
///
/// # Errors
/// If it can't be run for one time: why, and what to do instead.
pub(crate) fn client_run(name: &str) -> Result<ClientRun, (String, Vec<String>)> {
    let base = name.rsplit('/').next().unwrap_or(name);
    for known in &CLIENTS {
        let (line, file) = match known.run {
            RunWay::ByText => (known.text, None),
            RunWay::ByLine(line) => (line, None),
            RunWay::ByFile(line, file) => (line, Some(file)),
            RunWay::No(why) if known.name == base => {
                let why = format!("{name} can't be run for one time: {why}");
                let lines = Vec::from([
                    format!("{}: {}", known.title, known.place),
                    format!("  {}", known.filled_in(Settings::default().listen, None)),
                    "`tslp serve` runs a proxy, and `tslp connect` prints this with its address."
                        .into(),
                ]);
                return Err((why, lines));
            }
            RunWay::No(_) => continue,
        };
        let words = shell_words(line);
        let program = words.iter().find(|word| !is_assignment(word));
        let program = program.expect("every line has a program").clone();
        if known.name == base || program == base {
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
        let key = places.token.unwrap_or(ANY_KEY);
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
            let is_choice = word.ends_with("=MODEL");
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
fn origin_of(listen: SocketAddr) -> String {
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
    CLIENTS.iter().map(|client| client.name).collect()
}

/// What to run or write for a client; for all of them if none is named. `token` is the proxy's own.
#[must_use]
pub(crate) fn setup_lines(
    client: Option<&str>,
    listen: SocketAddr,
    token: Option<&str>,
) -> Vec<String> {
    let chosen = CLIENTS
        .iter()
        .filter(|known| client.is_none_or(|name| name == known.name));
    let mut lines = Vec::new();
    for known in chosen {
        lines.push(format!("{}: {}", known.title, known.place));
        lines.push(format!("  {}", known.filled_in(listen, token)));
        if known.name == "ollama" && token.is_some() {
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
    fn filled_in(&self, listen: SocketAddr, token: Option<&str>) -> String {
        let origin = origin_of(listen);
        let text = self.text.replace("ORIGIN", &origin);
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
    fn the_readme_says_the_same() {
        let readme = include_str!("../../README.md");
        for client in &CLIENTS {
            let line = client.filled_in(LISTEN.parse().expect("an address"), None);
            let line = line.replace("-H 'Authorization: Bearer local' ", "");
            assert!(readme.contains(&line), "{line}");
        }
    }

    #[test]
    fn a_client_is_run_by_what_connect_prints_for_it() {
        let words = |name: &str, arguments: &[&str]| {
            let run = client_run(name).expect("it can be run");
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            let model = model_named(&arguments).unwrap_or_else(|| "qwen:7b".to_owned());
            let words = run.filled_in(
                &RunPlaces {
                    listen: LISTEN.parse().expect("an address"),
                    token: Some("to\"ken"),
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
    fn address_and_token_are_those_in_force() {
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
            assert_eq!(all.matches(origin).count(), CLIENTS.len(), "{all}");
            assert_eq!(all.matches("secret").count(), CLIENTS.len() - 1, "{all}");
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
