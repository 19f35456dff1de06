//! `config`: what a loop begun here would be bound by, who says so, and where that is kept.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use stopgate_engine::{
    BindingRules, ConfigChange, Failure, LimitOrigin, Settings, check_config, own_file, project_of,
    set_config,
};

use super::client::door;
use super::{common, schema};
use crate::output::{self, Audience, BOLD, CommandResult, DIM, styled};

/// Show and change settings: yours, and what counts in this project
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print where your own settings are kept: limits, store, notifications
    Path {
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Set one of your own settings; comments and order of the file stay
    Set {
        /// The setting, for example `loop.max_iterations` or `notify.desktop`
        key: String,
        /// Its value in TOML; anything else is taken as a string
        value: String,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Open your own settings in your editor, and check them afterwards
    Edit {
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the limits and criteria of a loop that would begin here
    Show {
        /// Show where each value comes from, and which requests were refused
        #[arg(long)]
        origin: bool,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
}

/// Shows what counts here.
pub(crate) fn run(args: &Args) -> CommandResult {
    let (origin, json) = match &args.command {
        Command::Path { json } => return path((*json).into()),
        Command::Set { key, value, json } => return set(key, value, (*json).into()),
        Command::Edit { json } => return edit((*json).into()),
        Command::Show { origin, json } => (origin, json),
    };
    let mut engine = common::engine()?;
    let rules = engine.trust().rules(&project_of(&common::directory()?))?;
    if *json {
        output::json(&rules);
    } else {
        let detail = if *origin { Detail::Origin } else { Detail::Value };
        show(&rules, detail);
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct PathView {
    path: PathBuf,
    exists: bool,
}

/// Says where the person's own file is.
fn path(to: Audience) -> CommandResult {
    let path = Settings.config_file().ok_or_else(|| {
        Failure::usage("could not tell where your settings are: HOME is not set")
            .hint("set HOME or XDG_CONFIG_HOME")
    })?;
    match to {
        Audience::People => output::line(&path.display().to_string()),
        Audience::Programs => {
            output::json(&PathView { exists: path.exists(), path });
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct SetView {
    path: PathBuf,
    key: String,
    value: String,
}

/// Changes one setting.
fn set(key: &str, value: &str, to: Audience) -> CommandResult {
    let ConfigChange { path, key, value } = set_config(Settings, key, value)?;
    match to {
        Audience::People => {
            output::line(&format!("{key} = {value}  {}", styled(DIM, &path.display().to_string())));
        }
        Audience::Programs => {
            output::json(&SetView { path, key, value });
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens the file in the person's editor.
fn edit(to: Audience) -> CommandResult {
    let path = own_file(Settings)?;
    let editor = Settings.editor().ok_or_else(|| {
        Failure::usage("no editor is set: neither VISUAL nor EDITOR")
            .hint(format!("open {} yourself, or: EDITOR=nano stopgate config edit", path.display()))
    })?;
    if !path.exists() {
        write_template(&path)?;
    }
    door::open_in(&editor, &path)?;
    check_config(Settings)?;
    match to {
        Audience::People => output::line(&format!("{} is fine.", path.display())),
        Audience::Programs => {
            output::json(&PathView { path, exists: true });
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write_template(path: &Path) -> Result<(), Failure> {
    let wrong =
        |error| Failure::usage(format!("could not write {}", path.display())).because(error);
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).map_err(wrong)?;
    }
    std::fs::write(path, schema::template()).map_err(wrong)
}

/// How much is told about a setting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Value,
    Origin,
}

fn show(rules: &BindingRules, detail: Detail) {
    for setting in &rules.settings {
        let mut line = format!("{:<15} {:<8}", setting.key, setting.value);
        if detail == Detail::Origin {
            line.push_str(&styled(DIM, &format!(" {}", place(rules, setting.origin))));
            if let Some(refused) = &setting.refused {
                line.push_str(&styled(DIM, &format!("; {refused}, so it is ignored")));
            }
        }
        output::line(line.trim_end());
    }
    for criterion in &rules.criteria {
        let command = criterion.command.as_deref().unwrap_or(criterion.kind);
        output::line(&format!("criterion       {}: {command}", styled(BOLD, &criterion.name)));
    }
    if rules.trusted == Some(false) {
        output::line(
            "stopgate.toml is not trusted: nothing in it runs. Review it, then: stopgate trust",
        );
    }
}

/// Who said so, with the file where there is one.
fn place(rules: &BindingRules, origin: LimitOrigin) -> String {
    let file = match origin {
        LimitOrigin::User => rules.user_file.as_deref(),
        LimitOrigin::Project => rules.project_file.as_deref(),
        LimitOrigin::Default | LimitOrigin::Flag => None,
    };
    let word = origin.word();
    file.map_or_else(|| word.into(), |file| format!("{word}: {file}"))
}
