//! The words that start a command inside a namespace.
//!
//! `unshare` makes the namespaces and becomes a shell, the shell mounts and becomes `setpriv`,
//! which drops the right to undo that and becomes the command: one process all along, so that
//! its exit code, its signals and its process group are the command's own. Right before that
//! it leaves a mark; without one the command never ran.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use stopgate_system::CanonicalPath;
use stopgate_system::ffi::{OsStrExt, OsStringExt};

use super::canvas::make_dir;
use super::hermetic::Hermetic;
use super::namespace::{Access, Namespace};
use super::overlay::Layer;
use super::private_dir::remove;
use super::{Isolation, PlaceError, PlaceRecipe, failed};

/// How a shell ends that could not enter; without a mark any other end means the same.
const REFUSED: &str = " || exit 125\n";
/// Systems take no longer word than 128 KiB.
const STEPS_BYTES_MAX: usize = 120 * 1024;
const MARK: &str = "entered";

/// How to get into a place.
#[derive(Debug)]
pub(super) struct Entrance {
    namespace: Namespace,
    private: PathBuf,
    /// Lines of the shell that mount something.
    steps: Vec<u8>,
    /// Directories that must be seen inside, wherever they are.
    kept: Vec<PathBuf>,
    /// What an overlay needs anew for each mount.
    work_dirs: Vec<PathBuf>,
    hermetic: Option<Hermetic>,
}

impl Entrance {
    /// An entrance to the machine as it is.
    pub(super) fn new(namespace: Namespace, private: &Path) -> Self {
        let (kept, work_dirs) = (Vec::new(), Vec::new());
        let private = private.into();
        Self { namespace, private, steps: Vec::new(), kept, work_dirs, hermetic: None }
    }

    /// The file that is written to when a command starts.
    pub(super) fn mark(&self) -> PathBuf {
        self.private.join(MARK)
    }

    /// Covers a directory by a layer of the private directory.
    pub(super) fn overlay(&mut self, layer: &Layer) {
        let number = layer.number;
        let mut options = format!(
            "lowerdir=lower-{number},upperdir=upper-{number},workdir=work-{number},\
             index=off,metacopy=off,redirect_dir=nofollow"
        );
        if self.namespace.access == Access::UserNamespace {
            options.push_str(",userxattr");
        }
        // Without a flush of the whole disk at the end, where the system knows that.
        let quick = format!("{options},volatile");
        let mut step = self.overlay_line(&quick, &layer.at);
        step.extend_from_slice(b" 2>/dev/null || ");
        step.extend_from_slice(&self.overlay_line(&options, &layer.at));
        self.steps.extend_from_slice(&step);
        self.steps.extend_from_slice(REFUSED.as_bytes());
        self.kept.push(layer.at.clone());
        self.work_dirs.push(self.private.join(format!("work-{number}")));
    }

    /// Makes ready for another run.
    pub(super) fn renew(&self) {
        // The mark of an earlier run says nothing about this one. What can't be removed makes
        // the next mount fail, which is told.
        let _ = fs::remove_file(self.mark());
        for work_dir in &self.work_dirs {
            remove(work_dir);
            let _ = make_dir(work_dir);
        }
    }

    /// Shows one directory or file at the path of another.
    pub(super) fn bind(&mut self, from: &Path, at: &Path) {
        self.mount(&[OsStr::new("--rbind"), from.as_os_str()], at);
        self.kept.push(at.into());
    }

    /// Adds what a recipe asks for beyond the tree.
    pub(super) fn furnish(&mut self, recipe: &PlaceRecipe<'_>) -> Result<(), PlaceError> {
        for mount in recipe.mounts {
            let from = mount.from.canonical().map_err(failed(&mount.from))?;
            self.bind(&from, &recipe.root.join(&mount.at));
        }
        for (number, mask) in recipe.masks.iter().enumerate() {
            let at = mask.path.canonical().map_err(failed(&mask.path))?;
            let from = self.private.join(format!("mask-{number}"));
            let content = mask.content.as_deref();
            match content {
                None if at.is_dir() => fs::create_dir(&from),
                None => fs::write(&from, ""),
                // A program stays one.
                Some(content) => fs::write(&from, content).and_then(|()| {
                    let of_today = fs::metadata(&at)?.permissions();
                    fs::set_permissions(&from, of_today)
                }),
            }
            .map_err(failed(&from))?;
            if mask.executable {
                stopgate_system::set_mode(&from, 0o755).map_err(failed(&from))?;
            }
            self.mount(&[OsStr::new("--bind"), from.as_os_str()], &at);
        }
        if let Isolation::Hermetic { network } = recipe.isolation {
            let hermetic = Hermetic::prepare(&self.namespace, &self.private, &self.kept, network)?;
            self.steps.extend_from_slice(hermetic.steps());
            self.hermetic = Some(hermetic);
        }
        if self.steps.len() > STEPS_BYTES_MAX {
            let text = "more is to be mounted or masked than fits into a command line";
            return Err(PlaceError::Unsupported(text.into()));
        }
        Ok(())
    }

    /// The words to spawn for `argv` to run in `cwd`.
    pub(super) fn argv(&self, argv: Vec<OsString>, cwd: &Path) -> Vec<OsString> {
        let namespace = &self.namespace;
        let around = self.hermetic.as_ref().map(|_| Hermetic::around(namespace));
        let mut words = around.unwrap_or_default();
        words.push(namespace.unshare.clone().into());
        words.extend(namespace.options().iter().map(OsString::from));
        words.extend(self.hermetic.iter().flat_map(Hermetic::options));
        words.extend(["--".into(), namespace.shell.clone().into(), "-c".into(), self.script()]);
        words.extend(["stopgate".into(), cwd.into()]);
        words.extend(argv);
        words
    }

    fn script(&self) -> OsString {
        let mut script = b"cd ".to_vec();
        script.extend_from_slice(&quoted(self.private.as_os_str()));
        script.extend_from_slice(REFUSED.as_bytes());
        // Opened now: a mount may hide it.
        script.extend_from_slice(format!("exec 9>{MARK}{REFUSED}").as_bytes());
        script.extend_from_slice(&self.steps);
        script.extend_from_slice(format!("cd -- \"$1\"{REFUSED}shift\nunset OLDPWD\n").as_bytes());
        script.extend_from_slice(format!("echo {MARK} >&9{REFUSED}exec 9>&-\n").as_bytes());
        let mut run = quoted(self.namespace.setpriv.as_os_str());
        let rights = Namespace::fewer_rights().join(" ");
        run.extend_from_slice(format!(" {rights} -- \"$@\"").as_bytes());
        script.extend_from_slice(&match self.hermetic {
            None => [b"exec ", &*run, b"\n"].concat(),
            Some(_) => Hermetic::last_step(&run),
        });
        OsString::from_vec(script)
    }

    fn overlay_line(&self, options: &str, at: &Path) -> Vec<u8> {
        let words = ["-t", "overlay", "-o", options, "stopgate"].map(OsStr::new);
        mount_words(&self.namespace, &words, at)
    }

    fn mount(&mut self, words: &[&OsStr], at: &Path) {
        self.steps.extend_from_slice(&mount_line(&self.namespace, words, at));
    }
}

/// A line of the shell that mounts, or ends it.
pub(super) fn mount_line(namespace: &Namespace, words: &[&OsStr], at: &Path) -> Vec<u8> {
    let mut line = mount_words(namespace, words, at);
    line.extend_from_slice(REFUSED.as_bytes());
    line
}

fn mount_words(namespace: &Namespace, words: &[&OsStr], at: &Path) -> Vec<u8> {
    let mut line = quoted(namespace.mount.as_os_str());
    // The table of mounts is the system's, not ours.
    for word in [OsStr::new("-n")].iter().chain(words).chain(&[OsStr::new("--"), at.as_os_str()]) {
        line.push(b' ');
        line.extend_from_slice(&quoted(word));
    }
    line
}

/// A word as a shell takes it literally.
pub(super) fn quoted(word: &OsStr) -> Vec<u8> {
    let mut text = vec![b'\''];
    for byte in word.as_bytes() {
        match byte {
            b'\'' => text.extend_from_slice(b"'\\''"),
            byte => text.push(*byte),
        }
    }
    text.push(b'\'');
    text
}
