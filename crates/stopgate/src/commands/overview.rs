//! `--help`: all commands, grouped by what one wants to do.

use std::fmt::Write as _;

use clap::Command;

use crate::output::{window, wrap};

/// What one wants to do, and the commands for it. A command that is in no group comes last.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Every day",
        &[
            "start", "status", "list", "log", "explain", "answer", "pause", "resume", "edit",
            "attach", "cancel", "watch", "report", "run", "restore",
        ],
    ),
    ("What agents run", &["done", "blocked", "impossible", "ask", "wait", "push", "pop"]),
    ("Proof", &["verify", "approve", "trust", "untrust", "receipt", "attack", "replay"]),
    (
        "Setting up",
        &["try", "init", "lint", "install", "uninstall", "doctor", "agents", "config", "schema"],
    ),
    (
        "Loops in other tools' files",
        &["iterate", "complete", "features", "task", "score", "import"],
    ),
    (
        "For programs",
        &["hook", "mcp", "daemon", "statusline", "stats", "store", "completions", "man", "help"],
    ),
];

const COLUMNS: usize = 100;

/// The command line with its commands in groups.
pub(super) fn grouped(cli: Command) -> Command {
    let text = text(&cli);
    let options = "{usage-heading} {usage}\n\n";
    cli.help_template(format!("{{about-with-newline}}\n{options}{text}{{options}}{{after-help}}"))
}

fn text(cli: &Command) -> String {
    let columns = window().unwrap_or(COLUMNS).clamp(60, COLUMNS);
    let shown = || cli.get_subcommands().filter(|command| !command.is_hide_set());
    let known: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let others = shown().map(Command::get_name).filter(|name| !known.contains(name));
    let others: Vec<&str> = others.collect();
    let mut text = String::new();
    for (title, names) in GROUPS.iter().copied().chain([("More", others.as_slice())]) {
        let mut lines = String::new();
        for name in names {
            let Some(command) = shown().find(|command| command.get_name() == *name) else {
                continue;
            };
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let line = wrap(&format!("  {name:<11} {about}"), columns, 14);
            lines.push_str(line.trim_end());
            lines.push('\n');
        }
        if !lines.is_empty() {
            // What stands in braces is filled in by the template.
            let _ = write!(text, "{title}:\n{}\n", lines.replace('{', "(").replace('}', ")"));
        }
    }
    text.push_str("Options:\n");
    text
}
