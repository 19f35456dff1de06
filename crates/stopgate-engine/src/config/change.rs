//! Changes of a person's own settings that keep their comments and order.

use std::io::ErrorKind;
use std::path::PathBuf;

use stopgate_verify::files::{Durable, read_text, replace_private};
use toml_edit::{DocumentMut, Item, Table, Value, value};

use super::{BYTES_MAX, Config};
use crate::failure::Failure;
use crate::settings::Settings;

/// A setting that was changed.
#[derive(Clone, Debug)]
pub struct ConfigChange {
    /// The file.
    pub path: PathBuf,
    /// The setting, as `table.key`.
    pub key: String,
    /// Its value, as the file has it now.
    pub value: String,
}

/// Sets `key` (`table.key`) in the person's file to what `text` says; the file is made if there
/// is none.
pub fn set_config(settings: Settings, key: &str, text: &str) -> Result<ConfigChange, Failure> {
    let (table, name) = key.split_once('.').ok_or_else(|| unknown(key))?;
    let path = own_file(settings)?;
    let before = match read_text(&path, BYTES_MAX) {
        Ok(before) => before,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => {
            return Err(Failure::usage(format!("could not read {}", path.display())).because(error));
        }
    };
    let mut document: DocumentMut = before.parse().map_err(|error: toml_edit::TomlError| {
        Failure::usage(format!("could not understand {}: {}", path.display(), error.message()))
            .hint("correct the file first: stopgate config edit")
    })?;
    let wanted = written(text);
    let shown = wanted.to_string().trim().to_string();
    let entry = document.entry(table).or_insert_with(|| Item::Table(Table::new()));
    let Some(entry) = entry.as_table_like_mut() else { return Err(unknown(key)) };
    let mut fresh = value(wanted);
    if let (Some(old), Some(new)) = (entry.get(name).and_then(Item::as_value), fresh.as_value_mut())
    {
        *new.decor_mut() = old.decor().clone();
    }
    entry.insert(name, fresh);
    let after = document.to_string();
    Config::parse(&after).map_err(|why| {
        Failure::usage(format!("{key} can't be {shown}: {why}"))
            .hint("every key is explained by: stopgate help config.toml")
    })?;
    replace_private(&path, after.as_bytes(), Durable::Synced).map_err(|error| {
        Failure::usage(format!("could not write {}", path.display())).because(error)
    })?;
    Ok(ConfigChange { path, key: key.into(), value: shown })
}

/// The person's own file, for a person.
pub fn own_file(settings: Settings) -> Result<PathBuf, Failure> {
    if settings.is_agents_shell() {
        return Err(Failure::usage(
            "only a person can change settings, and this is an agent's shell",
        )
        .hint("a person can run it in another terminal"));
    }
    settings.config_file().ok_or_else(|| {
        Failure::usage("could not tell where your settings are: HOME is not set")
            .hint("set HOME or XDG_CONFIG_HOME")
    })
}

/// Whether the person's file can be understood as it is now.
pub fn check_config(settings: Settings) -> Result<(), Failure> {
    Config::read(settings).map(|_| ())
}

/// What a person typed, as TOML has it; what is not TOML is a text.
fn written(text: &str) -> Value {
    text.parse().unwrap_or_else(|_| Value::from(text))
}

fn unknown(key: &str) -> Failure {
    Failure::usage(format!("`{key}` is not a setting")).hint(
        "write TABLE.KEY, for example loop.max_iterations; every key: stopgate help config.toml",
    )
}
