//! All configuration keys: the one place where files, environment, flags and documentation meet.

use std::sync::LazyLock;

use tslp_core::budget::Counter;
use tslp_core::gate::GateProfile;
use tslp_core::limits::TOMBSTONE_EPISODES_MAX;
use tslp_core::policy::{
    AuditChoice, ClientTools, Grounding, HistoryChoice, OnStale, Placement, Repair,
};

use super::kind::ValueKind::{
    self, Budget, Choice, File, Folder, List, Number, NumberOrAuto, Secret, Switch, Text,
};
use super::settings::{NoticesInReply, Settings, ToolsChoice, WindowGuard};

/// One configuration key. Its value is the field of [`Settings`] that serde knows by its name.
pub struct ConfigKey {
    /// Name in the TOML file, with a dot after its table.
    pub name: &'static str,
    /// Name of the flag, without its dashes.
    pub flag: String,
    /// Name of the environment variable.
    pub variable: String,
    /// The kind of its value.
    pub kind: ValueKind,
    /// What it is about; keys of one group follow each other.
    pub group: &'static str,
    /// The computed default, in words; empty if the default is a plain value.
    pub unset: &'static str,
    /// Its purpose, in a sentence.
    pub meaning: &'static str,
    /// The default as text: the value, or what it is computed from.
    pub default_shown: String,
}

/// The longest time that any timeout can be set to: a day.
const DAY_SECONDS: u64 = 86_400;

/// What is counted of one conversation.
const OF_CONVERSATION: &[Counter] = match Counter::ALL.split_last() {
    Some((Counter::Money, others)) => others,
    _ => panic!("money is counted by days alone"),
};

/// The rows: a key's name in the file, its group, its kind, its meaning, and what applies when it isn't set.
macro_rules! keys {
    ($($name:literal: $group:ident, $kind:expr, $meaning:literal $(, unset $unset:literal)?;)+) => {
        /// All keys, in the order in which they are listed everywhere.
        pub static KEYS: LazyLock<Vec<ConfigKey>> = LazyLock::new(|| {
            let defaults = Settings::default().shown();
            let keys = [$(($name, stringify!($group), $kind, $meaning, concat!($($unset)?)),)+];
            let keys = keys.map(|(name, group, kind, meaning, unset)| {
                let flat = name.replace('.', "_");
                let default = kind.shown(&defaults[name]);
                ConfigKey {
                    name,
                    flag: flat.replace('_', "-"),
                    variable: match name {
                        "log_level" => "TSLP_LOG".to_owned(),
                        _ => format!("TSLP_{}", flat.to_uppercase()),
                    },
                    kind,
                    group,
                    unset,
                    meaning,
                    default_shown: if default.is_empty() { unset.to_owned() } else { default },
                }
            });
            keys.into()
        });
    };
}

keys! {
    "listen": Proxy, Text("ADDR:PORT"),
        "Where clients connect; port 0 takes any free one. Anything but loopback needs a token.";
    "workspace": Proxy, Folder,
        "The project folder. It is only ever read.",
        unset "the current folder for `tslp` and `tslp serve`; for `tslp run` and every other command the nearest folder upwards that git has as a root or whose ledger is in use";
    "data_dir": Proxy, Folder,
        "Where the ledger lives. Never inside the workspace.",
        unset "`tslp/NAME-HASH` in the user's data folder, one for each workspace";
    "token": Proxy, Secret,
        "Clients must send it as their API key (`Authorization: Bearer …`). At least 16 visible ASCII characters. Other users can read a process's flags, so prefer the file or the variable.",
        unset "none is asked for, and only those whom `allow` names may call";
    "allow": Proxy, List("HOST|ORIGIN|UID|any"),
        "Who else may call the proxy: other names of this machine in a request's `Host` header, with or without a port (a web page can rebind its own name to it); web pages, each as `scheme://host[:port]`; ids of local users without a token, or `any` of them. Whoever may call can read the workspace through prompts and change what is true.",
        unset "programs of the user that tslp runs as, and root's, by the loopback names and the listening address";
    "debug": Proxy, Switch,
        "Whether `/debug/last-prompt` shows what the model saw last.";
    "http.request_body_bytes_max": Proxy, Number(1 << 10, 1 << 30, "bytes"),
        "Longest body of a chat request; a longer one gets 413. All chat requests in flight together take about 6 times as much memory at most: the default keeps tslp under 64 MB. One that finds no memory waits, and gets 503 with `Retry-After` if none comes free.";
    "log_level": Proxy, Text("LEVEL"),
        "What is logged to standard error: off, error, warn, info, debug or trace, or levels by target such as `info,tslp_io::main_loop=debug`. Where it isn't set, warnings are, as plain lines without time and target.";
    "upstream": Model, List("URL|auto|demo|MODELS=URL"),
        "The model server's base URL, with or without /v1. `auto` looks for Ollama, llama.cpp, LM Studio and vLLM on their usual local ports and answers 502 where none runs; `demo` is a scripted model. `qwen*|phi4=http://127.0.0.1:8081` names another server for models of such names, and may be repeated; in the file, `[[upstream]]` with `models` and `url` does.";
    "upstream_api_key": Model, Secret,
        "Sent to the model server in place of the client's own authorisation. Other users can read a process's flags, so prefer the file or the variable.",
        unset "the client's own authorisation is passed on";
    "upstream_ca_file": Model, File,
        "PEM file of certificates to trust for an https upstream, besides the system's.",
        unset "only the system's certificates";
    "http.first_byte_seconds": Model, Number(1, DAY_SECONDS, "seconds"),
        "Longest wait for the first byte of a response; a model that has to be loaded may take minutes.";
    "http.idle_seconds": Model, Number(1, DAY_SECONDS, "seconds"),
        "Longest silence in the middle of a response.";
    "price": Model, Text("PRICES"),
        "What a million tokens that a model reads and writes cost, for `money` budgets and `tslp status usage`: names, or beginnings of names with a `*`, such as `gpt-5* 1.25 10, qwen* 0 0`. The first that fits counts; other models cost nothing.",
        unset "nothing costs anything";
    "profile": Truth, Choice(GateProfile::WORDS),
        "How easily the model's code becomes truth. In `strict` structural parity alone isn't enough: a shadow audit must find the change complete, or you verify it, by `@tslp confirm` for one; and code that a conversation was shown as disk holds it is no base before you accept it.";
    "audit": Truth, Choice(AuditChoice::WORDS),
        "Whether the model is asked, once its reply is out and nobody waits for it, if the reply's code is complete: after every reply with judged code (`on`), or only where nothing else grants authority (`auto`), as in `strict`. A new request to the model breaks it off at once; it is asked again when the model is free.";
    "adopt.on_touch": Truth, Switch,
        "Whether a file of which nothing is known is taken as your word, as it is on disk, when a prompt names it or before the model's tool call reads or changes it. Hidden files and those that a .gitignore names are never taken so.";
    "etv.on_stale": Truth, Choice(OnStale::WORDS),
        "What becomes of code of which disk holds something that nobody accepted: `ask` withholds it until you decide (`@tslp accept`, or a paste), `follow` is your standing word that disk counts as accepted.";
    "etv.timeout_ms": Truth, Number(1, 60_000, "milliseconds"),
        "Longest wait for the workspace's file system in front of a prompt; a file that doesn't answer in time counts as unreadable.";
    "tombstone_episodes": Truth, Number(0, TOMBSTONE_EPISODES_MAX as u64, "episodes"),
        "How long a symbol that you removed is remembered as removed, so that only you can bring it back; its code stays in the Vault for ever. Another number counts from the next decision on.";
    "spec.file": Truth, File,
        "A `CodeSpec.md`: rules for code that models write, as a Markdown list (docs/repair.md). Code that breaks one isn't taken, and the model is told which, line by line. It is read at start, and its text is on record.",
        unset "no rules";
    "check.command": Truth, Text("COMMAND"),
        "A command line, for instance `make -s test`, that runs in the sandbox over what disk holds after each turn that changed code. The next prompt says how it ended; nothing becomes true or is taken back by it, and the next request calls it off.",
        unset "nothing is run";
    "history": Prompt, Choice(HistoryChoice::WORDS),
        "What becomes of a request's older messages: `window` replaces them by the Recent Context block, `client` keeps them, and so does `auto` as long as nothing says that they don't fit the model's window.";
    "placement": Prompt, Choice(Placement::WORDS),
        "Where the Recent Context block of `history = \"window\"` goes: into the one system message, or in front of the prompt for models without a system role. True code and notices always go directly in front of the prompt.";
    "budget_tokens": Prompt, NumberOrAuto(0, 10_000_000, "tokens"),
        "Most tokens of true code that are put into one prompt. `auto` is half of the model's context where the server tells its size, else 8192.";
    "window.guard": Prompt, Choice(WindowGuard::WORDS),
        "What is done about a prompt that is longer than what its model reads at once, of which the server cuts a part off without a word: `warn` says it in the log, in `tslp recent`, in the header `x-tslp-window` and to the user of a chat; with `refuse` it isn't sent.";
    "window.hold_checksum": Prompt, Switch,
        "Whether the checksum that Claude Code puts at the top of its system prompt, another with each request, is held still (`cch=00000`), so that a local server goes on from what it has read. It changes the client's bytes; where `CLAUDE_CODE_ATTRIBUTION_HEADER=0` is set there is none (docs/clients.md).";
    "clear.grounding": Prompt, Choice(Grounding::WORDS),
        "What decisions without evidence do to `clear`: with `strict` 95 % of those made since the last one need a quotation that holds or `[ASSUMPTION]`, with `warn` they are told, with `disabled` nobody asks.";
    "notices.in_reply": Reply, Choice(NoticesInReply::WORDS),
        "Which replies end with a line that says what was withheld or refused and which words resolve it: `always` those of chats, whose client offers no tools, and the last one of an agent's turn in which something was refused; only those of `chats`; or `never`.";
    "repair": Reply, Choice(Repair::WORDS),
        "`fix` looks at an agent's call before its client has it: one whose old text isn't in its file gets the file's own text, where exactly one place can be meant; one that would lose code is asked for once more; one that was written as text is delivered as a call. `tell` changes no reply, and tells the model with its next prompt the lines that it must have meant and the code that it left out. `off` leaves the first of these to the client (docs/repair.md).";
    "tools.run": Tools, Choice(ToolsChoice::WORDS),
        "Whether the command lines in a reply's closed `tool` fences are run, in the sandbox, where the Guardian allows it (docs/tools.md). Only for a client that offers no tools of its own.";
    "tools.shell_fences": Tools, Switch,
        "Whether closed `bash` and `sh` fences of a reply are calls, too.";
    "tools.toolchains": Tools, List("FOLDER"),
        "Folders with programs in their `bin` that tools may see and run besides the system's, such as `$(rustc --print sysroot)`.",
        unset "none";
    "guardian.client_tools": Tools, Choice(ClientTools::WORDS),
        "`observe` records the Guardian's verdict on each call that a model has its client make (`tslp log --kind action_judged`), and keeps nothing back. `hold` keeps back what no agent should do and nothing brings back: deleting all of the home folder or of the workspace, rewriting history that others have, writing what runs later by itself; a sentence stands in its place. `strict` keeps back all that is denied or can't be read, and stops an agent that goes round in circles.";
    "budget.conversation": Budget, Budget(OF_CONVERSATION),
        "What a conversation may use until you say `tslp resume`: `requests`, `tokens`, `minutes`, and of what replies ask the client to do `files` and `lines` changed, `builds` and `tests`; for instance `tokens 500k, requests 200`. At 90 % model and user are told, above it requests get 400 `BUDGET-EXHAUSTED`.",
        unset "no bound";
    "budget.day": Budget, Budget(Counter::ALL),
        "The same for all conversations together, by days of UTC, and `money`, by the prices in `price`.",
        unset "no bound";
    "budget.prompt": Budget, Budget(&[Counter::Tokens]),
        "`tokens` that one prompt may have, estimated before it is sent; a longer one gets 400 `BUDGET-EXHAUSTED`.",
        unset "no bound";
}

/// The key with this name in the TOML file.
#[must_use]
pub fn key_named(name: &str) -> Option<&'static ConfigKey> {
    KEYS.iter().find(|key| key.name == name)
}

/// The known name that resembles `written` most, if any does.
#[must_use]
pub fn nearest_name<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|name| (strsim::damerau_levenshtein(written, name), name))
        .filter(|(distance, name)| *distance <= 2 + name.len() / 4)
        .min()
        .map(|(_, name)| name)
}
