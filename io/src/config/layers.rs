//! Puts the layers over each other: defaults, then the file, then the environment, then flags.

use std::fmt;
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::error::ConfigError;
use super::file;
use super::key::{ConfigKey, ValueKind};
use super::settings::Settings;
use super::table::{KEYS, nearest_name};
use super::written::WrittenValue;

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
    /// For each row of the table of keys.
    pub sources: Vec<ConfigSource>,
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
        let mut layers = Self {
            sources: vec![ConfigSource::Default; KEYS.len()],
            ..Self::default()
        };
        layers.read_file(flags, environment)?;
        layers.read_variables(environment)?;
        // `~/` isn't replaced here: the shell has done that, or the user quoted it on purpose.
        for (key, texts) in &flags.written {
            let source = ConfigSource::Flag(key.flag);
            layers.apply_texts(key, texts, source, &environment.current_dir, None)?;
        }
        Ok(layers)
    }

    /// The source of the value of the key with this name.
    #[must_use]
    pub fn source_of_key(&self, name: &str) -> Option<&ConfigSource> {
        let row = KEYS.iter().position(|key| key.name == name)?;
        self.sources.get(row)
    }

    fn read_file(
        &mut self,
        flags: &WrittenFlags,
        environment: &Environment,
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
        let base = path.parent().unwrap_or(Path::new(""));
        for entry in file::parse_file(&text, &path)? {
            let source = ConfigSource::File {
                path: path.clone(),
                line: entry.line,
            };
            self.apply_texts(
                entry.key,
                &entry.texts,
                source,
                base,
                environment.home_dir.as_deref(),
            )?;
        }
        self.file = Some(path);
        Ok(())
    }

    fn read_variables(&mut self, environment: &Environment) -> Result<(), ConfigError> {
        for key in KEYS {
            let value = environment.variables.get(key.variable);
            if let Some(text) = value.filter(|text| !text.is_empty()) {
                let source = ConfigSource::Variable(key.variable);
                let texts = std::slice::from_ref(text);
                self.apply_texts(
                    key,
                    texts,
                    source,
                    &environment.current_dir,
                    environment.home_dir.as_deref(),
                )?;
            }
        }
        let known = || KEYS.iter().map(|key| key.variable).chain([FILE_VARIABLE]);
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

    fn apply_texts(
        &mut self,
        key: &'static ConfigKey,
        texts: &[String],
        source: ConfigSource,
        base: &Path,
        home: Option<&Path>,
    ) -> Result<(), ConfigError> {
        let written = WrittenValue { texts, base, home };
        (key.set)(&mut self.settings, &written).map_err(|problem| ConfigError::WrongValue {
            name: key.name,
            place: source.to_string(),
            problem,
            written: texts_to_show(key, texts),
        })?;
        let row = KEYS.iter().position(|row| row.name == key.name);
        self.sources[row.expect("every key is a row of the table")] = source;
        Ok(())
    }
}

/// The written text, for an error message; `None` if it may hold a credential, as a URL with a password does.
fn texts_to_show(key: &ConfigKey, texts: &[String]) -> Option<String> {
    let text = texts.join(",");
    (!matches!(key.kind, ValueKind::Secret) && !text.contains('@')).then_some(text)
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
                    .map(|(key, _)| key.flag)
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
