//! What Claude Code is told about stopgate: a skill that is also `/stopgate`.

#[cfg(test)]
mod tests;

/// Where the skill goes, below the `.claude` directory of a person or a project.
pub const SKILL_PATH: &str = "skills/stopgate/SKILL.md";

/// The skill's text.
pub const SKILL: &str = include_str!("skill.md");
