//! `schema` and `help toml`: every key of the two files, from one source.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::Value;

use crate::output::{self, Audience, BOLD, CommandResult, DIM, styled};

const PROJECT: &str = include_str!("schema/stopgate.json");
const CONFIG: &str = include_str!("schema/config.json");
const KEY_COLUMNS: usize = 15;

/// Print the JSON Schema of stopgate.toml, for editors
///
/// `stopgate schema > stopgate.schema.json` beside a stopgate.toml that begins with
/// `#:schema stopgate.schema.json` gives completion and checks in editors that know TOML.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file that is described
    #[arg(value_enum, default_value = "project")]
    file: FileWord,
    /// Answer in JSON, as it does anyway
    #[arg(long)]
    json: bool,
}

/// The files that people write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FileWord {
    /// stopgate.toml
    Project,
    /// Your own config.toml
    Config,
}

impl FileWord {
    const fn schema(self) -> &'static str {
        match self {
            Self::Project => PROJECT,
            Self::Config => CONFIG,
        }
    }
}

/// Prints a schema.
#[expect(clippy::unnecessary_wraps, reason = "every command has the same shape")]
pub(crate) fn run(args: &Args) -> CommandResult {
    let _ = args.json;
    print(args.file);
    Ok(ExitCode::SUCCESS)
}

/// The file that `help TOPIC` explains, if it is one.
pub(crate) fn topic(word: &str) -> Option<FileWord> {
    match word {
        "toml" | "stopgate.toml" => Some(FileWord::Project),
        "config.toml" => Some(FileWord::Config),
        _other => None,
    }
}

/// Explains every key of a file.
pub(crate) fn explain(file: FileWord, to: Audience) -> ExitCode {
    if to == Audience::Programs {
        print(file);
        return ExitCode::SUCCESS;
    }
    let schema: Value = serde_json::from_str(file.schema()).unwrap_or_default();
    output::line(&format!("{}: {}.", styled(BOLD, text(&schema, "title")), about(&schema)));
    for (name, section) in properties(&schema) {
        output::line("");
        let items = &section["items"];
        let named = &section["additionalProperties"];
        let has_keys = |schema: &Value| schema["properties"].is_object();
        let (head, keys) = if has_keys(named) {
            (format!("[{name}.\"NAME\"]"), named)
        } else if has_keys(section) {
            (format!("[{name}]"), section)
        } else if has_keys(items) {
            (format!("[[{name}]]"), items)
        } else {
            (name.clone(), section)
        };
        output::line(&format!("{}  {}", styled(BOLD, &head), styled(DIM, about(section))));
        for (key, value) in properties(keys) {
            row(key, value);
        }
    }
    if file == FileWord::Project {
        output::line(
            "\nTimes: 500ms, 90s, 15m, 12h, 2d. Sizes: 512MiB, 4GiB. Patterns: *, **, ?, {a,b}.",
        );
        output::line("For your editor: stopgate schema. More: docs/stopgate-toml.md");
    } else {
        output::line(
            "\nChange it with: stopgate config set TABLE.KEY VALUE, or stopgate config edit",
        );
    }
    ExitCode::SUCCESS
}

fn row(key: &str, value: &Value) {
    let mut told = about(value).to_string();
    if let Some(words) = value["enum"].as_array() {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        let _ = write!(told, " ({})", words.join(", "));
    }
    let inner: Vec<&str> = properties(value).map(|(name, _)| name.as_str()).collect();
    if !inner.is_empty() {
        let _ = write!(told, ": {}", inner.join(", "));
    }
    if let Some(default) = value.get("default").filter(|default| **default != Value::Bool(false)) {
        let _ = write!(told, " {}", styled(DIM, &format!("[default: {default}]")));
    }
    output::row(key, KEY_COLUMNS, &told);
}

fn print(file: FileWord) {
    output::line(file.schema().trim_end());
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn about(value: &Value) -> &str {
    text(value, "description")
}

/// A file of one's own settings in which every key is a comment.
pub(crate) fn template() -> String {
    let schema: Value = serde_json::from_str(CONFIG).unwrap_or_default();
    let mut file =
        String::from("# Your own settings for stopgate; every key: stopgate help config.toml\n");
    for (name, section) in properties(&schema) {
        let _ = write!(file, "\n# {}\n[{name}]\n", about(section));
        for (key, value) in properties(section) {
            let default = value.get("default").map_or_else(|| "…".into(), ToString::to_string);
            let _ = writeln!(file, "# {key} = {default}  # {}", about(value));
        }
    }
    file
}
