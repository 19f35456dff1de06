//! Cobertura's XML: sums in the first tag where the writer gives them, else lines.

use super::{Coverage, Reached, Share};
use crate::xml::{Role, Tags, XmlTag};

/// Reads the document.
pub(super) fn read(text: &str) -> Result<Coverage, String> {
    let mut tags = Tags::new(text);
    let root = tags.next().filter(|tag| tag.name == "coverage");
    let root = root.ok_or("it does not begin with <coverage>: not Cobertura's XML")?;
    let mut counted = Counted::default();
    for tag in &mut tags {
        counted.take(&tag);
    }
    if !tags.is_sound() {
        return Err("the XML is cut or broken".into());
    }
    let counted_lines = (counted.lines.total > 0).then_some(counted.lines);
    let counted_branches = (counted.branches.total > 0).then_some(counted.branches);
    let lines = sums(&root, "lines").or(counted_lines).or_else(|| rate(&root, "line-rate"));
    let branches =
        sums(&root, "branches").or(counted_branches).or_else(|| rate(&root, "branch-rate"));
    let functions = (counted.functions.total > 0).then_some(counted.functions);
    if lines.is_none() && branches.is_none() && functions.is_none() {
        return Err("it has no numbers".into());
    }
    Ok(Coverage { lines, branches, functions })
}

/// `lines-valid="8" lines-covered="4"`
fn sums(root: &XmlTag<'_>, measure: &str) -> Option<Share> {
    let total = root.number(&format!("{measure}-valid"))?;
    let covered = root.number(&format!("{measure}-covered"))?;
    Some(Share { covered, total })
}

fn rate(root: &XmlTag<'_>, name: &str) -> Option<Share> {
    Share::of_decimal(&root.attribute(name)?, 1)
}

#[derive(Default)]
struct Counted {
    lines: Share,
    branches: Share,
    functions: Share,
    method: Option<Reached>,
}

impl Counted {
    fn take(&mut self, tag: &XmlTag<'_>) {
        match (tag.name, tag.role) {
            ("method", Role::Open) => self.method = Some(method(tag)),
            ("method", Role::Empty) => self.functions.count(method(tag)),
            ("method", Role::Close) => {
                if let Some(reached) = self.method.take() {
                    self.functions.count(reached);
                }
            }
            ("line", Role::Open | Role::Empty) => self.take_line(tag),
            _ => {}
        }
    }

    /// A method's lines stand again among its class's.
    fn take_line(&mut self, tag: &XmlTag<'_>) {
        let reached = Reached::by(tag.number("hits").unwrap_or(0));
        if let Some(method) = &mut self.method {
            if reached == Reached::Some {
                *method = reached;
            }
            return;
        }
        self.lines.count(reached);
        if let Some(share) = tag.attribute("condition-coverage").as_deref().and_then(conditions) {
            self.branches.covered = self.branches.covered.saturating_add(share.covered);
            self.branches.total = self.branches.total.saturating_add(share.total);
        }
    }
}

fn method(tag: &XmlTag<'_>) -> Reached {
    let by_rate = || rate(tag, "line-rate").map(|share| share.covered);
    Reached::by(tag.number("hits").or_else(by_rate).unwrap_or(0))
}

/// `50% (1/2)`
fn conditions(text: &str) -> Option<Share> {
    let (_, inside) = text.split_once('(')?;
    let (covered, total) = inside.strip_suffix(')')?.split_once('/')?;
    Some(Share { covered: covered.parse().ok()?, total: total.parse().ok()? })
}
