//! A process by its number and its birth, so that another one with the same number is not it.

use std::fmt;

use crate::proc::{self, Life};

/// Programs that stand between a client and what it runs.
const BETWEEN: [&str; 14] = [
    "sh",
    "bash",
    "dash",
    "zsh",
    "fish",
    "ksh",
    "busybox",
    "cmd",
    "powershell",
    "pwsh",
    "env",
    "timeout",
    "nice",
    "stopgate",
];
/// No chain of parents is followed further.
const PARENTS_MAX: usize = 16;

/// One process, for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessMark {
    /// Its number.
    pub pid: i32,
    /// When it began, in the system's ticks, where that can be told.
    pub began: Option<u64>,
}

impl ProcessMark {
    /// The process that has this number now, if one has.
    pub fn of(pid: i32) -> Option<Self> {
        match proc::process(pid) {
            Some(found) if found.life == Life::Alive => {
                Some(Self { pid, began: Some(found.began) })
            }
            Some(_) => None,
            // Without `/proc` only the number is known.
            None if cfg!(any(target_os = "linux", windows)) => None,
            None => stopgate_system::exists(pid).then_some(Self { pid, began: None }),
        }
    }

    /// This process.
    pub fn own() -> Self {
        let pid = proc::own_pid();
        Self::of(pid).unwrap_or(Self { pid, began: None })
    }

    /// Reads what [`fmt::Display`] wrote.
    pub fn read(text: &str) -> Option<Self> {
        let (pid, began) = match text.split_once(':') {
            Some((pid, began)) => (pid, Some(began.parse().ok()?)),
            None => (text, None),
        };
        Some(Self { pid: pid.parse().ok().filter(|pid| *pid > 0)?, began })
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        Self::of(self.pid).is_some_and(|now| self.began.is_none() || now.began == self.began)
    }

    /// The client above this process: the nearest parent that is not a shell.
    pub fn client_above() -> Option<Self> {
        let mut pid = proc::process(proc::own_pid())?.parent;
        for _ in 0..PARENTS_MAX {
            let found = proc::process(pid)?;
            if pid <= 1 {
                return None;
            }
            if !BETWEEN.contains(&proc::name(pid)?.as_str()) {
                return Self::of(pid);
            }
            pid = found.parent;
        }
        None
    }
}

impl fmt::Display for ProcessMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.began {
            Some(began) => write!(f, "{}:{began}", self.pid),
            None => write!(f, "{}", self.pid),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_again_by_what_was_written() {
        let own = ProcessMark::own();
        assert!(own.is_alive());
        assert_eq!(ProcessMark::read(&own.to_string()), Some(own));
        assert_eq!(ProcessMark::read("0"), None);
        assert_eq!(ProcessMark::read("-3:1"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn another_process_with_the_same_number_is_not_it() {
        let own = ProcessMark::own();
        let earlier = ProcessMark { began: own.began.map(|began| began - 1), ..own };
        assert!(!earlier.is_alive());
    }
}
