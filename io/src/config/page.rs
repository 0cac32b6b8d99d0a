//! The `tslp config` page: values in force and where they come from, credentials masked.

use super::layers::{ConfigLayers, ConfigSource};
use super::table::{ConfigKey, KEYS, key_named, nearest_name};

/// The page for people: by groups, what differs from its default, or everything.
#[must_use]
pub fn lines(layers: &ConfigLayers, all: bool) -> Vec<String> {
    let is_default = |key: &ConfigKey, value: &str| match value {
        "" => true,
        value => value == key.default_shown,
    };
    let rows: Vec<(&ConfigKey, String, &ConfigSource)> = page_rows(layers)
        .filter(|(key, value, _)| all || !is_default(key, value))
        .collect();
    let names = rows.iter().map(|(key, ..)| key.name.len()).max();
    let values = rows.iter().map(|(_, value, _)| value.chars().count()).max();
    let (names, values) = (names.unwrap_or(0), values.unwrap_or(0).min(VALUE_WIDTH));
    let mut lines = Vec::new();
    for group in rows.chunk_by(|(one, ..), (next, ..)| one.group == next.group) {
        lines.push(group[0].0.group.to_owned());
        for (key, value, source) in group {
            let value = if value.is_empty() { "-" } else { value };
            lines.push(format!("  {:names$}  {value:values$}  {source}", key.name));
        }
    }
    lines.push(String::new());
    lines.push(match &layers.file {
        Some(file) => format!("Configuration file: {}", file.display()),
        None => "No configuration file.".into(),
    });
    lines.push(match all {
        true => "`tslp config KEY` explains one.".into(),
        false => "All others have their defaults: `tslp config --all` lists them, `tslp config KEY` explains one.".into(),
    });
    lines
}

/// Longer values push what follows them aside.
const VALUE_WIDTH: usize = 40;

/// One setting: its value and source, its default, its meaning, and how it is written.
///
/// # Errors
/// If there is no such setting.
pub fn explained(layers: &ConfigLayers, name: &str) -> Result<Vec<String>, String> {
    let Some(key) = key_named(name) else {
        let nearest = nearest_name(name, KEYS.iter().map(|key| key.name));
        let hint = nearest.map_or("`tslp config --all` lists them".to_owned(), |known| {
            format!("did you mean `{known}`?")
        });
        return Err(format!("there is no setting `{name}`; {hint}"));
    };
    let (_, value, source) = page_rows(layers)
        .find(|(row, ..)| row.name == key.name)
        .expect("every key has a row");
    let value = if value.is_empty() { "-".into() } else { value };
    Ok(vec![
        format!("{} = {value}  ({source})", key.name),
        key.meaning.into(),
        format!("Default: {}", key.default_shown),
        format!(
            "Written: {}; `{}` in the file, {}=… or --{} …",
            key.kind.form(),
            key.name,
            key.variable,
            key.flag
        ),
    ])
}

/// The page for programs: one JSON object with every setting, in the table's order.
#[must_use]
pub fn json(layers: &ConfigLayers) -> String {
    let values: Vec<serde_json::Value> = page_rows(layers)
        .map(|(key, value, source)| {
            serde_json::json!({"key": key.name, "value": value, "source": source.to_string()})
        })
        .collect();
    let file = layers.file.as_ref().map(|path| path.display().to_string());
    serde_json::json!({"config_file": file, "values": values}).to_string()
}

fn page_rows(
    layers: &ConfigLayers,
) -> impl Iterator<Item = (&'static ConfigKey, String, &ConfigSource)> {
    let values = layers.settings.shown();
    KEYS.iter().map(move |key| {
        let value = key.kind.shown(&values[key.name]);
        (key, value, layers.source_of_key(key.name))
    })
}
