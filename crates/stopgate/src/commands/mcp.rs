//! `mcp`: the tools of the Model Context Protocol.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use serde::Serialize;
use stopgate_engine::{Failure, Settings};
use stopgate_mcp::{HttpOptions, ServeError, TaskDesk, Token, ToolSet, serve_http, serve_stdio};
use stopgate_system::fs::OpenOptionsExt;

use super::common;
use crate::output::{self, CommandResult};
use crate::stores::STORES;

/// Serve tasks, gates, iterations and loops as MCP tools, over standard input and output
///
/// Add it to a client, for example: `claude mcp add stopgate -- stopgate mcp`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which tools
    #[arg(long, value_enum, default_value = "all")]
    tools: Tools,
    /// Serve over HTTP at this address of the machine itself, for example 127.0.0.1:4711
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,
    /// The file with the token that HTTP clients must send; created if missing
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// Print the address as JSON
    #[arg(long, requires = "http")]
    json: bool,
}

/// Where it listens, for programs.
#[derive(Serialize)]
struct ListeningView<'a> {
    url: String,
    token_file: &'a Path,
}

/// Which tools are served.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Tools {
    /// Every tool
    All,
    /// Only `loop_start`, `loop_status` and `loop_done`
    Loop,
}

impl From<Tools> for ToolSet {
    fn from(tools: Tools) -> Self {
        match tools {
            Tools::All => Self::All,
            Tools::Loop => Self::Loop,
        }
    }
}

/// Serves until the client leaves.
pub(crate) fn run(args: &Args) -> CommandResult {
    let desk = Arc::new(TaskDesk::new(Settings, STORES, common::directory()?));
    let set = args.tools.into();
    let Some(address) = args.http else {
        return served(serve_stdio(set, desk));
    };
    let file = match &args.token_file {
        Some(file) => file.clone(),
        None => own_token_file()?,
    };
    let token = token(&file)?;
    let options = HttpOptions { address, token };
    served(serve_http(set, desk, options, |at| {
        let url = format!("http://{at}/mcp");
        if args.json {
            output::json(&ListeningView { url, token_file: &file });
        } else {
            output::line(&format!("Listening on {url}; the token is in {}", file.display()));
        }
    }))
}

fn served(ended: Result<(), ServeError>) -> CommandResult {
    ended.map(|()| ExitCode::SUCCESS).map_err(|error| {
        let message = format!("could not {error}");
        match error {
            ServeError::NotLoopback(_) => {
                Failure::usage(message).hint("listen on 127.0.0.1, and forward a port to it")
            }
            ServeError::Listen { source, .. } => Failure::usage(message)
                .hint("choose another port; 0 takes any that is free")
                .because(source),
            ServeError::Runtime(source) => Failure::fault(message).because(source),
            ServeError::Opening(source) => Failure::fault(message)
                .hint("an MCP client must begin with initialize or server/discover")
                .because(source),
        }
    })
}

fn own_token_file() -> Result<PathBuf, Failure> {
    let home = Settings.home()?;
    let file = home.directory().join("mcp-token");
    home.create().map_err(|error| unusable(&file, error))?;
    Ok(file)
}

/// The token in `file`; a new one where there is not a file.
fn token(file: &Path) -> Result<Token, Failure> {
    match common::read_named(file) {
        Ok(text) => Token::new(&text).ok_or_else(|| {
            Failure::usage(format!("{} contains no token", file.display()))
                .hint("write at least 16 letters and digits into it, or remove it")
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => new_token(file),
        Err(error) => Err(unusable(file, error)),
    }
}

/// Only the person may read it.
fn new_token(file: &Path) -> Result<Token, Failure> {
    let token = Token::generate()
        .map_err(|error| Failure::fault("could not make a token").because(error.to_string()))?;
    let mut kept = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
        .map_err(|error| unusable(file, error))?;
    writeln!(kept, "{}", token.reveal()).map_err(|error| unusable(file, error))?;
    Ok(token)
}

fn unusable(file: &Path, error: std::io::Error) -> Failure {
    Failure::usage(format!("could not use the token file {}", file.display()))
        .hint("name another with --token-file")
        .because(error)
}
