//! The person's own settings: `config.toml`.
//!
//! A stop without a loop pays one failed `open` for it, and nothing where the environment
//! names the store: the file is read only where it exists and matters. What can loosen a
//! loop stands here and nowhere else, so that no repository can say it.

mod change;
mod money;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::time::Duration;

use serde::Deserialize;
use stopgate_agents::Agent;
use stopgate_store::Durability;
use stopgate_usage::PriceBook;
use toml::Spanned;

use crate::failure::Failure;
use crate::limits::{LoopWire, RequestedLimits};
use crate::notify::{NotifyWire, NotifyWish};
use crate::settings::Settings;
use crate::span::span_ms;
use crate::toml_place::{located, position};
use stopgate_verify::files::read_text;

pub(crate) use self::money::SharedLimits;
use self::money::{PriceWire, SharedWire, price_book};

pub use self::change::{ConfigChange, check_config, own_file, set_config};

/// No such file is longer.
const BYTES_MAX: u64 = 1024 * 1024;

/// Nobody waits longer for a store.
const WAIT_MS_MAX: u64 = 600_000;

/// All checks of one stop together stay below the time-out that `install` asks for (ten minutes),
/// with room for looks at a large tree and for ending what does not want to end.
pub(crate) const CHECKS_TIME_MAX: Duration = Duration::from_mins(9);

/// What the person's file says about the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) address: Option<String>,
    pub(crate) tenant: Option<String>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) on_error: OnStoreError,
    pub(crate) durability: Durability,
    /// The limits of the person's loops.
    pub(crate) limits: RequestedLimits,
    /// Variables that checks get beyond the usual ones.
    pub(crate) pass: Vec<String>,
    /// How long a stop waits for checks.
    pub(crate) hook_time: Option<Duration>,
    /// How long `start` waits for the first run of checks.
    pub(crate) preflight_time: Option<Duration>,
    /// How they want to be told about their loops.
    pub(crate) notify: NotifyWish,
    /// What all their loops together may use.
    pub(crate) shared: SharedLimits,
    /// What models cost them.
    pub(crate) prices: PriceBook,
    /// Arguments of the clients that are started to go on after a wait, by agent.
    pub(crate) wake: BTreeMap<String, Vec<String>>,
}

/// What becomes of a stop when the store can't be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OnStoreError {
    /// It is allowed.
    #[default]
    Allow,
    /// The first one of a session is held back and told why.
    BlockOnce,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ConfigWire {
    store: StoreWire,
    #[serde(rename = "loop")]
    own: Option<Spanned<LoopWire>>,
    proof: ProofWire,
    notify: Option<Spanned<NotifyWire>>,
    limits: SharedWire,
    prices: BTreeMap<String, PriceWire>,
    wake: BTreeMap<String, Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProofWire {
    #[serde(default)]
    pass_env: Vec<String>,
    hook_time: Option<String>,
    preflight_time: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct StoreWire {
    address: Option<String>,
    tenant: Option<String>,
    deadline: Option<String>,
    on_store_error: OnStoreError,
    durability: DurabilityWire,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum DurabilityWire {
    #[default]
    Process,
    PowerLoss,
}

impl Config {
    /// What the file says; nothing where there is none.
    pub(crate) fn read(settings: Settings) -> Result<Self, Failure> {
        let Some(path) = settings.config_file() else { return Ok(Self::default()) };
        let text = match read_text(&path, BYTES_MAX) {
            Ok(text) => text,
            Err(error) if is_absent(error.kind()) => return Ok(Self::default()),
            Err(error) => {
                let what = format!("could not read {}", path.display());
                return Err(Failure::usage(what).because(error));
            }
        };
        Self::parse(&text).map_err(|why| {
            Failure::usage(format!("could not understand {}: {why}", path.display()))
                .hint("every key is explained by: stopgate help config.toml")
        })
    }

    /// What a file with this text says.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wire: ConfigWire = toml::from_str(text).map_err(|error| located(text, &error))?;
        let StoreWire { address, tenant, deadline, on_store_error, durability } = wire.store;
        let durability = match durability {
            DurabilityWire::Process => Durability::Process,
            DurabilityWire::PowerLoss => Durability::PowerLoss,
        };
        let deadline = deadline.as_deref().map(span).transpose()?;
        let limits = RequestedLimits::at(text, wire.own.as_ref())?;
        let pass = wire.proof.pass_env;
        let hook_time = wire.proof.hook_time.as_deref().map(hook_span).transpose()?;
        let preflight_time = wire.proof.preflight_time.as_deref().map(span).transpose()?;
        let notify = wire.notify.map(|wire| {
            let begins = wire.span().start;
            let wish = wire.into_inner().wish();
            wish.map_err(|why| format!("{}: {why}", position(text, begins)))
        });
        let notify = notify.transpose()?.unwrap_or_default();
        let on_error = on_store_error;
        let (shared, prices) = (wire.limits.limits(), price_book(wire.prices));
        let wake = known_agents(wire.wake)?;
        Ok(Self {
            address,
            tenant,
            deadline,
            on_error,
            durability,
            limits,
            pass,
            hook_time,
            preflight_time,
            notify,
            shared,
            prices,
            wake,
        })
    }
}

/// A name that is misspelt would wake nobody.
fn known_agents(
    wake: BTreeMap<String, Vec<String>>,
) -> Result<BTreeMap<String, Vec<String>>, String> {
    match wake.keys().find(|word| Agent::named(word).is_none()) {
        Some(word) => Err(format!("[wake]: `{word}` is not an agent; see stopgate agents")),
        None => Ok(wake),
    }
}

/// A span as people write it: 500ms, 2s.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a duration; write for example 500ms or 2s");
    let millis = span_ms(text).ok().filter(|millis| (1..=WAIT_MS_MAX).contains(millis));
    millis.map(Duration::from_millis).ok_or_else(wrong)
}

/// How long a stop may wait for checks: not longer than the time-out that `install` asks for
/// leaves room for.
fn hook_span(text: &str) -> Result<Duration, String> {
    let longest = CHECKS_TIME_MAX.as_secs() / 60;
    let wrong =
        || format!("hook_time `{text}` is not a duration up to {longest}m; write for example 50s");
    span(text).ok().filter(|time| *time <= CHECKS_TIME_MAX).ok_or_else(wrong)
}

fn is_absent(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::{Config, Durability, OnStoreError, span};

    #[test]
    fn a_file_says_where_the_journal_is_and_how_it_is_kept() {
        let text = "[store]\naddress = \"postgres://h/d\"\ntenant = \"t\"\ndeadline = \"500ms\"\n\
                    on_store_error = \"block_once\"\ndurability = \"power-loss\"\n";
        let config = Config::parse(text).unwrap();
        assert_eq!(config.address.as_deref(), Some("postgres://h/d"));
        assert_eq!(config.tenant.as_deref(), Some("t"));
        assert_eq!(config.deadline, Some(std::time::Duration::from_millis(500)));
        assert_eq!(config.on_error, OnStoreError::BlockOnce);
        assert_eq!(config.durability, Durability::PowerLoss);
        assert_eq!(Config::parse("").unwrap(), Config::default());
        assert_eq!(Config::parse("[store]").unwrap(), Config::default());
    }

    #[test]
    fn what_it_does_not_know_is_refused() {
        let texts = [
            "[store]\nadress = \"x\"",
            "[shop]",
            "store = 1",
            "[store]\ndurability = \"fsync\"",
            "[store]\non_store_error = \"block\"",
            "[store]\ndeadline = \"soon\"",
            "[store",
        ];
        for text in texts {
            assert!(Config::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_span_has_a_unit_and_an_end() {
        for (text, millis) in [("2s", 2000), ("500ms", 500), ("1m", 60_000)] {
            assert_eq!(span(text).unwrap().as_millis(), millis, "{text}");
        }
        for text in ["", "2", "0s", "-1s", "1h", "11m", "s", "1.5s"] {
            assert!(span(text).is_err(), "{text}");
        }
    }
}
