//! The layers end to end, against a temporary home; data in, data out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tslp_core::policy::AuditChoice;
use tslp_store::data_dir::choose_data_dir;

use super::environment::Environment;
use super::kind::ValueKind;
use super::layers::{ConfigLayers, ConfigSource, WrittenFlags};
use super::settings::Settings;
use super::table::{KEYS, key_named};
use super::{load, load_from_within, page};

/// A temporary machine: a home with a configuration file, a project as the current folder.
struct Machine {
    root: tempfile::TempDir,
    environment: Environment,
    flags: WrittenFlags,
}

impl Machine {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let at = root.path().canonicalize().unwrap();
        for dir in ["proj", "home/.config/tslp", "home/.local/share"] {
            std::fs::create_dir_all(at.join(dir)).unwrap();
        }
        let home = at.join("home");
        let environment = Environment {
            current_dir: at.join("proj"),
            config_dir: Some(home.join(".config")),
            data_dir: Some(home.join(".local/share")),
            home_dir: Some(home),
            ..Environment::default()
        };
        Self {
            root,
            environment,
            flags: WrittenFlags::default(),
        }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(path)
    }

    fn file(self, text: &str) -> Self {
        std::fs::write(self.at("home/.config/tslp/config.toml"), text).unwrap();
        self
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.variables.insert(name.into(), value.into());
        self
    }

    fn flag(mut self, name: &str, value: &str) -> Self {
        let key = key_named(name).unwrap();
        self.flags.written.push((key, vec![value.into()]));
        self
    }

    fn load(&self) -> Result<ConfigLayers, String> {
        load(&self.flags, &self.environment).map_err(|error| error.to_string())
    }

    /// The value of `name` and its source, or the error; the temporary folder is written as `~`.
    fn check(&self, name: &str, expected: &str) {
        let shown = match self.load() {
            Ok(layers) => format!(
                "{} from {}",
                shown(name, &layers.settings),
                layers.source_of_key(name)
            ),
            Err(error) => error,
        };
        assert_eq!(self.anonymous(&shown), expected);
    }

    fn check_refused(&self, parts: &[&str]) {
        let error = self.load().map(|_| ()).unwrap_err();
        for part in parts {
            assert!(self.anonymous(&error).contains(part), "{part:?} in {error}");
        }
    }

    fn anonymous(&self, text: &str) -> String {
        text.replace(self.at("").to_str().unwrap(), "~/")
    }
}

fn shown(name: &str, settings: &Settings) -> String {
    let kind = key_named(name).unwrap().kind;
    kind.shown(&settings.shown()[name])
}

/// What a command means in `proj/work/sub/deep`: the nearest root of git's or used folder upwards.
#[test]
fn project_root() {
    let check = |git: &[&str], used: &[&str], expected: &str| {
        let mut machine = Machine::new();
        let here = machine.at("proj/work/sub/deep");
        std::fs::create_dir_all(&here).unwrap();
        for root in git {
            std::fs::write(machine.at(root).join(".git"), "gitdir: elsewhere").unwrap();
        }
        machine.environment.current_dir = here;
        let data_dir_of = |it: &&str| {
            let data = machine.environment.data_dir.as_deref();
            choose_data_dir(&machine.at(it), None, data).unwrap()
        };
        let used: Vec<PathBuf> = used.iter().map(data_dir_of).collect();
        let counts = |data_dir: &Path| used.contains(&data_dir.to_owned());
        let loaded = load_from_within(&machine.flags, &machine.environment, counts).unwrap();
        assert_eq!(
            loaded.settings.workspace,
            machine.at(expected),
            "{git:?} {used:?}"
        );
    };
    check(&[], &[], "proj/work/sub/deep");
    check(&["proj"], &[], "proj");
    // A worktree or a nested repository in a project that is used.
    check(&["proj", "proj/work"], &["proj"], "proj/work");
    check(&["proj/work"], &["proj"], "proj/work");
    // A used subfolder of a repository.
    check(&["proj"], &["proj", "proj/work/sub"], "proj/work/sub");
    check(&[], &["proj", "proj/work"], "proj/work");
    // The whole machine's root holds the data directory, so it can't be a workspace.
    check(&[""], &[], "proj/work/sub/deep");
}

#[test]
fn layers_override() {
    let machine = Machine::new();
    machine.check("upstream", "auto from default");
    let machine = machine.file("debug = true\nupstream = 'http://a'");
    machine.check(
        "upstream",
        "http://a from ~/home/.config/tslp/config.toml:2",
    );
    let machine = machine.variable("TSLP_UPSTREAM", "http://b");
    machine.check("upstream", "http://b from TSLP_UPSTREAM");
    let machine = machine.flag("upstream", "demo");
    machine.check("upstream", "demo from --upstream");
    machine.check("debug", "true from ~/home/.config/tslp/config.toml:1");
}

/// A list of a higher layer replaces the one below and does not extend it.
#[test]
fn list_replaced() {
    let machine = Machine::new().file("allow = ['a.lan', 'b.lan']");
    machine.check(
        "allow",
        "a.lan, b.lan from ~/home/.config/tslp/config.toml:1",
    );
    let machine = machine.variable("TSLP_ALLOW", "c.lan, d.lan");
    machine.check("allow", "c.lan, d.lan from TSLP_ALLOW");
}

#[test]
fn empty_variable() {
    let machine = Machine::new().variable("TSLP_PROFILE", "");
    machine.check("profile", "standard from default");
}

#[test]
fn dotted_keys() {
    let machine = Machine::new().file("[etv]\ntimeout_ms = 0x10\n[http]\nidle_seconds = 1_0");
    machine.check(
        "etv.timeout_ms",
        "16 from ~/home/.config/tslp/config.toml:2",
    );
    machine.check(
        "http.idle_seconds",
        "10 from ~/home/.config/tslp/config.toml:4",
    );
    let machine = Machine::new().file("etv.timeout_ms = 7");
    machine.check("etv.timeout_ms", "7 from ~/home/.config/tslp/config.toml:1");
}

/// Paths in the file start at the file, and those of flags at the current folder.
#[test]
fn relative_paths() {
    let machine = Machine::new();
    std::fs::create_dir_all(machine.at("home/.config/tslp/p")).unwrap();
    let machine = machine.file("workspace = 'p'\ndata_dir = '~/data'");
    machine.check(
        "workspace",
        "~/home/.config/tslp/p from ~/home/.config/tslp/config.toml:1",
    );
    machine.check(
        "data_dir",
        "~/home/data from ~/home/.config/tslp/config.toml:2",
    );
    std::fs::create_dir(machine.at("proj/sub")).unwrap();
    let machine = machine.flag("workspace", "sub");
    machine.check("workspace", "~/proj/sub from --workspace");
}

#[test]
fn other_file() {
    let mut machine = Machine::new().file("debug = true");
    std::fs::write(machine.at("proj/other.toml"), "profile = 'strict'").unwrap();
    machine.flags.file = Some("other.toml".into());
    machine.check("profile", "strict from ~/proj/other.toml:1");
    machine.check("debug", "false from default");
    machine.flags.file = None;
    let mut machine = machine.variable("TSLP_CONFIG", "other.toml");
    machine.check("profile", "strict from ~/proj/other.toml:1");
    machine.flags.file = Some("gone.toml".into());
    machine.check_refused(&["can't read the configuration file ~/proj/gone.toml"]);
}

/// Servers for some models stand beside the one for all the others.
#[test]
fn servers_for_models() {
    let machine = Machine::new().file(
        "[[upstream]]\nurl = 'http://a'\n[[upstream]]\nmodels = ['qwen*', 'phi4']\nurl = 'http://b/v1'",
    );
    let both = "http://a, qwen*|phi4=http://b from ~/home/.config/tslp/config.toml:1";
    machine.check("upstream", both);
    let machine = machine.flag("upstream", "demo");
    machine.check("upstream", "demo from --upstream");
    let machine = machine.flag("upstream", "llama*=http://c");
    machine.check("upstream", "auto, llama*=http://c from --upstream");
    let machine = Machine::new().variable("TSLP_UPSTREAM", "http://a,q*|r=http://b");
    machine.check("upstream", "http://a, q*|r=http://b from TSLP_UPSTREAM");
}

#[test]
fn invalid_servers() {
    let refused = |text: &str, parts: &[&str]| Machine::new().file(text).check_refused(parts);
    for wrong in [
        "[[upstream]]\nmodels = ['a']",
        "[[upstream]]\nurl = 'http://a'\nmodel = 'b'",
        "[[upstream]]\nurl = 'http://a'\nmodels = 'b'",
    ] {
        refused(wrong, &["config.toml:1", "`upstream`", "[[upstream]]"]);
    }
    let two = "[[upstream]]\nurl = 'http://a'\n[[upstream]]\nurl = 'http://b'";
    refused(two, &["`upstream`", "one server for all models"]);
    refused("upstream = 7", &["`upstream`", "texts in quotes"]);
    refused("upstream = ''", &["`upstream`", "must not be empty"]);
    refused("upstream = 'a|=http://b'", &["`upstream`", "qwen*"]);
    refused("upstream = 'a=ftp://b'", &["`upstream`", "http://"]);
}

/// An unknown key is refused, and the nearest known one is named.
#[test]
fn unknown_keys() {
    let refused = |text: &str, parts: &[&str]| Machine::new().file(text).check_refused(parts);
    refused(
        "\nupstraem = 'demo'",
        &["config.toml:2", "`upstraem`", "did you mean `upstream`?"],
    );
    refused(
        "[etv]\ntimeout = 1",
        &["config.toml:2", "`etv.timeout`", "`etv.timeout_ms`"],
    );
    refused(
        "[zzzzzzzz]\nqqqq = 1",
        &["config.toml:1", "`zzzzzzzz`", "tslp config"],
    );
    refused("debug.x = 1", &["`debug` must be true or false"]);
}

#[test]
fn wrong_values() {
    let refused = |text: &str, parts: &[&str]| Machine::new().file(text).check_refused(parts);
    refused(
        "debug = 'yes'",
        &["config.toml:1: `debug` must be true or false, not \"yes\""],
    );
    refused("listen = 4141", &["`listen` must be a text in quotes"]);
    refused("allow = [1]", &["`allow` must be an array of texts"]);
    refused(
        "etv.timeout_ms = 0",
        &["whole number from 1 to 60000", "not \"0\""],
    );
    refused(
        "profile = 'loose'",
        &["must be one of: standard, strict", "not \"loose\""],
    );
    refused(
        "check.command = 'make $X'",
        &["must be a plain command line (a substitution"],
    );
    refused("budget_tokens = 'lots'", &["or auto"]);
    refused("log_level = 'loud'", &["off, error, warn"]);
    refused("debug = \n", &["config.toml:1: "]);
    let machine = Machine::new().variable("TSLP_ETV_TIMEOUT_MS", "-1");
    machine.check_refused(&["TSLP_ETV_TIMEOUT_MS: `etv.timeout_ms` must be"]);
    let machine = Machine::new().flag("listen", "here");
    machine.check_refused(&["--listen: `listen` must be ADDR:PORT"]);
}

#[test]
fn unread_variables() {
    let machine = Machine::new().variable("TSLP_UPSTRAEM", "demo");
    let layers = machine.load().unwrap();
    assert_eq!(
        layers.warnings,
        ["no setting reads the variable TSLP_UPSTRAEM; did you mean TSLP_UPSTREAM?"]
    );
}

#[test]
fn token_beyond_loopback() {
    let open = Machine::new().variable("TSLP_LISTEN", "0.0.0.0:4141");
    open.check_refused(&["TSLP_TOKEN=$(openssl rand -hex 32)", "127.0.0.1"]);
    let closed = open.variable("TSLP_TOKEN", "canary-0123456789");
    closed.check("token", "******** from TSLP_TOKEN");
    Machine::new().flag("listen", "[::1]:0").load().unwrap();
    Machine::new()
        .flag("listen", "[::ffff:127.0.0.1]:0")
        .load()
        .unwrap();
}

#[test]
fn hidden_credentials() {
    let canary = "canary-0123456789";
    let machine = Machine::new()
        .variable("TSLP_TOKEN", canary)
        .flag("upstream_api_key", canary);
    let layers = machine.load().unwrap();
    let mut everything = format!("{layers:?}{:?}", machine.flags);
    everything += &page::lines(&layers, false).join("\n");
    everything += &page::json(&layers);
    assert!(!everything.contains(canary), "{everything}");
    assert_eq!(layers.settings.access.token.unwrap().reveal(), canary);
    let error = Machine::new().flag("token", "short-canary").load();
    assert!(!error.unwrap_err().contains("canary"));
    let error = Machine::new()
        .flag("upstream", "http://me:canary@host")
        .load();
    assert!(!error.unwrap_err().contains("canary"));
}

#[test]
fn unusable_workspace() {
    let refused = |path: &str, parts: &[&str]| {
        let machine = Machine::new().flag("workspace", path);
        std::fs::write(machine.at("proj/file"), "").unwrap();
        machine.check_refused(parts);
    };
    refused("gone", &["~/proj/gone doesn't exist", "--workspace DIR"]);
    refused("file", &["is not a folder"]);
}

#[test]
fn data_dir_outside() {
    let machine = Machine::new().flag("data_dir", "here");
    machine.check_refused(&["holds the data directory", "--data-dir DIR"]);
    let machine = Machine::new().flag("workspace", "../home");
    machine.check_refused(&["holds the data directory"]);
}

/// Every setting can be written as it is shown.
#[test]
fn settings_round_trip() {
    let machine = Machine::new();
    let layers = machine.load().unwrap();
    let mut variables = BTreeMap::new();
    for key in KEYS
        .iter()
        .filter(|key| !matches!(key.kind, ValueKind::Secret))
    {
        let text = shown(key.name, &layers.settings);
        variables.insert(key.variable.clone(), text);
    }
    let mut again = Machine::new();
    again.environment = machine.environment.clone();
    again.environment.variables = variables;
    assert_eq!(again.load().unwrap().settings, layers.settings);
}

#[test]
fn pages_list_all_keys() {
    let machine = Machine::new().variable("TSLP_PROFILE", "strict");
    let layers = machine.load().unwrap();
    let human = page::lines(&layers, false).join("\n");
    let profile = human
        .lines()
        .find(|line| line.starts_with("  profile "))
        .unwrap();
    let words: Vec<&str> = profile.split_whitespace().collect();
    assert_eq!(words, ["profile", "strict", "TSLP_PROFILE"]);
    assert!(!human.contains("audit"), "{human}");
    let all = page::lines(&layers, true).join("\n");
    for key in KEYS.iter() {
        assert!(all.contains(&format!("\n  {} ", key.name)), "{all}");
    }
    let one = page::explained(&layers, "profile").unwrap().join("\n");
    for part in ["strict  (TSLP_PROFILE)", "Default: standard", "--profile"] {
        assert!(one.contains(part), "{one}");
    }
    let unknown = page::explained(&layers, "profil").unwrap_err();
    assert!(unknown.contains("did you mean `profile`?"), "{unknown}");
    let json: serde_json::Value = serde_json::from_str(&page::json(&layers)).unwrap();
    assert_eq!(json["values"].as_array().unwrap().len(), KEYS.len());
    assert_eq!(json["config_file"], serde_json::Value::Null);
}

#[test]
fn names_of_keys() {
    for key in KEYS.iter() {
        assert!(!key.default_shown.is_empty(), "{}", key.name);
        assert_eq!(
            KEYS.iter().filter(|other| other.name == key.name).count(),
            1
        );
    }
    assert!(Settings::default().workspace.as_os_str().is_empty());
    assert_eq!(ConfigSource::default().to_string(), "default");
}

#[test]
fn audits() {
    let machine = Machine::new();
    machine.check("audit", "auto from default");
    let machine = machine.file("audit = 'on'");
    let config = machine.load().unwrap().settings;
    assert_eq!(config.policy.audit, AuditChoice::On);
    machine
        .flag("audit", "sometimes")
        .check_refused(&["audit", "off", "on", "auto"]);
}

/// `docs/configuration.md` holds the table of keys between two marks. To renew it after a change of the table, run
/// this test with `TSLP_UPDATE_DOCS=1`.
#[test]
fn documentation_of_keys() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/configuration.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- keys: begin -->\n", "<!-- keys: end -->");
    let (before, rest) = document.split_once(begin).unwrap();
    let (written, after) = rest.split_once(end).unwrap();
    let wanted = reference();
    if std::env::var_os("TSLP_UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{begin}{wanted}{end}{after}")).unwrap();
    } else {
        assert!(
            written == wanted,
            "docs/configuration.md differs from the table of keys; TSLP_UPDATE_DOCS=1 writes it"
        );
    }
}

fn reference() -> String {
    let mut text = String::from(
        "| key | environment | flag | default | unit | meaning |\n|---|---|---|---|---|---|\n",
    );
    for key in KEYS.iter() {
        let default = match key.unset {
            "" => format!("`{}`", key.default_shown),
            unset => unset.to_owned(),
        };
        let _ = writeln!(
            text,
            "| `{}` | `{}` | `--{}` | {default} | {} | {} |",
            key.name,
            key.variable,
            key.flag,
            key.kind.unit(),
            key.meaning.replace('|', "\\|")
        );
    }
    text
}
