//! The hostile trees: what a cloned repository, or an agent, may leave where we look.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How much there may be of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// What fits into a run of the tests.
    Quick,
    /// As large as a disk allows.
    Full,
}

type Plant = Box<dyn Fn(&Path) -> io::Result<()>>;
type Make = fn(&Path) -> io::Result<()>;

/// What can be asked of `cancel` on a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cancel {
    /// It cancels: nothing in a project can keep it from that.
    Works,
    /// It answers: the journal itself is in the way.
    Answers,
}

/// One tree: a name, and how it is made out of an honest project.
pub(super) struct Tree {
    pub(super) name: String,
    pub(super) plant: Plant,
    pub(super) cancel: Cancel,
}

/// Where a file is expected, and something else is; the first ones are tried with everything.
const PLACES: [&str; 28] = [
    "stopgate.toml",
    ".git",
    ".git/index",
    ".git/config",
    ".git/info/exclude",
    ".gitignore",
    "tests/test.sh",
    ".git/HEAD",
    ".git/commondir",
    ".git/packed-refs",
    ".git/refs/heads/main",
    ".git/objects/info/alternates",
    ".git/config.worktree",
    ".gitattributes",
    "tests/data.bin",
    "package.json",
    "Makefile",
    "pyproject.toml",
    "Cargo.toml",
    "setup.cfg",
    "conftest.py",
    "go.mod",
    ".loop/state.json",
    "src/new.txt",
    TRANSCRIPT,
    "../user/.config/stopgate/config.toml",
    "../user/.gitconfig",
    "../user/.claude/settings.json",
];
/// How many of them are tried with everything in the quick form.
const PLACES_QUICK: usize = 7;
/// A transcript in the project: the hook reads it where the payload has no message.
pub(super) const TRANSCRIPT: &str = "transcript.jsonl";
/// Files of stopgate's own, which an agent under the same user can replace.
const OWN_PLACES: [&str; 7] = [
    "../home/journal.db",
    "../home/journal.db-wal",
    "../home/journal.lock",
    "../home/journal.signs",
    "../home/stopgate.log",
    "../home/STOP",
    "../home/keys",
];

type Kind = (&'static str, Make);

/// What is there instead; the first ones are tried everywhere.
const KINDS: [Kind; 7] = [
    ("a pipe that nobody writes to", fifo),
    ("a link to an endless device", |at| symlink("/dev/zero", at)),
    ("a sparse file of 64 GiB", sparse),
    ("a socket", socket),
    ("a link to itself", |at| symlink(at, at)),
    ("a directory", |at| fs::create_dir(at)),
    ("a file that nobody may read", unreadable),
];

/// How many of them are tried everywhere in the quick form.
const KINDS_QUICK: usize = 3;

/// Every tree.
pub(super) fn all(size: Size) -> Vec<Tree> {
    let mut trees: Vec<Tree> = Vec::new();
    for (number, place) in PLACES.into_iter().enumerate() {
        let kinds = match size {
            Size::Quick if number >= PLACES_QUICK => &KINDS[..KINDS_QUICK],
            Size::Quick | Size::Full => &KINDS[..],
        };
        trees.extend(kinds.iter().map(|kind| replaced(place, *kind, Cancel::Works)));
    }
    for place in OWN_PLACES {
        trees.extend(
            KINDS[..KINDS_QUICK].iter().map(|kind| replaced(place, *kind, Cancel::Answers)),
        );
    }
    trees.extend(devices());
    trees.extend(names());
    trees.extend(links());
    trees.extend(git());
    trees.extend(texts());
    trees.extend(makefiles());
    trees.extend(shapes(size));
    trees
}

fn tree(name: &str, plant: impl Fn(&Path) -> io::Result<()> + 'static) -> Tree {
    Tree { name: name.into(), plant: Box::new(plant), cancel: Cancel::Works }
}

fn replaced(place: &'static str, (kind, make): Kind, cancel: Cancel) -> Tree {
    let plant = move |project: &Path| make(&emptied(project, place)?);
    Tree { cancel, ..tree(&format!("{place} is {kind}"), plant) }
}

/// The path of `place`, with nothing there and its parents made.
fn emptied(project: &Path, place: &str) -> io::Result<PathBuf> {
    let at = project.join(place);
    if let Some(parent) = at.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::symlink_metadata(&at) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(&at)?,
        Ok(_) => fs::remove_file(&at)?,
        Err(_) => {}
    }
    Ok(at)
}

fn fifo(at: &Path) -> io::Result<()> {
    mknod(at, &["p"])
}

fn mknod(at: &Path, kind: &[&str]) -> io::Result<()> {
    let made = Command::new("mknod").arg(at).args(kind).status()?;
    if made.success() { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

fn socket(at: &Path) -> io::Result<()> {
    // Bound by a short name: a socket's path may be no longer than a hundred bytes.
    let directory = tempfile::tempdir()?;
    let short = directory.path().join("s");
    drop(UnixListener::bind(&short)?);
    fs::rename(&short, at)
}

fn sparse(at: &Path) -> io::Result<()> {
    File::create(at)?.set_len(64 << 30)
}

fn unreadable(at: &Path) -> io::Result<()> {
    fs::write(at, "nobody reads this\n")?;
    fs::set_permissions(at, fs::Permissions::from_mode(0o0))
}

/// Devices proper need a privileged user.
fn devices() -> Vec<Tree> {
    let endless = |place: &'static str| {
        tree(&format!("{place} is an endless device"), move |project| {
            mknod(&emptied(project, place)?, &["c", "1", "5"])
        })
    };
    ["stopgate.toml", ".gitignore", "src/device"].map(endless).into()
}

fn names() -> Vec<Tree> {
    let named = |what: &str, name: &'static [u8]| {
        tree(&format!("a name {what}"), move |project| {
            fs::write(project.join("src").join(OsStr::from_bytes(name)), "x\n")
        })
    };
    vec![
        named("with a newline", b"one\ntwo.txt"),
        named("that is not UTF-8", b"caf\xe9\xff\xfe.txt"),
        named("with escape sequences", b"\x1b[31mred\x1b[0m.txt"),
        named("that looks like an option", b"--force"),
        named("of 255 bytes", &[b'n'; 255]),
        named("with quotes and a dollar", b"'\"$(touch owned)`.txt"),
        tree("directories that are not UTF-8", |project| {
            let directory = project.join(OsStr::from_bytes(b"d\xff\xfe/e\n/f"));
            fs::create_dir_all(&directory)?;
            fs::write(directory.join("x"), "x\n")
        }),
    ]
}

fn links() -> Vec<Tree> {
    vec![
        tree("a link to its parent", |project| symlink("..", project.join("src/up"))),
        tree("a link to the root of the disk", |project| symlink("/", project.join("src/root"))),
        tree("two links to each other", |project| {
            symlink("b", project.join("a"))?;
            symlink("a", project.join("b"))
        }),
        tree("forty links in a row", |project| {
            (0..40).try_for_each(|n| symlink(format!("l{}", n + 1), project.join(format!("l{n}"))))
        }),
        tree("tests is a link out of the project", |project| {
            symlink("/usr", emptied(project, "tests")?)
        }),
        tree("stopgate.toml is a link out of the project", |project| {
            symlink("/etc/passwd", emptied(project, "stopgate.toml")?)
        }),
    ]
}

fn git() -> Vec<Tree> {
    let written = |name: &str, place: &'static str, text: &'static str| {
        tree(name, move |project| fs::write(emptied(project, place)?, text))
    };
    vec![
        written(".git says that it is itself", ".git", "gitdir: .git\n"),
        written(".git leads to a pipe", ".git", "gitdir: pipe\n"),
        written("git's index is garbage", ".git/index", "DIRC\0\0\0\u{2}\u{7f}\u{7f}\u{7f}\u{7f}"),
        written("git's settings include themselves", ".git/config", "[include]\n path = config\n"),
        written("HEAD names itself", ".git/HEAD", "ref: HEAD\n"),
        written(
            "git's settings run programs",
            ".git/config",
            "[core]\n fsmonitor = sleep 3600\n hooksPath = .\n pager = sleep 3600\n\
             [filter \"e\"]\n clean = sleep 3600\n process = sleep 3600\n",
        ),
        written("HEAD leads to a pipe", ".git/HEAD", "ref: ../pipe\n"),
        written("git's settings are another's", ".git/config", "[include]\n path = /dev/zero\n"),
        tree("git's excludes are a pipe", |project| {
            fifo(&project.join("pipe"))?;
            let text = format!("[core]\n excludesFile = {}\n", project.join("pipe").display());
            fs::write(project.join(".git/config"), text)
        }),
        tree("fifty repositories in each other", |project| {
            let mut at = project.join("src");
            for _ in 0..50 {
                at.push("r");
                fs::create_dir_all(at.join(".git/objects"))?;
                fs::write(at.join(".git/HEAD"), "ref: refs/heads/main\n")?;
            }
            Ok(())
        }),
    ]
}

fn texts() -> Vec<Tree> {
    let text = |name: &str, place: &'static str, text: String| {
        tree(name, move |project| fs::write(emptied(project, place)?, &text))
    };
    let gate = |what: &str| format!("gates = [\"escalate if {what}\"]\n");
    let deep = 40;
    vec![
        text("stopgate.toml of 40 MB", "stopgate.toml", "# comment\n".repeat(4_000_000)),
        text("stopgate.toml a hundred thousand deep", "stopgate.toml", {
            format!("a = {}{}\n", "[".repeat(100_000), "]".repeat(100_000))
        }),
        tree("stopgate.toml is not UTF-8", |project| {
            fs::write(project.join("stopgate.toml"), b"\xff\xfe\x00[loop]\n")
        }),
        text("a gate that wants all memory", "stopgate.toml", {
            gate("('a'*1000000)|replace('a','b'*10000)|length > 0")
        }),
        text("a gate that counts for ever", "stopgate.toml", gate("range(100000000)|length > 0")),
        text("a pattern that backtracks", "stopgate.toml", {
            "[[criterion]]\nname = \"p\"\npattern = { file = \"src/*\", must = \"(a*)*(a*)*b\" }\n"
                .into()
        }),
        text("a thousand criteria", "stopgate.toml", {
            let one = |n: u32| {
                format!("[[criterion]]\nname = \"c{n}\"\nfiles = {{ exist = [\"**/x\"] }}\n")
            };
            (0..1000).map(one).collect::<Vec<_>>().concat()
        }),
        tree("twenty stars in .gitignore, forty deep", move |project| {
            let directory = project.join("a/".repeat(deep));
            fs::create_dir_all(&directory)?;
            fs::write(directory.join("c"), "x\n")?;
            fs::write(project.join(".gitignore"), format!("{}**/b\n", "**/a/".repeat(20)))
        }),
        text("a hundred thousand rules in .gitignore", ".gitignore", {
            (0..100_000).map(|n| format!("**/n{n}/**/*.o\n")).collect::<Vec<_>>().concat()
        }),
        text("a script that sources itself", "tests/test.sh", ". tests/test.sh\n".into()),
        text("a Makefile that includes itself", "Makefile", {
            "include Makefile\nX = $(X)\ntest: test\n\t$(MAKE) test\n".into()
        }),
        text("a package whose scripts call each other", "package.json", {
            "{\"scripts\":{\"test\":\"npm run a\",\"a\":\"npm run test && npm run a\"}}".into()
        }),
        text("one rule of 10 MB in .gitignore", ".gitignore", "**/a*".repeat(2_000_000)),
        text("one line of 40 MB as a test", "tests/test.sh", ". x;".repeat(10_000_000)),
        text("JSON a million deep", "package.json", "[".repeat(1_000_000)),
        text("JSON a million deep as state", ".loop/state.json", "{\"a\":".repeat(200_000)),
        tree("a thousand scripts that source each other", |project| {
            for n in 0..1000 {
                let calls = [n * 7, n * 13 + 1, n + 1];
                let lines = calls.map(|call| format!(". tests/s{}.sh\n", call % 1000));
                fs::write(project.join(format!("tests/s{n}.sh")), lines.concat())?;
            }
            fs::write(project.join("tests/test.sh"), ". tests/s0.sh\nexit 1\n")
        }),
        tree("the directory is gone", |project| {
            fs::remove_dir_all(project.join("src"))?;
            fs::remove_dir_all(project.join("tests"))
        }),
    ]
}

/// Makefiles that the check's script leads to, without running them.
fn makefiles() -> Vec<Tree> {
    let reached = |name: &str, text: String| {
        tree(name, move |project| {
            fs::write(project.join("Makefile"), &text)?;
            fs::write(project.join("tests/test.sh"), "[ -z x ] && make check\nexit 1\n")
        })
    };
    let chain = |n: u32| format!("r{n}: r{}\n\tsh tests/r{n}.sh\n", n + 1);
    let doubled = |n: u32| format!("V{n} = $(V{0}) $(V{0})\n", n + 1);
    vec![
        reached("a Makefile with a chain of five thousand rules", {
            let rules: String = (0..5000).map(chain).collect();
            format!("check: r0\n{rules}")
        }),
        reached("a Makefile whose variables double each other", {
            let variables: String = (0..60).map(doubled).collect();
            format!("{variables}check: $(V0)\n\tcat fixtures/$(V0)\n")
        }),
        tree("five thousand branches that a script may compare with", |project| {
            let head = "0123456789012345678901234567890123456789";
            let branch = |n: u32| format!("{head} refs/heads/b{n}\n{head} refs/replace/{n:040}\n");
            let refs: String = (0..5000).map(branch).collect();
            fs::write(project.join(".git/packed-refs"), refs)?;
            fs::write(project.join("tests/test.sh"), "git diff --quiet b7\nexit 1\n")
        }),
        tree("thirty thousand built files and no repository", |project| {
            fs::remove_dir_all(project.join(".git"))?;
            let directory = project.join("build");
            fs::create_dir_all(&directory)?;
            (0..30_000).try_for_each(|n| File::create(directory.join(n.to_string())).map(|_| ()))
        }),
    ]
}

fn shapes(size: Size) -> Vec<Tree> {
    let (deep, wide) = match size {
        Size::Quick => (300, 10_000),
        Size::Full => (1500, 300_000),
    };
    vec![
        tree(&format!("{deep} directories deep"), move |project| {
            // Made from the inside: a path may be no longer than the system allows.
            let directory = project.join("d/".repeat(deep));
            fs::create_dir_all(&directory)?;
            fs::write(directory.join("x"), "x\n")
        }),
        tree(&format!("{wide} files in one directory"), move |project| {
            let directory = project.join("src/wide");
            fs::create_dir_all(&directory)?;
            (0..wide).try_for_each(|n| File::create(directory.join(n.to_string())).map(|_| ()))
        }),
        tree("a directory that nobody may enter", |project| {
            let directory = project.join("src/closed");
            fs::create_dir_all(&directory)?;
            fs::write(directory.join("x"), "x\n")?;
            fs::set_permissions(&directory, fs::Permissions::from_mode(0o0))
        }),
    ]
}
