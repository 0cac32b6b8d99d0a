//! Puts the layers over each other: defaults, then the file, then the environment, then flags.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::environment::Environment;
use super::error::ConfigError;
use super::file;
use super::kind::{PathBase, ValueKind};
use super::settings::{Settings, read_code_spec};
use super::table::{ConfigKey, KEYS, nearest_name};

/// Environment variable that names the configuration file, as `--config` does.
pub const FILE_VARIABLE: &str = "TSLP_CONFIG";

/// The command line's part of the configuration.
#[derive(Clone, Default)]
pub struct WrittenFlags {
    /// `--config`.
    pub file: Option<PathBuf>,
    /// The flags of keys, with their texts.
    pub written: Vec<(&'static ConfigKey, Vec<String>)>,
}

/// The layer that a value comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ConfigSource {
    /// The built-in default.
    #[default]
    Default,
    /// This line of the configuration file.
    File {
        /// The file.
        path: PathBuf,
        /// Line from 1.
        line: usize,
    },
    /// The environment variable of this name.
    Variable(&'static str),
    /// The flag of this name.
    Flag(&'static str),
}

/// The settings in force and where each comes from.
#[derive(Clone, Debug, Default)]
pub struct ConfigLayers {
    /// The settings.
    pub settings: Settings,
    /// The source of each key that some layer has.
    sources: BTreeMap<&'static str, ConfigSource>,
    /// The configuration file that was read.
    pub file: Option<PathBuf>,
    /// Warnings to be logged once logging runs, such as about unknown variables.
    pub warnings: Vec<String>,
}

impl ConfigLayers {
    /// Reads every layer.
    ///
    /// # Errors
    /// If a file can't be read, a key is unknown, or a value isn't allowed, also one that a later layer overrides.
    pub fn read(flags: &WrittenFlags, environment: &Environment) -> Result<Self, ConfigError> {
        let mut layers = Self::default();
        let mut merged = Map::new();
        layers.read_file(flags, environment, &mut merged)?;
        layers.read_variables(environment, &mut merged)?;
        // `~/` isn't replaced here: the shell has done that, or the user quoted it on purpose.
        let base = PathBase {
            folder: &environment.current_dir,
            home: None,
        };
        for (key, texts) in &flags.written {
            let source = ConfigSource::Flag(&key.flag);
            let text = match key.kind {
                ValueKind::List(_) => texts.join(","),
                _ => texts.last().cloned().unwrap_or_default(),
            };
            layers.put(key, text.into(), source, base, &mut merged)?;
        }
        layers.settings =
            Settings::deserialize(Value::Object(merged)).expect("each value was read alone");
        if let Some(path) = &layers.settings.spec_file {
            let spec = read_code_spec(path);
            layers.settings.policy.code_spec = spec.map_err(|problem| ConfigError::WrongValue {
                name: "spec.file",
                place: layers.source_of_key("spec.file").to_string(),
                problem,
                written: None,
            })?;
        }
        Ok(layers)
    }

    /// The source of the value of the key with this name.
    #[must_use]
    pub fn source_of_key(&self, name: &str) -> &ConfigSource {
        self.sources.get(name).unwrap_or(&ConfigSource::Default)
    }

    fn read_file(
        &mut self,
        flags: &WrittenFlags,
        environment: &Environment,
        merged: &mut Map<String, Value>,
    ) -> Result<(), ConfigError> {
        let named = flags
            .file
            .clone()
            .or_else(|| {
                environment
                    .variables
                    .get(FILE_VARIABLE)
                    .filter(|path| !path.is_empty())
                    .map(PathBuf::from)
            })
            .map(|path| environment.current_dir.join(path));
        let usual = environment
            .config_dir
            .as_ref()
            .map(|dir| dir.join("tslp").join("config.toml"))
            .filter(|path| named.is_none() && path.exists());
        let Some(path) = named.or(usual) else {
            return Ok(());
        };
        let text = std::fs::read_to_string(&path).map_err(|cause| ConfigError::FileUnreadable {
            path: path.clone(),
            cause,
        })?;
        let base = PathBase {
            folder: path.parent().unwrap_or(Path::new("")),
            home: environment.home_dir.as_deref(),
        };
        for (key, value, line) in file::parse_file(&text, &path)? {
            let path = path.clone();
            self.put(key, value, ConfigSource::File { path, line }, base, merged)?;
        }
        self.file = Some(path);
        Ok(())
    }

    fn read_variables(
        &mut self,
        environment: &Environment,
        merged: &mut Map<String, Value>,
    ) -> Result<(), ConfigError> {
        let base = PathBase {
            folder: &environment.current_dir,
            home: environment.home_dir.as_deref(),
        };
        for key in KEYS.iter() {
            let value = environment.variables.get(&key.variable);
            if let Some(text) = value.filter(|text| !text.is_empty()) {
                let source = ConfigSource::Variable(&key.variable);
                self.put(key, text.as_str().into(), source, base, merged)?;
            }
        }
        let known = || {
            let variables = KEYS.iter().map(|key| key.variable.as_str());
            variables.chain([FILE_VARIABLE])
        };
        for name in environment.variables.keys() {
            if !known().any(|variable| variable == name) {
                let hint = nearest_name(name, known())
                    .map_or_else(String::new, |known| format!("; did you mean {known}?"));
                self.warnings
                    .push(format!("no setting reads the variable {name}{hint}"));
            }
        }
        for name in &environment.unreadable_variables {
            self.warnings
                .push(format!("the variable {name} is not UTF-8 and was not read"));
        }
        Ok(())
    }

    /// Takes a value of a layer, once the settings can be read from it alone.
    fn put(
        &mut self,
        key: &'static ConfigKey,
        written: Value,
        source: ConfigSource,
        base: PathBase<'_>,
        merged: &mut Map<String, Value>,
    ) -> Result<(), ConfigError> {
        let shown = key.kind.shown(&written);
        let value = key.kind.read(written, base).and_then(|value| {
            let alone = Map::from_iter([(key.name.to_owned(), value.clone())]);
            let read = Settings::deserialize(Value::Object(alone));
            read.map(|_| value).map_err(|error| error.to_string())
        });
        let value = value.map_err(|problem| ConfigError::WrongValue {
            name: key.name,
            place: source.to_string(),
            problem,
            // It may hold a credential, as a URL with a password does.
            written: (!matches!(key.kind, ValueKind::Secret) && !shown.contains('@'))
                .then_some(shown),
        })?;
        merged.insert(key.name.to_owned(), value);
        self.sources.insert(key.name, source);
        Ok(())
    }
}

impl fmt::Debug for WrittenFlags {
    /// Names without values: some are credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flags")
            .field("file", &self.file)
            .field(
                "written",
                &self
                    .written
                    .iter()
                    .map(|(key, _)| &key.flag)
                    .collect::<Vec<_>>(),
            )
            .finish()
    }
}

impl fmt::Display for ConfigSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(name) => write!(f, "--{name}"),
        }
    }
}
