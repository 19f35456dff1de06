//! Windows: a child and all that it starts are in one job object, which ends them when it is
//! closed: by us, or by the system when this process is gone.
//!
//! A child joins its job just after its start; what it could start before that is not in it.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, PipeWriter};
use std::os::windows::io::AsRawHandle;
use std::os::windows::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use win32job::{ExtendedLimitInfo, Job};

use crate::env::Variable;
use crate::shell;

/// No console window flashes up.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// A running program, or one that ended.
#[derive(Debug)]
pub(crate) struct Child {
    process: RefCell<std::process::Child>,
    /// Closed to end everybody in it.
    job: RefCell<Option<Job>>,
}

/// What could be waited for beside pipes; there is none here.
#[derive(Debug)]
pub(crate) enum EndHandle {}

impl Child {
    /// Starts a program in `directory`, with `variables` and nothing else around it.
    #[expect(clippy::disallowed_methods, reason = "the door")]
    pub(crate) fn spawn(
        argv: &[OsString],
        directory: &Path,
        variables: Vec<Variable>,
        (out, err): (PipeWriter, PipeWriter),
    ) -> io::Result<Self> {
        let (program, arguments) =
            argv.split_first().ok_or_else(|| io::Error::other("the command is empty"))?;
        let job = job()?;
        let mut command = Command::new(program);
        match shell::command_line(argv) {
            Some(line) => command.raw_arg(line),
            None => command.args(arguments),
        };
        command.current_dir(directory).creation_flags(CREATE_NO_WINDOW);
        command.env_clear().envs(variables);
        command.stdin(Stdio::null()).stdout(out).stderr(err);
        let mut process = command.spawn()?;
        if let Err(error) = job.assign_process(process.as_raw_handle().addr().cast_signed()) {
            // What can't be ended must not run; one that has ended already can't be in a job.
            if process.try_wait()?.is_none() {
                let _ = process.kill();
                return Err(io::Error::other(error));
            }
        }
        Ok(Self { process: RefCell::new(process), job: RefCell::new(Some(job)) })
    }

    /// Its number.
    pub(crate) fn pid(&self) -> i32 {
        self.process.borrow().id().cast_signed()
    }

    /// Always nothing: the end of a program is looked for from time to time.
    #[expect(clippy::unused_self, reason = "other systems have one")]
    pub(crate) const fn handle(&self) -> Option<&EndHandle> {
        None
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&self) -> bool {
        // What can't be waited for is not there any more.
        !matches!(self.process.borrow_mut().try_wait(), Ok(None))
    }

    /// Ends it and all that it started: nobody can be asked to from outside here.
    pub(crate) fn ask_to_end(&self) {
        self.kill();
    }

    /// Ends it and all that it started.
    pub(crate) fn kill(&self) {
        drop(self.job.take());
    }

    /// Lets it go, and says how it ended.
    pub(crate) fn release(&mut self) -> io::Result<ExitStatus> {
        let status = self.process.get_mut().try_wait()?;
        status.ok_or_else(|| io::Error::other("it would not end"))
    }
}

fn job() -> io::Result<Job> {
    let mut limits = ExtendedLimitInfo::new();
    limits.limit_kill_on_job_close();
    Job::create_with_limit_info(&limits).map_err(io::Error::other)
}
