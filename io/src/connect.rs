//! Each client's set-up for the proxy, for the address and token in force.

use std::net::SocketAddr;

/// A client and what to run or write.
struct ClientSetup {
    /// As it is named on the command line.
    name: &'static str,
    title: &'static str,
    /// The file or shell that the text is for.
    place: &'static str,
    /// `ORIGIN` is the proxy's address, `KEY` its token or anything, `MODEL` the model.
    text: &'static str,
}

const SHELL: &str = "run";

const CLIENTS: [ClientSetup; 13] = [
    ClientSetup {
        name: "aider",
        title: "aider",
        place: SHELL,
        text: "OPENAI_API_KEY=KEY OPENAI_API_BASE=ORIGIN/v1 aider --model openai/MODEL",
    },
    ClientSetup {
        name: "opencode",
        title: "OpenCode",
        place: "in opencode.json",
        text: r#""provider": {"local": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "ORIGIN/v1", "apiKey": "KEY"}, "models": {"MODEL": {}}}}"#,
    },
    ClientSetup {
        name: "cline",
        title: "Cline",
        place: SHELL,
        text: "cline auth openai-compatible -k KEY -m MODEL -b ORIGIN/v1",
    },
    ClientSetup {
        name: "continue",
        title: "Continue",
        place: "in ~/.continue/config.yaml, under `models`",
        text: "{name: local, provider: openai, model: MODEL, apiBase: \"ORIGIN/v1\", apiKey: \"KEY\"}",
    },
    ClientSetup {
        name: "qwen-code",
        title: "Qwen Code",
        place: SHELL,
        text: "OPENAI_API_KEY=KEY OPENAI_BASE_URL=ORIGIN/v1 qwen --auth-type openai -m MODEL",
    },
    ClientSetup {
        name: "claude-code",
        title: "Claude Code",
        place: SHELL,
        text: "ANTHROPIC_BASE_URL=ORIGIN ANTHROPIC_AUTH_TOKEN=KEY ANTHROPIC_MODEL=MODEL ANTHROPIC_SMALL_FAST_MODEL=MODEL claude",
    },
    ClientSetup {
        name: "codex",
        title: "Codex",
        place: SHELL,
        text: "LOCAL_KEY=KEY codex -m MODEL -c model_provider=local -c 'model_providers.local={name=\"local\", base_url=\"ORIGIN/v1\", env_key=\"LOCAL_KEY\", wire_api=\"responses\"}'",
    },
    ClientSetup {
        name: "open-webui",
        title: "Open WebUI",
        place: SHELL,
        text: "OPENAI_API_BASE_URL=ORIGIN/v1 OPENAI_API_KEY=KEY open-webui serve",
    },
    ClientSetup {
        name: "llm",
        title: "llm",
        place: "in extra-openai-models.yaml of the folder that `llm logs path` names",
        text: "- {model_id: local, model_name: MODEL, api_base: \"ORIGIN/v1\", headers: {Authorization: \"Bearer KEY\"}}",
    },
    ClientSetup {
        name: "openai-sdk",
        title: "OpenAI SDKs",
        place: SHELL,
        text: "OPENAI_BASE_URL=ORIGIN/v1 OPENAI_API_KEY=KEY python your_program.py",
    },
    ClientSetup {
        name: "anthropic-sdk",
        title: "Anthropic SDKs",
        place: SHELL,
        text: "ANTHROPIC_BASE_URL=ORIGIN ANTHROPIC_AUTH_TOKEN=KEY python your_program.py",
    },
    ClientSetup {
        name: "ollama",
        title: "Ollama's client and SDKs",
        place: SHELL,
        text: "OLLAMA_HOST=ORIGIN ollama run MODEL",
    },
    ClientSetup {
        name: "curl",
        title: "curl",
        place: SHELL,
        text: "curl ORIGIN/v1/chat/completions -H 'Authorization: Bearer KEY' -H 'Content-Type: application/json' -d '{\"model\": \"MODEL\", \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}'",
    },
];

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
        let host = match listen.ip() {
            ip if ip.is_unspecified() => "127.0.0.1".to_owned(),
            std::net::IpAddr::V6(ip) => format!("[{ip}]"),
            ip => ip.to_string(),
        };
        let origin = format!("http://{host}:{}", listen.port());
        let text = self.text.replace("ORIGIN", &origin);
        let key = token.unwrap_or(ANY_KEY);
        let in_quotes = key.replace('\'', r"'\''");
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:/@%+=".contains(c);
        let shell_word = if key.chars().all(is_plain) {
            key.to_owned()
        } else {
            format!("'{in_quotes}'")
        };
        let literal = serde_json::Value::from(key).to_string();
        let in_literal = &literal[1..literal.len() - 1];
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
