//! The table of all configuration keys: the one place where files, environment, flags and documentation meet.

use std::iter::once;

use tslp_core::budget::{Budget, Counter};
use tslp_core::code_spec::CodeSpec;
use tslp_core::gate::GateProfile;
use tslp_core::guardian;
use tslp_core::limits::TOMBSTONE_EPISODES_MAX;
use tslp_core::policy::{
    AuditChoice, ClientTools, Grounding, HistoryChoice, OnStale, Placement, Repair,
};

use super::key::{self, ConfigKey, SettingAccess, ValueKind};
use super::network::{self, Allowed};
use super::settings::{NoticesInReply, TokenBudget, ToolsChoice, WindowGuard};

/// The longest time that any timeout can be set to: a day.
const DAY_SECONDS: u64 = 86_400;

/// A setting that is a field: its kind and unit, what a written value is read as, and how the field is shown.
macro_rules! field {
    ($kind:expr, $unit:expr, $($field:ident).+, |$written:ident| $read:expr, |$value:ident| $shown:expr) => {
        SettingAccess {
            kind: $kind,
            unit: $unit,
            set: |s, $written| $read.map(|read| s.$($field).+ = read),
            show: |s| {
                let $value = &s.$($field).+;
                $shown
            },
        }
    };
}

/// A whole number, its bounds and its unit.
macro_rules! number {
    ($allowed:expr, $unit:literal, $($field:ident).+) => {
        field!(ValueKind::Number, $unit, $($field).+, |written| written.number($allowed), |it| it.to_string())
    };
}

/// A time in whole seconds, and its bounds.
macro_rules! seconds {
    ($allowed:expr, $($field:ident).+) => {
        field!(ValueKind::Number, "seconds", $($field).+, |written| written.seconds($allowed), |it| it.as_secs().to_string())
    };
}

macro_rules! switch {
    ($($field:ident).+) => {
        field!(ValueKind::Switch, "", $($field).+, |written| written.boolean(), |it| it.to_string())
    };
}

/// One of an enum's words.
macro_rules! choice {
    ($words:ident, $($field:ident).+) => {
        field!(
            ValueKind::Choice($words::WORDS), "", $($field).+,
            |written| written.one_of($words::WORDS, $words::of_word), |it| it.to_string()
        )
    };
}

/// What is counted of one conversation.
const OF_CONVERSATION: &[Counter] = match Counter::ALL.split_last() {
    Some((Counter::Money, others)) => others,
    _ => panic!("money is counted by days alone"),
};

/// Bounds of what agents may do.
macro_rules! budget {
    ($can:expr, $($field:ident).+) => {
        SettingAccess {
            kind: ValueKind::Text("BUDGET"),
            unit: "",
            set: |s, written| {
                let budget: Budget = written.text().parse()?;
                let can: &[Counter] = $can;
                match budget.limits().iter().find(|(counter, _)| !can.contains(counter)) {
                    Some((counter, _)) => Err(format!("`{counter}` can't be counted there")),
                    None => {
                        s.$($field).+ = budget;
                        Ok(())
                    }
                }
            },
            show: |s| s.$($field).+.to_string(),
        }
    };
}

/// A path that may be left unset.
macro_rules! path {
    ($kind:expr, $($field:ident).+) => {
        field!($kind, "", $($field).+, |written| written.path().map(Some), |it| {
            it.as_ref().map_or_else(String::new, |path| path.display().to_string())
        })
    };
}

macro_rules! secret {
    ($read:path, $($field:ident).+) => {
        field!(ValueKind::Secret, "", $($field).+, |written| $read(written.text()).map(Some), |it| {
            it.as_ref().map_or_else(String::new, ToString::to_string)
        })
    };
}

/// The rows: a key's name in the file, its group, its setting, its meaning, what applies when it isn't set, and its variable
/// where that doesn't follow from the name.
macro_rules! keys {
    ($($name:literal: $group:ident, $setting:expr, $meaning:literal
        $(, unset $unset:literal)? $(, variable $variable:literal)?;)+) => {
        /// All keys, in the order in which they are listed everywhere.
        pub const KEYS: &[ConfigKey] = &[$({
            const SETTING: SettingAccess = $setting;
            const FLAG: [u8; $name.len()] = key::flag_of_name($name);
            ConfigKey {
                name: $name,
                flag: key::name_text(&FLAG),
                variable: keys!(@first $($variable,)? {
                    const NAME: [u8; "TSLP_".len() + $name.len()] = key::variable_of_name($name);
                    key::name_text(&NAME)
                }),
                kind: SETTING.kind,
                group: stringify!($group),
                unit: SETTING.unit,
                unset: keys!(@first $($unset,)? ""),
                meaning: $meaning,
                set: SETTING.set,
                show: SETTING.show,
            }
        },)+];
    };
    (@first $first:expr $(, $other:expr)?) => {
        $first
    };
}

keys! {
    "listen": Proxy, field!(ValueKind::Text("ADDR:PORT"), "", listen, |written| network::parse_address(written.text()), |it| it.to_string()),
        "Where clients connect; port 0 takes any free one. Anything but loopback needs a token.";
    "workspace": Proxy, field!(ValueKind::Folder, "", workspace, |written| written.path(), |it| it.display().to_string()),
        "The project folder. It is only ever read.",
        unset "the current folder for `tslp` and `tslp serve`; for `tslp run` and every other command the nearest folder upwards that git has as a root or whose ledger is in use";
    "data_dir": Proxy, field!(ValueKind::Folder, "", data_dir, |written| written.path(), |it| it.display().to_string()),
        "Where the ledger lives. Never inside the workspace.",
        unset "`tslp/NAME-HASH` in the user's data folder, one for each workspace";
    "token": Proxy, secret!(network::parse_token, access.token),
        "Clients must send it as their API key (`Authorization: Bearer …`). At least 16 visible ASCII characters. Other users can read a process's flags, so prefer the file or the variable.",
        unset "none is asked for, and only those whom `allow` names may call";
    "allow": Proxy, field!(
        ValueKind::List("HOST|ORIGIN|UID|any"), "", access.allowed,
        |written| Allowed::parse(written.list()), |it| it.to_string()),
        "Who else may call the proxy: other names of this machine in a request's `Host` header, with or without a port (a web page can rebind its own name to it); web pages, each as `scheme://host[:port]`; ids of local users without a token, or `any` of them. Whoever may call can read the workspace through prompts and change what is true.",
        unset "programs of the user that tslp runs as, and root's, by the loopback names and the listening address";
    "debug": Proxy, switch!(debug),
        "Whether `/debug/last-prompt` shows what the model saw last.";
    "http.request_body_bytes_max": Proxy, number!(1 << 10..=1 << 30, "bytes", limits.chat_body_bytes_max),
        "Longest body of a chat request; a longer one gets 413. All chat requests in flight together take about 6 times as much memory at most: the default keeps tslp under 64 MB. One that finds no memory waits, and gets 503 with `Retry-After` if none comes free.";
    "log_level": Proxy, field!(
        ValueKind::Text("LEVEL"), "", log_level,
        |written| crate::logging::check_level(written.text()), |it| it.clone()),
        "What is logged to standard error: off, error, warn, info, debug or trace, or levels by target such as `info,tslp_io::main_loop=debug`. Where it isn't set, warnings are, as plain lines without time and target.", variable "TSLP_LOG";
    "upstream": Model, SettingAccess {
        kind: ValueKind::Servers("URL|auto|demo|MODELS=URL"), unit: "",
        set: |s, written| s.upstream.set_servers(written),
        show: |s| {
            let servers = s.upstream.by_model.iter().map(ToString::to_string);
            let all: Vec<String> = once(s.upstream.place.to_string()).chain(servers).collect();
            all.join(", ")
        } },
        "The model server's base URL, with or without /v1. `auto` looks for Ollama, llama.cpp, LM Studio and vLLM on their usual local ports and answers 502 where none runs; `demo` is a scripted model. `qwen*|phi4=http://127.0.0.1:8081` names another server for models of such names, and may be repeated; in the file, `[[upstream]]` with `models` and `url` does.";
    "upstream_api_key": Model, secret!(network::parse_credential, upstream.api_key),
        "Sent to the model server in place of the client's own authorisation. Other users can read a process's flags, so prefer the file or the variable.",
        unset "the client's own authorisation is passed on";
    "upstream_ca_file": Model, path!(ValueKind::File, upstream.ca_file),
        "PEM file of certificates to trust for an https upstream, besides the system's.",
        unset "only the system's certificates";
    "http.first_byte_seconds": Model, seconds!(1..=DAY_SECONDS, timeouts.first_byte),
        "Longest wait for the first byte of a response; a model that has to be loaded may take minutes.";
    "http.idle_seconds": Model, seconds!(1..=DAY_SECONDS, timeouts.upstream_idle),
        "Longest silence in the middle of a response.";
    "price": Model, field!(ValueKind::Text("PRICES"), "", policy.prices, |written| written.text().parse(), |it| it.to_string()),
        "What a million tokens that a model reads and writes cost, for `money` budgets and `tslp status usage`: names, or beginnings of names with a `*`, such as `gpt-5* 1.25 10, qwen* 0 0`. The first that fits counts; other models cost nothing.",
        unset "nothing costs anything";
    "profile": Truth, choice!(GateProfile, policy.profile),
        "How easily the model's code becomes truth. In `strict` structural parity alone isn't enough: a shadow audit must find the change complete, or you verify it, by `@tslp confirm` for one; and code that a conversation was shown as disk holds it is no base before you accept it.";
    "audit": Truth, choice!(AuditChoice, policy.audit),
        "Whether the model is asked, once its reply is out and nobody waits for it, if the reply's code is complete: after every reply with judged code (`on`), or only where nothing else grants authority (`auto`), as in `strict`. A new request to the model breaks it off at once; it is asked again when the model is free.";
    "adopt.on_touch": Truth, switch!(etv.adopt_on_touch),
        "Whether a file of which nothing is known is taken as your word, as it is on disk, when a prompt names it or before the model's tool call reads or changes it. Hidden files and those that a .gitignore names are never taken so.";
    "etv.on_stale": Truth, choice!(OnStale, policy.on_stale),
        "What becomes of code of which disk holds something that nobody accepted: `ask` withholds it until you decide (`@tslp accept`, or a paste), `follow` is your standing word that disk counts as accepted.";
    "etv.timeout_ms": Truth, field!(
        ValueKind::Number, "milliseconds", etv.timeout,
        |written| written.milliseconds(1..=60_000), |it| it.as_millis().to_string()),
        "Longest wait for the workspace's file system in front of a prompt; a file that doesn't answer in time counts as unreadable.";
    "tombstone_episodes": Truth, number!(0..=TOMBSTONE_EPISODES_MAX, "episodes", policy.tombstone_episodes),
        "How long a symbol that you removed is remembered as removed, so that only you can bring it back; its code stays in the Vault for ever. Another number counts from the next decision on.";
    "spec.file": Truth, SettingAccess {
            kind: ValueKind::File,
            unit: "",
            set: |s, written| {
                let path = written.path()?;
                let text = std::fs::read_to_string(&path).map_err(|cause| format!("must name a file that can be read ({}: {cause})", path.display()))?;
                s.policy.code_spec = CodeSpec::parse(&text).map_err(|problem| format!("names {}, which {problem}", path.display()))?;
                s.spec_file = Some(path);
                Ok(())
            },
            show: |s| s.spec_file.as_ref().map_or_else(String::new, |path| path.display().to_string()),
        },
        "A `CodeSpec.md`: rules for code that models write, as a Markdown list (docs/repair.md). Code that breaks one isn't taken, and the model is told which, line by line. It is read at start, and its text is on record.",
        unset "no rules";
    "check.command": Truth, SettingAccess {
            kind: ValueKind::Text("COMMAND"),
            unit: "",
            set: |s, written| {
                let command = written.text().trim();
                if !command.is_empty() {
                    guardian::split(command).map_err(|reason| format!("must be a plain command line ({reason})"))?;
                }
                s.tools.check = command.into();
                Ok(())
            },
            show: |s| s.tools.check.clone(),
        },
        "A command line, for instance `make -s test`, that runs in the sandbox over what disk holds after each turn that changed code. The next prompt says how it ended; nothing becomes true or is taken back by it, and the next request calls it off.",
        unset "nothing is run";
    "history": Prompt, choice!(HistoryChoice, policy.history),
        "What becomes of a request's older messages: `window` replaces them by the Recent Context block, `client` keeps them, and so does `auto` as long as nothing says that they don't fit the model's window.";
    "placement": Prompt, choice!(Placement, policy.placement),
        "Where the Recent Context block of `history = \"window\"` goes: into the one system message, or in front of the prompt for models without a system role. True code and notices always go directly in front of the prompt.";
    "budget_tokens": Prompt, SettingAccess {
        kind: ValueKind::NumberOrWord, unit: "tokens",
        set: |s, written| {
            s.budget = match written.text() {
                "auto" => TokenBudget::Auto,
                _ => written
                    .number(0..=10_000_000)
                    .map(TokenBudget::Tokens)
                    .map_err(|problem| format!("{problem}, or auto"))?,
            };
            Ok(())
        },
        show: |s| match s.budget {
            TokenBudget::Auto => "auto".into(),
            TokenBudget::Tokens(tokens) => tokens.to_string(),
        } },
        "Hydrated code per prompt. `auto` is half of the model's context where the server tells its size, else 8192.";
    "window.guard": Prompt, choice!(WindowGuard, window_guard),
        "What is done about a prompt that is longer than what its model reads at once, of which the server cuts a part off without a word: `warn` says it in the log, in `tslp recent`, in the header `x-tslp-window` and to the user of a chat; with `refuse` it isn't sent.";
    "window.hold_checksum": Prompt, switch!(holds_checksum),
        "Whether the checksum that Claude Code puts at the top of its system prompt, another with each request, is held still (`cch=00000`), so that a local server goes on from what it has read. It changes the client's bytes; where `CLAUDE_CODE_ATTRIBUTION_HEADER=0` is set there is none (docs/clients.md).";
    "clear.grounding": Prompt, choice!(Grounding, policy.grounding),
        "What decisions without evidence do to `clear`: with `strict` 95 % of those made since the last one need a quotation that holds or `[ASSUMPTION]`, with `warn` they are told, with `disabled` nobody asks.";
    "notices.in_reply": Reply, choice!(NoticesInReply, notices_in_reply),
        "Which replies end with a line that says what was withheld or refused and which words resolve it: `always` those of chats, whose client offers no tools, and the last one of an agent's turn in which something was refused; only those of `chats`; or `never`.";
    "repair": Reply, choice!(Repair, policy.repair),
        "`fix` looks at an agent's call before its client has it: one whose old text isn't in its file gets the file's own text, where exactly one place can be meant; one that would lose code is asked for once more; one that was written as text is delivered as a call. `tell` changes no reply, and tells the model with its next prompt the lines that it must have meant and the code that it left out. `off` leaves the first of these to the client (docs/repair.md).";
    "tools.run": Tools, choice!(ToolsChoice, tools.run),
        "Whether the command lines in a reply's closed `tool` fences are run, in the sandbox, where the Guardian allows it (docs/tools.md). Only for a client that offers no tools of its own.";
    "tools.shell_fences": Tools, switch!(tools.shell_fences),
        "Whether closed `bash` and `sh` fences of a reply are calls, too.";
    "tools.toolchains": Tools, SettingAccess {
        kind: ValueKind::List("FOLDER"), unit: "",
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
        } },
        "Folders with programs in their `bin` that tools may see and run besides the system's, such as `$(rustc --print sysroot)`.",
        unset "none";
    "guardian.client_tools": Tools, choice!(ClientTools, policy.client_tools),
        "`observe` records the Guardian's verdict on each call that a model has its client make (`tslp log --kind action_judged`), and keeps nothing back. `hold` keeps back what no agent should do and nothing brings back: deleting all of the home folder or of the workspace, rewriting history that others have, writing what runs later by itself; a sentence stands in its place. `strict` keeps back all that is denied or can't be read, and stops an agent that goes round in circles.";
    "budget.conversation": Budget, budget!(OF_CONVERSATION, policy.budget_conversation),
        "What a conversation may use until you say `tslp resume`: `requests`, `tokens`, `minutes`, and of what replies ask the client to do `files` and `lines` changed, `builds` and `tests`; for instance `tokens 500k, requests 200`. At 90 % model and user are told, above it requests get 400 `BUDGET-EXHAUSTED`.",
        unset "no bound";
    "budget.day": Budget, budget!(Counter::ALL, policy.budget_day),
        "The same for all conversations together, by days of UTC, and `money`, by the prices in `price`.",
        unset "no bound";
    "budget.prompt": Budget, budget!(&[Counter::Tokens], policy.budget_prompt),
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
