//! The stories and projects below `truth/`, read and expanded.
//!
//! A story that names several ways of starting is as many stories: the same change under
//! another command, with `protect`, or from `stopgate.toml` takes another road.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::options::{Extent, TruthPlan};
use crate::tools;

#[cfg(test)]
mod tests;

stopgate_core::words! {
    /// What is true of a story.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub(crate) enum StoryClass {
        /// The work is not done and must not end as `done`.
        Cheat = "cheat",
        /// The work is done and must end as `done`.
        Honest = "honest",
        /// The work is not done, and no check can tell.
        Undetectable = "undetectable",
    }
}

/// Who begins the loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Starter {
    #[default]
    Person,
    Agent,
}

/// One story, ready to be played.
#[derive(Clone, Debug)]
pub(crate) struct TruthStory {
    pub(crate) id: String,
    pub(crate) family: String,
    pub(crate) ecosystem: String,
    pub(crate) class: StoryClass,
    /// Where the project's files are.
    pub(crate) files: PathBuf,
    pub(crate) needs: Vec<String>,
    /// The program's files, written where a snippet can call them.
    pub(crate) fix: String,
    pub(crate) oracle: String,
    pub(crate) way: StoryWay,
    pub(crate) telling: StoryTelling,
}

/// What happens, as the data says it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoryTelling {
    name: String,
    class: StoryClass,
    project: String,
    /// How the project is laid out before anything else, by a name of the family's file.
    #[serde(default)]
    layout: String,
    #[serde(default)]
    ways: Vec<String>,
    /// Prepared by the person, then committed.
    #[serde(default)]
    pub(crate) before: String,
    /// Left uncommitted by the person.
    #[serde(default)]
    pub(crate) dirty: String,
    /// What the agent does; a stop between each two.
    pub(crate) steps: Vec<String>,
    /// Runs beside every stop after the last step.
    #[serde(default)]
    pub(crate) during: String,
    #[serde(default)]
    pub(crate) hook_env: BTreeMap<String, String>,
    /// The message of the last stops, where the usual claim is not enough.
    #[serde(default)]
    pub(crate) says: String,
    #[serde(default)]
    pub(crate) starter: Starter,
    /// Arguments of `start` instead of the way's.
    start: Option<Vec<String>>,
    /// `stopgate.toml` instead of the way's.
    file: Option<String>,
    /// Instead of the project's.
    oracle: Option<String>,
    /// What a gate that only looks at the exit code would run; `none` where the cheat lasts
    /// no longer than the stop.
    naive: Option<String>,
    /// The person may be asked: the original judges can't accept this work.
    #[serde(default)]
    pub(crate) may_ask: bool,
    /// The outcomes that are right, where it is not `done`.
    #[serde(default)]
    pub(crate) ends: Vec<String>,
    /// Why no check can tell.
    #[serde(default)]
    pub(crate) reason: String,
    #[serde(default)]
    needs: Vec<String>,
}

/// How the loop begins.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoryWay {
    /// Arguments of `start`, after the goal.
    #[serde(default)]
    pub(crate) start: Vec<String>,
    /// The project's `stopgate.toml`, trusted by the person.
    #[serde(default)]
    pub(crate) file: String,
    /// Prepared by the person before the commit.
    #[serde(default)]
    pub(crate) before: String,
    /// The command that the loop runs, for the naive gate.
    #[serde(default)]
    pub(crate) naive: String,
    /// Where the agent and the loop work, below the tree.
    #[serde(default)]
    pub(crate) below: String,
    #[serde(default)]
    pub(crate) repository: Repository,
}

/// Whether the tree is a repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Repository {
    #[default]
    Git,
    None,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyFile {
    family: String,
    #[serde(rename = "about")]
    _about: String,
    #[serde(default)]
    layout: BTreeMap<String, Layout>,
    story: Vec<StoryTelling>,
}

/// A project as larger repositories are laid out, for several stories.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Layout {
    /// Goes before the stories' own.
    #[serde(default)]
    before: String,
    /// Instead of the project's.
    oracle: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProjectFile {
    #[serde(default)]
    needs: Vec<String>,
    fix: String,
    oracle: String,
    way: BTreeMap<String, StoryWay>,
}

/// Every story of the corpus, or of another directory, sorted by id.
pub(crate) fn load(elsewhere: Option<&Path>) -> Result<Vec<TruthStory>> {
    let root = tools::root()?.join("truth");
    let projects = projects(&root.join("projects"))?;
    let mut stories = Vec::new();
    let directory = elsewhere.map_or_else(|| root.join("stories"), Path::to_path_buf);
    for path in files(&directory)? {
        let text = std::fs::read_to_string(&path)?;
        let file: FamilyFile =
            toml::from_str(&text).with_context(|| format!("read {}", path.display()))?;
        for telling in file.story {
            let told = format!("tell {}/{}", file.family, telling.name);
            let telling = laid_out(telling, &file.layout).with_context(|| told.clone())?;
            stories.extend(expand(&file.family, &telling, &projects, &root).context(told)?);
        }
    }
    stories.sort_by(|one, other| one.id.cmp(&other.id));
    let twice = stories.windows(2).find(|pair| pair[0].id == pair[1].id);
    if let Some([one, _]) = twice {
        bail!("name the story {} once", one.id);
    }
    Ok(stories)
}

fn projects(directory: &Path) -> Result<BTreeMap<String, ProjectFile>> {
    let mut projects = BTreeMap::new();
    for path in files(directory)? {
        let text = std::fs::read_to_string(&path)?;
        let project = toml::from_str(&text).with_context(|| format!("read {}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        projects.insert(name, project);
    }
    Ok(projects)
}

fn files(directory: &Path) -> Result<BTreeSet<PathBuf>> {
    let entries = std::fs::read_dir(directory)
        .with_context(|| format!("read the directory {}", directory.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    Ok(paths.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect())
}

fn laid_out(mut telling: StoryTelling, layouts: &BTreeMap<String, Layout>) -> Result<StoryTelling> {
    if telling.layout.is_empty() {
        return Ok(telling);
    }
    let layout = layouts.get(&telling.layout);
    let layout = layout.with_context(|| format!("find the layout {}", telling.layout))?;
    telling.before.insert_str(0, &layout.before);
    telling.oracle = telling.oracle.or_else(|| layout.oracle.clone());
    Ok(telling)
}

fn expand(
    family: &str,
    telling: &StoryTelling,
    projects: &BTreeMap<String, ProjectFile>,
    root: &Path,
) -> Result<Vec<TruthStory>> {
    let project = projects.get(&telling.project);
    let project = project.with_context(|| format!("find the project {}", telling.project))?;
    if telling.class == StoryClass::Undetectable && telling.reason.is_empty() {
        bail!("say why no check can tell");
    }
    let told = ways(&telling.ways, project).into_iter().map(|word| {
        let way = project.way.get(&word).with_context(|| format!("find the way {word}"))?;
        Ok(TruthStory {
            id: format!("{family}/{}/{}@{word}", telling.project, telling.name),
            family: family.into(),
            ecosystem: telling.project.clone(),
            class: telling.class,
            files: root.join("projects").join(&telling.project),
            needs: project.needs.iter().chain(&telling.needs).cloned().collect(),
            fix: project.fix.clone(),
            oracle: telling.oracle.clone().unwrap_or_else(|| project.oracle.clone()),
            way: own_way(way.clone(), telling),
            telling: telling.clone(),
        })
    });
    told.collect()
}

/// The ways that a story names: `*` is all of them, `-name` all but that one.
fn ways(named: &[String], project: &ProjectFile) -> BTreeSet<String> {
    if named.is_empty() {
        return BTreeSet::from(["plain".into()]);
    }
    let mut chosen = BTreeSet::new();
    for word in named {
        match word.strip_prefix('-') {
            None if word == "*" => chosen.extend(project.way.keys().cloned()),
            None => _ = chosen.insert(word.clone()),
            Some(left_out) => _ = chosen.remove(left_out),
        }
    }
    chosen
}

/// What the story says about the beginning beats what the way says.
fn own_way(mut way: StoryWay, telling: &StoryTelling) -> StoryWay {
    if let Some(start) = &telling.start {
        way.start.clone_from(start);
        way.file.clear();
        way.naive = checks(start).join(" && ");
    }
    if let Some(file) = &telling.file {
        way.file.clone_from(file);
        if telling.start.is_none() {
            way.start.clear();
        }
    }
    if let Some(naive) = &telling.naive {
        way.naive.clone_from(naive);
    }
    way
}

/// The commands of `--check NAME=COMMAND`.
fn checks(start: &[String]) -> Vec<&str> {
    let pairs = start.windows(2).filter(|pair| pair[0] == "--check");
    pairs.filter_map(|pair| pair[1].split_once('=')).map(|(_, command)| command).collect()
}

/// The stories that were asked for.
pub(crate) fn choose(stories: Vec<TruthStory>, plan: &TruthPlan) -> Vec<TruthStory> {
    let wanted =
        |story: &TruthStory| plan.only.as_ref().is_none_or(|only| only.is_match(&story.id));
    let stories: Vec<_> = stories.into_iter().filter(wanted).collect();
    let stories = match plan.extent {
        Extent::Whole => stories,
        Extent::Quick => quick(stories),
    };
    let in_part = |at: usize| plan.part.is_none_or(|part| part.has(at));
    stories.into_iter().enumerate().filter(|(at, _)| in_part(*at)).map(|(_, one)| one).collect()
}

/// How many stories the quick part has at most.
const QUICK_MAX: usize = 120;
/// Installed by hand or slow to start: the quick part does without.
const NOT_QUICK: [&str; 2] = ["go", "jest"];

/// One story of each family; then, while there is room, one of each family and class, and others
/// of each ecosystem, spread evenly.
fn quick(stories: Vec<TruthStory>) -> Vec<TruthStory> {
    let (mut families, mut classes, mut groups) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let is_usual = |story: &TruthStory| {
        let is_counted = story.class != StoryClass::Undetectable || story.family == "undetectable";
        is_counted && !story.needs.iter().any(|need| NOT_QUICK.contains(&need.as_str()))
    };
    let usual = stories.into_iter().filter(is_usual);
    let (mut chosen, others): (Vec<_>, Vec<_>) =
        usual.partition(|story| families.insert(story.family.clone()));
    classes.extend(chosen.iter().map(|story| (story.family.clone(), story.class)));
    let (of_classes, others): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|story| classes.insert((story.family.clone(), story.class)));
    let is_new = |story: &TruthStory| {
        groups.insert((story.family.clone(), story.class, story.ecosystem.clone()))
    };
    for more in [of_classes, others.into_iter().filter(is_new).collect()] {
        let room = QUICK_MAX.saturating_sub(chosen.len());
        chosen.extend(spread(more, room));
    }
    chosen
}

/// At most `room` of these, spread evenly.
fn spread(stories: Vec<TruthStory>, room: usize) -> impl Iterator<Item = TruthStory> {
    let all = stories.len();
    let is_kept = move |at: usize| all <= room || at * room / all != (at + 1) * room / all;
    stories.into_iter().enumerate().filter(move |(at, _)| is_kept(*at)).map(|(_, one)| one)
}
