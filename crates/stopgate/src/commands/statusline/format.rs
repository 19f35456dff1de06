//! A person's own form of the line, for bars and prompts of other programs.
//!
//! Text that others wrote is made fit to be shown, and quoted so that the program that shows the
//! line does not take it for its own commands.

use stopgate_engine::LoopView;
use stopgate_view::{RowGroup, shown};

use super::{GOAL_COLUMNS, WHY_COLUMNS};
use crate::output::cut;

pub(super) const HELP: &str = "\
What to print. {id} {state} {count} {met} {goal} {why} {spent} {checking} {project} are replaced; with --all \
{needs_you} {running} {waiting}. tmux: or zsh: before the text quotes what others wrote for that program, \
for example 'tmux:{count} {goal}'";

stopgate_core::words! {
    /// A name that stands in braces.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum LineName {
        Id = "id",
        State = "state",
        Count = "count",
        Met = "met",
        Goal = "goal",
        Why = "why",
        Spent = "spent",
        Checking = "checking",
        Project = "project",
        NeedsYou = "needs_you",
        Running = "running",
        Waiting = "waiting",
    }
}

/// A line with names in braces.
pub(super) struct LineFormat {
    parts: Vec<LinePart>,
    shell: BarProgram,
}

enum LinePart {
    Text(String),
    Name(LineName),
}

/// Who shows the line.
#[derive(Clone, Copy)]
enum BarProgram {
    Any,
    Tmux,
    Zsh,
}

const BARS: [(&str, BarProgram); 2] = [("tmux", BarProgram::Tmux), ("zsh", BarProgram::Zsh)];

fn bar_called(name: &str) -> Option<BarProgram> {
    BARS.into_iter().find(|(word, _)| *word == name).map(|(_, bar)| bar)
}

impl LineFormat {
    /// Reads a form; else says what is wrong with it.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let named = text.split_once(':').and_then(|(word, rest)| Some((bar_called(word)?, rest)));
        let (shell, mut rest) = named.unwrap_or((BarProgram::Any, text));
        let mut parts = Vec::new();
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else {
                return Err(format!("--format has a {{ without a }}: {text}"));
            };
            let Some(known) = LineName::named(name) else {
                let known = LineName::ALL.map(LineName::word).join(", ");
                return Err(format!("--format has no {{{name}}}; it has {known}"));
            };
            parts.extend([LinePart::Text(before.into()), LinePart::Name(known)]);
            rest = after;
        }
        parts.push(LinePart::Text(rest.into()));
        Ok(Self { parts, shell })
    }

    /// The line of one loop.
    pub(super) fn of_loop(&self, view: &LoopView, spent: Option<&str>) -> String {
        let met = view.criteria.iter().filter(|criterion| criterion.status.is_met()).count();
        self.fill(|name| match name {
            LineName::Id => view.id.clone(),
            LineName::State => {
                view.outcome.map_or(view.state.word(), |outcome| outcome.word()).into()
            }
            LineName::Count if view.max_iterations == 0 => view.iteration.to_string(),
            LineName::Count => format!("{}/{}", view.iteration, view.max_iterations),
            LineName::Met => format!("{met}/{}", view.criteria.len()),
            LineName::Goal => cut(view.goal.lines().next().unwrap_or_default(), GOAL_COLUMNS),
            LineName::Why => cut(view.why.as_deref().unwrap_or_default(), WHY_COLUMNS),
            LineName::Spent => spent.unwrap_or_default().into(),
            LineName::Checking => {
                view.checking.as_ref().map(|now| now.checks.join(", ")).unwrap_or_default()
            }
            LineName::Project => view.project.rsplit('/').next().unwrap_or_default().into(),
            LineName::NeedsYou | LineName::Running | LineName::Waiting => String::new(),
        })
    }

    /// The line of all loops.
    pub(super) fn of_all(&self, counts: &[(RowGroup, usize)]) -> String {
        let count = |group| counts.iter().find(|(g, _)| *g == group).map_or(0, |(_, count)| *count);
        self.fill(|name| match name {
            LineName::NeedsYou => count(RowGroup::NeedsYou).to_string(),
            LineName::Running => count(RowGroup::Running).to_string(),
            LineName::Waiting => count(RowGroup::Waiting).to_string(),
            _of_loop => String::new(),
        })
    }

    fn fill(&self, value: impl Fn(LineName) -> String) -> String {
        let parts = self.parts.iter().map(|part| match part {
            LinePart::Text(text) => text.clone(),
            LinePart::Name(name) => self.shell.quote(&shown(&value(*name))),
        });
        parts.collect()
    }
}

impl BarProgram {
    /// Other people's text, so that the program shows it and does no more.
    fn quote(self, text: &str) -> String {
        match self {
            Self::Any => text.into(),
            Self::Tmux => text.replace('#', "##"),
            Self::Zsh => text.replace('%', "%%"),
        }
    }
}

/// How many loops need a person, run and wait; those that there are.
pub(super) fn summary(counts: &[(RowGroup, usize)]) -> String {
    let some = counts.iter().filter(|(_, count)| *count > 0);
    let parts = some.map(|(group, count)| match (group, count) {
        (RowGroup::NeedsYou, 2..) => format!("{count} need you"),
        (group, count) => format!("{count} {}", group.heading()),
    });
    parts.collect::<Vec<String>>().join(" · ")
}
