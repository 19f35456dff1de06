//! Processes by their numbers.

#[cfg(unix)]
mod unix;

#[cfg(windows)]
mod windows;

pub(crate) use stopgate_system::own_pid;

#[cfg(unix)]
pub(crate) use self::unix::{
    SearchDepth, below, carries, descendants, environment, everybody, kill, name, process,
};

#[cfg(windows)]
pub(crate) use self::windows::{environment, name, process};

#[cfg(unix)]
use self::unix::own_space;

#[cfg(windows)]
use self::windows::own_space;

/// A process at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    /// When it began, in the system's ticks: with the pid, this names it for good.
    pub(crate) began: u64,
    pub(crate) life: Life,
}

/// Whether a process can still do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(windows, expect(dead_code, reason = "nobody is dead and waiting there"))]
pub(crate) enum Life {
    Alive,
    /// Dead, and waiting for its parent to notice.
    Zombie,
}

/// The name of a run of checks, which says whose it is: it must be known when nobody is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunName {
    chance: u64,
    /// Numbers of processes mean something only among those who share them.
    space: u64,
    pid: i32,
    began: u64,
}

impl RunName {
    /// A name for a run of this process.
    pub(crate) fn new(chance: u64) -> Self {
        let pid = own_pid();
        let began = process(pid).map_or(0, |own| own.began);
        Self { chance, space: own_space(), pid, began }
    }

    /// Reads what [`std::fmt::Display`] wrote.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('-').map(|part| u64::from_str_radix(part, 16).ok());
        let mut next = || parts.next().flatten();
        let (chance, space) = (next()?, next()?);
        let (pid, began) = (i32::try_from(next()?).ok()?, next()?);
        parts.next().is_none().then_some(Self { chance, space, pid, began })
    }

    /// Whether the process whose run this was is gone, as far as can be told from here.
    pub(crate) fn is_dead(&self) -> bool {
        self.began > 0
            && self.space == own_space()
            && process(self.pid).is_none_or(|now| now.began != self.began)
    }
}

impl std::fmt::Display for RunName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { chance, space, pid, began } = self;
        write!(f, "{chance:016x}-{space:x}-{pid:x}-{began:x}")
    }
}
