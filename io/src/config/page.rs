//! The `tslp config` page: every effective value and where it comes from, credentials masked.

use super::layers::ConfigLayers;
use super::table::KEYS;

/// The page for people: a table of key, value and source.
#[must_use]
pub fn lines(layers: &ConfigLayers) -> Vec<String> {
    let rows: Vec<[String; 3]> = page_rows(layers)
        .map(|row| [row.name.into(), value_or_dash(row.value), row.source])
        .collect();
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .fold(0, usize::max)
    };
    let (names, values) = (width(0), width(1));
    let mut lines = vec![format!("{:names$}  {:values$}  SOURCE", "KEY", "VALUE")];
    for [name, value, source] in &rows {
        lines.push(format!("{name:names$}  {value:values$}  {source}"));
    }
    lines.push(String::new());
    lines.push(match &layers.file {
        Some(file) => format!("Configuration file: {}", file.display()),
        None => "No configuration file.".into(),
    });
    lines
}

/// The page for programs: one JSON object, keys in the table's order.
#[must_use]
pub fn json(layers: &ConfigLayers) -> String {
    let values: Vec<serde_json::Value> = page_rows(layers)
        .map(|row| serde_json::json!({"key": row.name, "value": row.value, "source": row.source}))
        .collect();
    let file = layers.file.as_ref().map(|path| path.display().to_string());
    serde_json::json!({"config_file": file, "values": values}).to_string()
}

struct PageRow {
    name: &'static str,
    value: String,
    source: String,
}

fn page_rows(layers: &ConfigLayers) -> impl Iterator<Item = PageRow> {
    KEYS.iter()
        .zip(&layers.sources)
        .map(|(key, source)| PageRow {
            name: key.name,
            value: key.masked_text(&layers.settings),
            source: source.to_string(),
        })
}

fn value_or_dash(value: String) -> String {
    if value.is_empty() { "-".into() } else { value }
}
