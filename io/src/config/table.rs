//! The table of all configuration keys: the one place where files, environment, flags and documentation meet.

use std::iter::once;

use tslp_core::gate::Profile;
use tslp_core::limits::{RECENT_EPISODES_KEPT, TOMBSTONE_EPISODES_MAX};
use tslp_core::policy::{AuditChoice, HistoryChoice, Placement};

use super::key::{Audience, Key, Kind, seconds};
use super::network;
use super::secret::Secret;
use super::settings::{Budget, ClientTools, LogFormat, ToolsChoice};
use super::written::{Choices, word_of, words};

const PROFILES: Choices<Profile> = &[("standard", Profile::Standard), ("strict", Profile::Strict)];
const AUDITS: Choices<AuditChoice> = &[
    ("off", AuditChoice::Off),
    ("on", AuditChoice::On),
    ("auto", AuditChoice::Auto),
];
const HISTORIES: Choices<HistoryChoice> = &[
    ("auto", HistoryChoice::Auto),
    ("window", HistoryChoice::Window),
    ("client", HistoryChoice::Client),
];
const PLACEMENTS: Choices<Placement> = &[("system", Placement::System), ("user", Placement::User)];
const TOOLS: Choices<ToolsChoice> = &[("off", ToolsChoice::Off), ("on", ToolsChoice::On)];
const CLIENT_TOOLS: Choices<ClientTools> = &[
    ("off", ClientTools::Off),
    ("observe", ClientTools::Observe),
    ("hold", ClientTools::Hold),
];
const LOG_FORMATS: Choices<LogFormat> = &[("text", LogFormat::Text), ("json", LogFormat::Json)];

/// The longest time that any timeout can be set to: a day.
const DAY_SECONDS: u64 = 86_400;

/// All keys, in the order in which they are listed everywhere.
pub const KEYS: &[Key] = &[
    Key {
        name: "listen",
        flag: "listen",
        variable: "TSLP_LISTEN",
        kind: Kind::Text("ADDR:PORT"),
        audience: Audience::Common,
        unit: "",
        unset: "",
        meaning: "Where clients connect; port 0 takes any free one. Anything but loopback needs a token.",
        set: |s, written| network::address(written.text()).map(|address| s.listen = address),
        show: |s| s.listen.to_string(),
    },
    Key {
        name: "upstream",
        flag: "upstream",
        variable: "TSLP_UPSTREAM",
        kind: Kind::Servers("URL|auto|demo|MODELS=URL"),
        audience: Audience::Common,
        unit: "",
        unset: "",
        meaning: "The model server's base URL, with or without /v1. `auto` looks for Ollama, llama.cpp, LM Studio and vLLM on their usual local ports and falls back to `demo`, an embedded scripted model. `qwen*|phi4=http://127.0.0.1:8081` names another server for models of such names, and may be repeated; in the file, `[[upstream]]` with `models` and `url` does.",
        set: |s, written| s.upstream.set_servers(written),
        show: |s| {
            let servers = s.upstream.by_model.iter().map(ToString::to_string);
            let all: Vec<String> = once(s.upstream.place.to_string()).chain(servers).collect();
            all.join(", ")
        },
    },
    Key {
        name: "workspace",
        flag: "workspace",
        variable: "TSLP_WORKSPACE",
        kind: Kind::Folder,
        audience: Audience::Common,
        unit: "",
        unset: "the current folder",
        meaning: "The project folder. It is only ever read.",
        set: |s, written| written.path().map(|path| s.workspace = path),
        show: |s| s.workspace.display().to_string(),
    },
    Key {
        name: "data_dir",
        flag: "data-dir",
        variable: "TSLP_DATA_DIR",
        kind: Kind::Folder,
        audience: Audience::Common,
        unit: "",
        unset: "`tslp/NAME-HASH` in the user's data folder, one for each workspace",
        meaning: "Where the ledger lives. Never inside the workspace.",
        set: |s, written| written.path().map(|path| s.data_dir = Some(path)),
        show: |s| {
            s.data_dir
                .as_ref()
                .map(|path| path.display().to_string())
                .unwrap_or_default()
        },
    },
    Key {
        name: "debug",
        flag: "debug",
        variable: "TSLP_DEBUG",
        kind: Kind::Switch,
        audience: Audience::Common,
        unit: "",
        unset: "",
        meaning: "Whether `/debug/last-prompt` shows what the model saw last.",
        set: |s, written| written.switch().map(|debug| s.debug = debug),
        show: |s| s.debug.to_string(),
    },
    Key {
        name: "recent_episodes",
        flag: "recent-episodes",
        variable: "TSLP_RECENT_EPISODES",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "episodes",
        unset: "",
        meaning: "How many of the last episodes `/recent` and `tslp recent` list unless they are asked for another number; 1000 are kept for them.",
        set: |s, written| {
            written
                .number(1..=RECENT_EPISODES_KEPT)
                .map(|episodes| s.recent_episodes = episodes)
        },
        show: |s| s.recent_episodes.to_string(),
    },
    Key {
        name: "token",
        flag: "token",
        variable: "TSLP_TOKEN",
        kind: Kind::Secret,
        audience: Audience::Common,
        unit: "",
        unset: "no token is asked for",
        meaning: "Clients must send it as their API key (`Authorization: Bearer …`). At least 16 visible ASCII characters. Other users can read a process's flags, so prefer the file or the variable.",
        set: |s, written| network::token(written.text()).map(|token| s.access.token = Some(token)),
        show: |s| {
            s.access
                .token
                .as_ref()
                .map(Secret::to_string)
                .unwrap_or_default()
        },
    },
    Key {
        name: "hosts_allowed",
        flag: "hosts-allowed",
        variable: "TSLP_HOSTS_ALLOWED",
        kind: Kind::List("HOST"),
        audience: Audience::Tuning,
        unit: "",
        unset: "only the loopback names and the listening address",
        meaning: "More names that a request's `Host` may bear, with or without a port. Guards against web pages that rebind their name to this machine.",
        set: |s, written| {
            network::hosts(written.list()).map(|hosts| s.access.hosts_allowed = hosts)
        },
        show: |s| s.access.hosts_allowed.join(","),
    },
    Key {
        name: "origins_allowed",
        flag: "origins-allowed",
        variable: "TSLP_ORIGINS_ALLOWED",
        kind: Kind::List("ORIGIN"),
        audience: Audience::Tuning,
        unit: "",
        unset: "none",
        meaning: "Web pages that may call the proxy, each as `scheme://host[:port]`.",
        set: |s, written| {
            network::origins(written.list()).map(|origins| s.access.origins_allowed = origins)
        },
        show: |s| s.access.origins_allowed.join(","),
    },
    Key {
        name: "upstream_api_key",
        flag: "upstream-api-key",
        variable: "TSLP_UPSTREAM_API_KEY",
        kind: Kind::Secret,
        audience: Audience::Tuning,
        unit: "",
        unset: "the client's own authorisation is passed on",
        meaning: "Sent to the model server in place of the client's own authorisation. Other users can read a process's flags, so prefer the file or the variable.",
        set: |s, written| {
            network::credential(written.text()).map(|key| s.upstream.api_key = Some(key))
        },
        show: |s| {
            s.upstream
                .api_key
                .as_ref()
                .map(Secret::to_string)
                .unwrap_or_default()
        },
    },
    Key {
        name: "upstream_ca_file",
        flag: "upstream-ca-file",
        variable: "TSLP_UPSTREAM_CA_FILE",
        kind: Kind::File,
        audience: Audience::Tuning,
        unit: "",
        unset: "only the system's certificates",
        meaning: "PEM file of certificates to trust for an https upstream, besides the system's.",
        set: |s, written| written.path().map(|path| s.upstream.ca_file = Some(path)),
        show: |s| {
            s.upstream
                .ca_file
                .as_ref()
                .map(|path| path.display().to_string())
                .unwrap_or_default()
        },
    },
    Key {
        name: "profile",
        flag: "profile",
        variable: "TSLP_PROFILE",
        kind: Kind::Choice(|| words(PROFILES)),
        audience: Audience::Common,
        unit: "",
        unset: "",
        meaning: "How easily the model's code becomes truth. In `strict` structural parity alone isn't enough: a shadow audit must find the change complete, or you verify it, by `@tslp confirm` for one.",
        set: |s, written| {
            written
                .choice(PROFILES)
                .map(|profile| s.rules.profile = profile)
        },
        show: |s| word_of(PROFILES, &s.rules.profile),
    },
    Key {
        name: "audit",
        flag: "audit",
        variable: "TSLP_AUDIT",
        kind: Kind::Choice(|| words(AUDITS)),
        audience: Audience::Common,
        unit: "",
        unset: "",
        meaning: "Whether the model is asked, once its reply is out and nobody waits for it, if the reply's code is complete: after every reply with judged code (`on`), or only where nothing else grants authority (`auto`), as in `strict`. A new request to the model cancels it at once.",
        set: |s, written| written.choice(AUDITS).map(|choice| s.audit.choice = choice),
        show: |s| word_of(AUDITS, &s.audit.choice),
    },
    Key {
        name: "audit_timeout_seconds",
        flag: "audit-timeout-seconds",
        variable: "TSLP_AUDIT_TIMEOUT_SECONDS",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "seconds",
        unset: "",
        meaning: "Longest time for a shadow audit, from connecting to the answer's end.",
        set: |s, written| {
            written
                .seconds(1..=DAY_SECONDS)
                .map(|time| s.audit.timeout = time)
        },
        show: |s| seconds(s.audit.timeout),
    },
    Key {
        name: "history",
        flag: "history",
        variable: "TSLP_HISTORY",
        kind: Kind::Choice(|| words(HISTORIES)),
        audience: Audience::Common,
        unit: "",
        unset: "",
        meaning: "What becomes of a request's older messages: `window` replaces them by the Recent Context block, `client` keeps them, `auto` decides by whether anything of the client's own would be lost.",
        set: |s, written| {
            written
                .choice(HISTORIES)
                .map(|history| s.rules.history = history)
        },
        show: |s| word_of(HISTORIES, &s.rules.history),
    },
    Key {
        name: "placement",
        flag: "placement",
        variable: "TSLP_PLACEMENT",
        kind: Kind::Choice(|| words(PLACEMENTS)),
        audience: Audience::Common,
        unit: "",
        unset: "",
        meaning: "Where the proxy's text goes: into the one system message, or in front of the prompt for models without a system role.",
        set: |s, written| {
            written
                .choice(PLACEMENTS)
                .map(|placement| s.rules.placement = placement)
        },
        show: |s| word_of(PLACEMENTS, &s.rules.placement),
    },
    Key {
        name: "budget_tokens",
        flag: "budget-tokens",
        variable: "TSLP_BUDGET_TOKENS",
        kind: Kind::NumberOrWord,
        audience: Audience::Common,
        unit: "tokens",
        unset: "",
        meaning: "Hydrated code per prompt. `auto` is half of the model's context where the server tells its size, else 8192.",
        set: |s, written| {
            s.rules.budget = match written.text() {
                "auto" => Budget::Auto,
                _ => written
                    .number(0..=10_000_000)
                    .map(Budget::Tokens)
                    .map_err(|problem| format!("{problem}, or auto"))?,
            };
            Ok(())
        },
        show: |s| match s.rules.budget {
            Budget::Auto => "auto".into(),
            Budget::Tokens(tokens) => tokens.to_string(),
        },
    },
    Key {
        name: "parity.nodes_percent",
        flag: "parity-nodes-percent",
        variable: "TSLP_PARITY_NODES_PERCENT",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "percent",
        unset: "",
        meaning: "A new definition with a smaller share of the old one's syntax tree nodes counts as collapsed and stays a proposal.",
        set: |s, written| {
            written
                .number(0..=100)
                .map(|percent| s.rules.thresholds.nodes_percent = percent)
        },
        show: |s| s.rules.thresholds.nodes_percent.to_string(),
    },
    Key {
        name: "parity.tokens_percent",
        flag: "parity-tokens-percent",
        variable: "TSLP_PARITY_TOKENS_PERCENT",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "percent",
        unset: "",
        meaning: "The same for its tokens.",
        set: |s, written| {
            written
                .number(0..=100)
                .map(|percent| s.rules.thresholds.tokens_percent = percent)
        },
        show: |s| s.rules.thresholds.tokens_percent.to_string(),
    },
    Key {
        name: "similarity.correlation_percent",
        flag: "similarity-correlation-percent",
        variable: "TSLP_SIMILARITY_CORRELATION_PERCENT",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "percent",
        unset: "",
        meaning: "Code that names no path is linked to a known definition of its name only if it holds at least this share of that definition's words. The link never makes anything true.",
        set: |s, written| {
            written
                .number(0..=100)
                .map(|percent| s.rules.thresholds.correlation_percent = percent)
        },
        show: |s| s.rules.thresholds.correlation_percent.to_string(),
    },
    Key {
        name: "similarity.rename_percent",
        flag: "similarity-rename-percent",
        variable: "TSLP_SIMILARITY_RENAME_PERCENT",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "percent",
        unset: "",
        meaning: "A new definition at least so like one that is missing is taken for its rename, and waits for your confirmation.",
        set: |s, written| {
            written
                .number(0..=100)
                .map(|percent| s.rules.thresholds.rename_percent = percent)
        },
        show: |s| s.rules.thresholds.rename_percent.to_string(),
    },
    Key {
        name: "tombstone_episodes",
        flag: "tombstone-episodes",
        variable: "TSLP_TOMBSTONE_EPISODES",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "episodes",
        unset: "",
        meaning: "How long a symbol that you removed is remembered as removed, so that only you can bring it back; its code stays in the Vault for ever. Another number counts from the next decision on.",
        set: |s, written| {
            written
                .number(0..=TOMBSTONE_EPISODES_MAX)
                .map(|episodes| s.rules.tombstone_episodes = episodes)
        },
        show: |s| s.rules.tombstone_episodes.to_string(),
    },
    Key {
        name: "adopt.on_touch",
        flag: "adopt-on-touch",
        variable: "TSLP_ADOPT_ON_TOUCH",
        kind: Kind::Switch,
        audience: Audience::Common,
        unit: "",
        unset: "",
        meaning: "Whether a file of which nothing is known is taken as your word, as it is on disk, when a prompt names it or before the model's tool call reads or changes it. Hidden files and those that a .gitignore names are never taken so.",
        set: |s, written| {
            written
                .switch()
                .map(|on_touch| s.etv.adopt_on_touch = on_touch)
        },
        show: |s| s.etv.adopt_on_touch.to_string(),
    },
    Key {
        name: "etv.read_bytes_max",
        flag: "etv-read-bytes-max",
        variable: "TSLP_ETV_READ_BYTES_MAX",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "bytes",
        unset: "",
        meaning: "Larger files of the workspace count as unreadable.",
        set: |s, written| {
            written
                .number(1..=1 << 30)
                .map(|bytes| s.etv.read_bytes_max = bytes)
        },
        show: |s| s.etv.read_bytes_max.to_string(),
    },
    Key {
        name: "etv.timeout_ms",
        flag: "etv-timeout-ms",
        variable: "TSLP_ETV_TIMEOUT_MS",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "milliseconds",
        unset: "",
        meaning: "Longest wait for the workspace's file system in front of a prompt; a file that doesn't answer in time counts as unreadable.",
        set: |s, written| {
            written
                .milliseconds(1..=60_000)
                .map(|timeout| s.etv.timeout = timeout)
        },
        show: |s| s.etv.timeout.as_millis().to_string(),
    },
    Key {
        name: "tools.run",
        flag: "tools-run",
        variable: "TSLP_TOOLS_RUN",
        kind: Kind::Choice(|| words(TOOLS)),
        audience: Audience::Common,
        unit: "",
        unset: "",
        meaning: "Whether the command lines in a reply's closed `tool` fences are run, in the sandbox, where the Guardian allows it (docs/tools.md). Only in chat completions whose client offers no tools of its own.",
        set: |s, written| written.choice(TOOLS).map(|run| s.tools.run = run),
        show: |s| word_of(TOOLS, &s.tools.run),
    },
    Key {
        name: "tools.rounds",
        flag: "tools-rounds",
        variable: "TSLP_TOOLS_ROUNDS",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "rounds",
        unset: "",
        meaning: "How often one reply may ask for tools and go on with their results.",
        set: |s, written| written.number(1..=64).map(|rounds| s.tools.rounds = rounds),
        show: |s| s.tools.rounds.to_string(),
    },
    Key {
        name: "tools.calls",
        flag: "tools-calls",
        variable: "TSLP_TOOLS_CALLS",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "calls",
        unset: "",
        meaning: "Calls of one round; those after them aren't run.",
        set: |s, written| written.number(1..=64).map(|calls| s.tools.calls = calls),
        show: |s| s.tools.calls.to_string(),
    },
    Key {
        name: "tools.seconds",
        flag: "tools-seconds",
        variable: "TSLP_TOOLS_SECONDS",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "seconds",
        unset: "",
        meaning: "Longest time from a reply's first call to the end of its last one.",
        set: |s, written| {
            written
                .seconds(1..=DAY_SECONDS)
                .map(|time| s.tools.time = time)
        },
        show: |s| seconds(s.tools.time),
    },
    Key {
        name: "tools.output_bytes",
        flag: "tools-output-bytes",
        variable: "TSLP_TOOLS_OUTPUT_BYTES",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "bytes",
        unset: "",
        meaning: "What is kept of a tool's output, half from each end. The model and the client see 8 KiB of it.",
        set: |s, written| {
            written
                .number(1 << 10..=1 << 20)
                .map(|bytes| s.tools.output_bytes = bytes)
        },
        show: |s| s.tools.output_bytes.to_string(),
    },
    Key {
        name: "tools.shell_fences",
        flag: "tools-shell-fences",
        variable: "TSLP_TOOLS_SHELL_FENCES",
        kind: Kind::Switch,
        audience: Audience::Tuning,
        unit: "",
        unset: "",
        meaning: "Whether closed `bash` and `sh` fences of a reply are calls, too.",
        set: |s, written| written.switch().map(|it| s.tools.shell_fences = it),
        show: |s| s.tools.shell_fences.to_string(),
    },
    Key {
        name: "tools.policy",
        flag: "tools-policy",
        variable: "TSLP_TOOLS_POLICY",
        kind: Kind::File,
        audience: Audience::Tuning,
        unit: "",
        unset: "no profile is kept on disk",
        meaning: "Where the policy profile is kept. In force is the one that `tslp policy approve` recorded; if the file differs, the log says so.",
        set: |s, written| written.path().map(|path| s.tools.policy = Some(path)),
        show: |s| {
            let policy = s.tools.policy.as_ref();
            policy
                .map(|path| path.display().to_string())
                .unwrap_or_default()
        },
    },
    Key {
        name: "tools.toolchains",
        flag: "tools-toolchains",
        variable: "TSLP_TOOLS_TOOLCHAINS",
        kind: Kind::List("FOLDER"),
        audience: Audience::Tuning,
        unit: "",
        unset: "none",
        meaning: "Folders with programs in their `bin` that tools may see and run besides the system's, such as `$(rustc --print sysroot)`.",
        set: |s, written| {
            let folders: Vec<_> = written.list().map(std::path::PathBuf::from).collect();
            if folders.iter().any(|folder| !folder.is_absolute()) {
                return Err("must name folders by their whole paths".into());
            }
            s.tools.toolchains = folders;
            Ok(())
        },
        show: |s| {
            let folders = s.tools.toolchains.iter().map(|it| it.display().to_string());
            folders.collect::<Vec<_>>().join(", ")
        },
    },
    Key {
        name: "guardian.client_tools",
        flag: "guardian-client-tools",
        variable: "TSLP_GUARDIAN_CLIENT_TOOLS",
        kind: Kind::Choice(|| words(CLIENT_TOOLS)),
        audience: Audience::Tuning,
        unit: "",
        unset: "",
        meaning: "`observe` records the Guardian's verdict on each command line that a model has its client run (`tslp log --kind action_judged`), and keeps nothing back. `hold` keeps a reply's calls back if one is denied, in chat completions of one choice; elsewhere it observes.",
        set: |s, written| {
            written
                .choice(CLIENT_TOOLS)
                .map(|choice| s.tools.client_tools = choice)
        },
        show: |s| word_of(CLIENT_TOOLS, &s.tools.client_tools),
    },
    Key {
        name: "http.connections_max",
        flag: "http-connections-max",
        variable: "TSLP_HTTP_CONNECTIONS_MAX",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "connections",
        unset: "",
        meaning: "Client connections at one time.",
        set: |s, written| {
            written
                .number(1..=65_536)
                .map(|count| s.http.connections_max = count)
        },
        show: |s| s.http.connections_max.to_string(),
    },
    Key {
        name: "http.request_head_bytes_max",
        flag: "http-request-head-bytes-max",
        variable: "TSLP_HTTP_REQUEST_HEAD_BYTES_MAX",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "bytes",
        unset: "",
        meaning: "Longest request line and headers.",
        set: |s, written| {
            written
                .number(1 << 10..=1 << 20)
                .map(|bytes| s.http.request_head_bytes_max = bytes)
        },
        show: |s| s.http.request_head_bytes_max.to_string(),
    },
    Key {
        name: "http.request_body_bytes_max",
        flag: "http-request-body-bytes-max",
        variable: "TSLP_HTTP_REQUEST_BODY_BYTES_MAX",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "bytes",
        unset: "",
        meaning: "Longest body of a chat request; a longer one gets 413. All chat requests in flight together take about 6 times as much memory at most: the default keeps tslp under 64 MB. One that finds no memory waits, and after `http.request_body_seconds` gets 503 with `Retry-After`.",
        set: |s, written| {
            written
                .number(1 << 10..=1 << 30)
                .map(|bytes| s.http.request_body_bytes_max = bytes)
        },
        show: |s| s.http.request_body_bytes_max.to_string(),
    },
    Key {
        name: "http.request_head_seconds",
        flag: "http-request-head-seconds",
        variable: "TSLP_HTTP_REQUEST_HEAD_SECONDS",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "seconds",
        unset: "",
        meaning: "Longest time for a request's line and headers.",
        set: |s, written| {
            written
                .seconds(1..=DAY_SECONDS)
                .map(|time| s.http.request_head = time)
        },
        show: |s| seconds(s.http.request_head),
    },
    Key {
        name: "http.request_body_seconds",
        flag: "http-request-body-seconds",
        variable: "TSLP_HTTP_REQUEST_BODY_SECONDS",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "seconds",
        unset: "",
        meaning: "Longest silence in the middle of a request's body.",
        set: |s, written| {
            written
                .seconds(1..=DAY_SECONDS)
                .map(|time| s.http.request_body = time)
        },
        show: |s| seconds(s.http.request_body),
    },
    Key {
        name: "http.keep_alive_seconds",
        flag: "http-keep-alive-seconds",
        variable: "TSLP_HTTP_KEEP_ALIVE_SECONDS",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "seconds",
        unset: "",
        meaning: "How long a client's connection may wait for its next request.",
        set: |s, written| {
            written
                .seconds(1..=DAY_SECONDS)
                .map(|time| s.http.keep_alive = time)
        },
        show: |s| seconds(s.http.keep_alive),
    },
    Key {
        name: "http.connect_seconds",
        flag: "http-connect-seconds",
        variable: "TSLP_HTTP_CONNECT_SECONDS",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "seconds",
        unset: "",
        meaning: "Longest wait for a connection to the model server.",
        set: |s, written| {
            written
                .seconds(1..=DAY_SECONDS)
                .map(|time| s.upstream.connect = time)
        },
        show: |s| seconds(s.upstream.connect),
    },
    Key {
        name: "http.first_byte_seconds",
        flag: "http-first-byte-seconds",
        variable: "TSLP_HTTP_FIRST_BYTE_SECONDS",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "seconds",
        unset: "",
        meaning: "Longest wait for the first byte of a response; a model that has to be loaded may take minutes.",
        set: |s, written| {
            written
                .seconds(1..=DAY_SECONDS)
                .map(|time| s.upstream.first_byte = time)
        },
        show: |s| seconds(s.upstream.first_byte),
    },
    Key {
        name: "http.idle_seconds",
        flag: "http-idle-seconds",
        variable: "TSLP_HTTP_IDLE_SECONDS",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "seconds",
        unset: "",
        meaning: "Longest silence in the middle of a response.",
        set: |s, written| {
            written
                .seconds(1..=DAY_SECONDS)
                .map(|time| s.upstream.idle = time)
        },
        show: |s| seconds(s.upstream.idle),
    },
    Key {
        name: "http.shutdown_seconds",
        flag: "http-shutdown-seconds",
        variable: "TSLP_HTTP_SHUTDOWN_SECONDS",
        kind: Kind::Number,
        audience: Audience::Tuning,
        unit: "seconds",
        unset: "",
        meaning: "How long running responses may take to end after SIGTERM or Ctrl-C.",
        set: |s, written| {
            written
                .seconds(0..=DAY_SECONDS)
                .map(|time| s.http.shutdown = time)
        },
        show: |s| seconds(s.http.shutdown),
    },
    Key {
        name: "log_level",
        flag: "log-level",
        variable: "TSLP_LOG",
        kind: Kind::Text("LEVEL"),
        audience: Audience::Everyone,
        unit: "",
        unset: "",
        meaning: "What is logged to standard error: off, error, warn, info, debug or trace, or levels by target such as `info,tslp_io::http=debug`. Where it isn't set, commands other than `serve` log warnings only.",
        set: |s, written| crate::logging::level(written.text()).map(|level| s.log.level = level),
        show: |s| s.log.level.clone(),
    },
    Key {
        name: "log_format",
        flag: "log-format",
        variable: "TSLP_LOG_FORMAT",
        kind: Kind::Choice(|| words(LOG_FORMATS)),
        audience: Audience::Everyone,
        unit: "",
        unset: "",
        meaning: "`text` for people, `json` for programs.",
        set: |s, written| {
            written
                .choice(LOG_FORMATS)
                .map(|format| s.log.format = format)
        },
        show: |s| word_of(LOG_FORMATS, &s.log.format),
    },
];

/// The key with this name in the TOML file.
#[must_use]
pub fn key(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The known name that resembles `written` most, if any does.
#[must_use]
pub fn nearest<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|name| (strsim::damerau_levenshtein(written, name), name))
        .filter(|(distance, name)| *distance <= 2 + name.len() / 4)
        .min()
        .map(|(_, name)| name)
}
