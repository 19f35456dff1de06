//! Programs that outlive the process that starts them: the background process, and the clients
//! that it wakes.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::env::{Variable, is_secret};

/// What is started, where, and with which variables and no others.
#[derive(Debug)]
pub struct LaunchPlan<'a> {
    /// The program and its arguments.
    pub argv: &'a [OsString],
    /// Where it begins.
    pub directory: &'a Path,
    /// Its variables.
    pub variables: &'a [(OsString, OsString)],
    /// Where what it prints goes; nowhere without it.
    pub log: Option<File>,
}

/// Starts a program that nobody waits for.
#[cfg(windows)]
pub(crate) fn launch(plan: &LaunchPlan<'_>) -> io::Result<Child> {
    prepared(plan)?.spawn()
}

/// Starts this very program with other arguments; nobody waits for it, and it leaves our session
/// itself.
pub fn launch_self(
    arguments: &[&str],
    directory: &Path,
    variables: &[(OsString, OsString)],
) -> io::Result<Child> {
    launch_self_to(Stdio::null(), arguments, directory, variables)
}

/// The same; what it prints can be read from its standard output.
pub fn launch_self_heard(
    arguments: &[&str],
    directory: &Path,
    variables: &[(OsString, OsString)],
) -> io::Result<Child> {
    launch_self_to(Stdio::piped(), arguments, directory, variables)
}

fn launch_self_to(
    stdout: Stdio,
    arguments: &[&str],
    directory: &Path,
    variables: &[(OsString, OsString)],
) -> io::Result<Child> {
    let mut command = own_program()?;
    command.args(arguments);
    furnish(&mut command, directory, variables);
    command.stdout(stdout).stderr(Stdio::null()).spawn()
}

/// This program as it runs now, by the name that people know: its file may have been replaced
/// meanwhile.
#[expect(clippy::disallowed_methods, reason = "the door to ourselves")]
pub fn own_program() -> io::Result<Command> {
    #[cfg(target_os = "linux")]
    let program = Path::new("/proc/self/exe");
    #[cfg(not(target_os = "linux"))]
    let program = std::env::current_exe()?;
    #[cfg_attr(not(unix), expect(unused_mut, reason = "a program has no other name there"))]
    let mut command = Command::new(program);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::arg0(&mut command, "stopgate");
    Ok(command)
}

/// Becomes a program: the process stays, with its number. Returns only where that failed.
pub fn become_program(plan: &LaunchPlan<'_>) -> io::Error {
    leave_session();
    match prepared(plan) {
        Ok(command) => replace_by(command),
        Err(error) => error,
    }
}

#[cfg(unix)]
fn replace_by(mut command: Command) -> io::Error {
    std::os::unix::process::CommandExt::exec(&mut command)
}

#[cfg(not(unix))]
fn replace_by(_: Command) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "a process can't become another one on Windows")
}

/// Leaves the session of the process that started this one: neither their terminal nor their signals
/// concern it from now on.
pub fn leave_session() {
    // Who leads a group already can't; it has left.
    #[cfg(unix)]
    let _ = rustix::process::setsid();
}

#[expect(clippy::disallowed_methods, reason = "the door for programs that stay")]
fn prepared(plan: &LaunchPlan<'_>) -> io::Result<Command> {
    let (program, arguments) =
        plan.argv.split_first().ok_or_else(|| io::Error::other("the command is empty"))?;
    let mut command = Command::new(program);
    command.args(arguments);
    furnish(&mut command, plan.directory, plan.variables);
    match &plan.log {
        Some(log) => command.stdout(log.try_clone()?).stderr(log.try_clone()?),
        None => command.stdout(Stdio::null()).stderr(Stdio::null()),
    };
    Ok(command)
}

/// What a program that stays has: a place, these variables, and nothing that was left open for us.
fn furnish(command: &mut Command, directory: &Path, variables: &[(OsString, OsString)]) {
    command.current_dir(directory).env_clear();
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null());
    #[cfg(unix)]
    close_fds::set_fds_cloexec_threadsafe(3, &[]);
}

/// The variables of this process that may be kept in a file: none that looks like a key.
pub fn keepable_variables() -> Vec<Variable> {
    crate::environment::variables().filter(|(name, value)| !is_secret(name, value)).collect()
}
