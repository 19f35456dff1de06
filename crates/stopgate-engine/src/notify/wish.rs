//! `[notify]` of a person's `config.toml`: how they want to be told, and when not.

use serde::Deserialize;

/// How the person wants to be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own")]
pub(crate) struct NotifyWish {
    /// A command; the message is its last argument.
    pub(crate) command: Option<String>,
    /// Whether the desktop shows it.
    pub(crate) desktop: bool,
    /// Whether the terminal's bell rings.
    pub(crate) bell: bool,
    /// Gets every notice as a `CloudEvents` object.
    pub(crate) webhook: Option<String>,
    /// Signs what the webhook gets.
    pub(crate) webhook_secret: Option<String>,
    /// A topic of an ntfy server.
    pub(crate) ntfy: Option<String>,
    /// Opens a topic that is not public.
    pub(crate) ntfy_token: Option<String>,
    /// An incoming webhook of Slack, or of what speaks like it.
    pub(crate) slack: Option<String>,
    /// When nobody wants to be told, in minutes of the day: from, until.
    pub(crate) quiet: Option<(u16, u16)>,
}

impl NotifyWish {
    /// Whether anything goes over the network.
    pub(crate) const fn posts(&self) -> bool {
        self.webhook.is_some() || self.ntfy.is_some() || self.slack.is_some()
    }
}

/// `[notify]` as the file has it.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own")]
pub(crate) struct NotifyWire {
    command: Option<String>,
    desktop: bool,
    bell: bool,
    webhook: Option<String>,
    webhook_secret: Option<String>,
    ntfy: Option<String>,
    ntfy_token: Option<String>,
    slack: Option<String>,
    quiet: Option<String>,
}

impl NotifyWire {
    /// What the person wishes, or what is wrong with it.
    pub(crate) fn wish(self) -> Result<NotifyWish, String> {
        let quiet = self.quiet.as_deref().map(|text| {
            hours(text).ok_or_else(|| {
                format!("`quiet` is not a span of the day: {text}; write for example 22:00-07:30")
            })
        });
        if self.webhook_secret.is_some() && self.webhook.is_none() {
            return Err("`webhook_secret` needs `webhook`".into());
        }
        if self.ntfy_token.is_some() && self.ntfy.is_none() {
            return Err("`ntfy_token` needs `ntfy`".into());
        }
        Ok(NotifyWish {
            command: self.command.filter(|command| !command.trim().is_empty()),
            desktop: self.desktop,
            bell: self.bell,
            webhook: address("webhook", self.webhook)?,
            webhook_secret: self.webhook_secret.filter(|secret| !secret.is_empty()),
            ntfy: address("ntfy", self.ntfy)?,
            ntfy_token: self.ntfy_token.filter(|token| !token.is_empty()),
            slack: address("slack", self.slack)?,
            quiet: quiet.transpose()?,
        })
    }
}

/// An address is a secret as often as not, so a wrong one is not repeated.
fn address(key: &str, text: Option<String>) -> Result<Option<String>, String> {
    let Some(text) = text else { return Ok(None) };
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    if host.is_empty() || text.contains(char::is_whitespace) {
        return Err(format!("`{key}` is not an address: write https://HOST/PATH"));
    }
    Ok(Some(text))
}

/// Hours of the day as people write them: `22:00-07:30`.
pub(super) fn hours(text: &str) -> Option<(u16, u16)> {
    let (from, until) = text.split_once('-')?;
    Some((minute_of(from.trim())?, minute_of(until.trim())?))
}

pub(super) fn minute_of(clock: &str) -> Option<u16> {
    let (hours, minutes) = clock.split_once(':')?;
    let (hours, minutes): (u16, u16) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}
