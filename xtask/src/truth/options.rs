//! What the command line of `cargo xtask truth` asks for.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use regex_lite::Regex;

use crate::tools;

/// What the command line asks for.
#[derive(Clone, Debug)]
pub(crate) struct TruthPlan {
    /// Where the stories are, if not in the corpus.
    pub(crate) stories: Option<PathBuf>,
    /// Only stories whose id matches.
    pub(crate) only: Option<Regex>,
    /// The program that is played against.
    pub(crate) program: PathBuf,
    /// Where original runs are asked to take place.
    pub(crate) place: Option<String>,
    pub(crate) reach: Reach,
    pub(crate) extent: Extent,
    /// Every so many stories, beginning with one of the first.
    pub(crate) part: Option<CorpusPart>,
    pub(crate) subject: Subject,
    pub(crate) shows: Shown,
    pub(crate) afterwards: Afterwards,
    pub(crate) jobs: usize,
    /// Clones whose commits are replayed, with their test command if it was given.
    pub(crate) commits: Vec<String>,
    /// How many commits of one clone at most.
    pub(crate) limit: usize,
}

/// How much of the corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// A part that the test command can wait for.
    Quick,
}

/// In which places stories are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The plan's own.
    One,
    /// The first here, and where a check ran apart from the tree, also in the others: without such
    /// a run the place makes no difference.
    Each,
    /// One of the others: the stories were found to be true before.
    Further,
}

/// One of several parts of about the same size, each spread over the corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CorpusPart {
    number: usize,
    of: usize,
}

impl CorpusPart {
    /// Whether the story at this position belongs to the part.
    pub(crate) fn has(self, at: usize) -> bool {
        at % self.of == self.number - 1
    }
}

/// What is put to the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Program,
    /// The stories themselves, without the program.
    Corpus,
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Tables,
    Json,
    Names,
    /// What proof costs.
    Cost,
}

/// What becomes of a story's directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Afterwards {
    Remove,
    Keep,
}

/// Where original runs can take place.
pub(crate) const PLACES: [&str; 3] = ["overlay", "bound", "copy"];

/// Reads the options.
pub(crate) fn read(options: &[&str]) -> Result<TruthPlan> {
    let mut plan = TruthPlan {
        stories: None,
        only: None,
        program: PathBuf::new(),
        place: None,
        reach: Reach::One,
        extent: Extent::Whole,
        part: None,
        subject: Subject::Program,
        shows: Shown::Tables,
        afterwards: Afterwards::Remove,
        jobs: std::thread::available_parallelism().map_or(2, usize::from),
        commits: Vec::new(),
        limit: 100,
    };
    let mut options = options.iter().copied().peekable();
    while let Some(option) = options.next() {
        let mut value = || options.next().with_context(|| format!("read {option}: give a value"));
        match option {
            "--stories" => plan.stories = Some(PathBuf::from(value()?)),
            "--only" => plan.only = Some(Regex::new(value()?).context("read --only")?),
            "--bin" => plan.program = PathBuf::from(value()?),
            "--place" => match value()? {
                "each" => {
                    plan.place = Some(PLACES[0].into());
                    plan.reach = Reach::Each;
                }
                word => plan.place = Some(place(word)?),
            },
            "--part" => plan.part = Some(part(value()?)?),
            "--jobs" => plan.jobs = number(option, value()?)?,
            "--limit" => plan.limit = number(option, value()?)?,
            "--quick" => plan.extent = Extent::Quick,
            "--corpus" => plan.subject = Subject::Corpus,
            "--json" => plan.shows = Shown::Json,
            "--list" => plan.shows = Shown::Names,
            "--cost" => plan.shows = Shown::Cost,
            "--keep" => plan.afterwards = Afterwards::Keep,
            "--commits" => {
                while let Some(clone) = options.next_if(|word| !word.starts_with("--")) {
                    plan.commits.push(clone.into());
                }
                if plan.commits.is_empty() {
                    bail!("read --commits: name a git directory");
                }
            }
            other => bail!("understand {other}: see cargo xtask --help"),
        }
    }
    plan.program = program(plan.program, plan.subject)?;
    Ok(plan)
}

fn place(word: &str) -> Result<String> {
    if !PLACES.contains(&word) {
        bail!("read --place: one of {}, or each", PLACES.join(", "));
    }
    Ok(word.into())
}

fn part(word: &str) -> Result<CorpusPart> {
    let numbers = word.split_once('/').and_then(|(number, of)| {
        let part = CorpusPart { number: number.parse().ok()?, of: of.parse().ok()? };
        (1..=part.of).contains(&part.number).then_some(part)
    });
    numbers.context("read --part: give two numbers, such as 1/4")
}

fn number(option: &str, word: &str) -> Result<usize> {
    let number = word.parse().ok().filter(|number| *number > 0);
    number.with_context(|| format!("read {option}: give a number above 0"))
}

/// The newest program there is, unless one was named.
fn program(named: PathBuf, subject: Subject) -> Result<PathBuf> {
    if subject == Subject::Corpus {
        return Ok(named);
    }
    if !named.as_os_str().is_empty() {
        return named.canonicalize().with_context(|| format!("find {}", named.display()));
    }
    let root = tools::root()?;
    let built = ["target/debug/stopgate", "target/release/stopgate"].map(|path| root.join(path));
    let built = built.into_iter().filter(|path| path.is_file());
    let newest = built.max_by_key(|path| path.metadata().and_then(|about| about.modified()).ok());
    newest.context("find target/debug/stopgate: run `cargo build` first")
}
