//! Whose the skill file is.
//!
//! Its last line carries a sum of what stands above. While the sum fits, the file is as
//! stopgate wrote it, in whatever version; once it does not, a person changed it.

use stopgate_agents::SKILL;
use stopgate_core::Digest;

const STAMP: &str = "<!-- Written by stopgate. It keeps this file up to date until you change it. ";

/// Who wrote the skill file that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SkillAuthor {
    /// There is none.
    Nobody,
    /// This program.
    Us,
    /// Another version of it.
    Earlier,
    /// Another program wrote it, or somebody changed it.
    Somebody,
}

/// The skill file as this program writes it.
pub(super) fn stamped() -> String {
    format!("{SKILL}{}", stamp(SKILL))
}

/// Tells who wrote the file.
pub(super) fn author(found: Option<&str>) -> SkillAuthor {
    let Some(text) = found else { return SkillAuthor::Nobody };
    let Some(at) = text.rfind(STAMP) else {
        return if text == SKILL { SkillAuthor::Earlier } else { SkillAuthor::Somebody };
    };
    let (body, end) = text.split_at(at);
    match end == stamp_line(body) {
        true if body.trim_end() == SKILL.trim_end() => SkillAuthor::Us,
        true => SkillAuthor::Earlier,
        false => SkillAuthor::Somebody,
    }
}

fn stamp(body: &str) -> String {
    format!("\n{}", stamp_line(&format!("{body}\n")))
}

fn stamp_line(body: &str) -> String {
    format!("{STAMP}{:016x} -->\n", Digest::new().part(body.as_bytes()).value())
}
