//! A person who watches: `stopgate watch` on a terminal of its own, read as a terminal reads it.

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::scene::Scene;

const PATIENCE: Duration = Duration::from_mins(1);
/// The first words of a frame.
const FRAME: &[u8] = b"stopgate:";

/// A view that runs until it is dropped.
pub(super) struct Viewer {
    script: Child,
    keys: Option<ChildStdin>,
    printed: Receiver<Vec<u8>>,
    begun: Instant,
    seen: Vec<u8>,
}

impl Viewer {
    /// Starts `watch` on 80 columns and 24 lines; `script` brings the terminal.
    pub(super) fn start(scene: &Scene) -> Result<Self> {
        let line = format!("stty cols 80 rows 24; exec {} watch", scene.program.display());
        let mut command = Command::new("script");
        command.args(["-qfec", &line, "/dev/null"]).current_dir(scene.project());
        command.env("STOPGATE_HOME", scene.home()).env("LANG", "C.UTF-8");
        command.env("TERM", "xterm-256color").envs(scene.variables.iter().cloned());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let begun = Instant::now();
        let mut script = command.spawn().context("start script, of bsdutils")?;
        let keys = script.stdin.take();
        let mut output = script.stdout.take().context("read a terminal")?;
        let (sender, printed) = channel();
        thread::spawn(move || {
            let mut block = [0; 4096];
            let send = |bytes: &[u8]| sender.send(bytes.to_vec()).is_ok();
            while let Ok(count @ 1..) = output.read(&mut block)
                && send(&block[..count])
            {}
        });
        Ok(Self { script, keys, printed, begun, seen: Vec::new() })
    }

    /// Waits for the first frame; how long after the start it came.
    pub(super) fn first_frame(&mut self) -> Result<Duration> {
        self.wait_for(FRAME)?;
        Ok(self.begun.elapsed())
    }

    /// Waits until these bytes were printed.
    pub(super) fn wait_for(&mut self, wanted: &[u8]) -> Result<()> {
        while !self.seen.windows(wanted.len()).any(|window| window == wanted) {
            match self.printed.recv_timeout(PATIENCE) {
                Ok(block) => self.seen.extend(block),
                Err(_) => bail!("see a frame: {}", String::from_utf8_lossy(&self.seen)),
            }
        }
        Ok(())
    }

    /// Forgets what was printed until now.
    pub(super) fn forget(&mut self) {
        let _ = self.bytes();
        self.seen.clear();
    }

    pub(super) fn press(&mut self, keys: &[u8]) -> Result<()> {
        let pipe = self.keys.as_mut().context("press a key")?;
        Ok(pipe.write_all(keys)?)
    }

    /// Bytes that were printed until now.
    pub(super) fn bytes(&mut self) -> usize {
        self.seen.extend(self.printed.try_iter().flatten());
        self.seen.len()
    }

    /// The most memory that the view has used, in KiB.
    pub(super) fn peak_kib(&self) -> Result<u64> {
        let task = format!("/proc/{0}/task/{0}/children", self.script.id());
        let child = fs::read_to_string(task)?;
        let own = child.split_whitespace().next().context("find the view's process")?;
        let status = fs::read_to_string(format!("/proc/{own}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        kib.context("read the view's memory")
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        if let Some(keys) = &mut self.keys {
            let _ = keys.write_all(b"q");
        }
        self.keys = None;
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(5) {
            if matches!(self.script.try_wait(), Ok(Some(_))) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}
