//! Where the server is and how to talk to it, as libpq's users write it.
//!
//! Hosts, `sslmode` and `target_session_attrs` are ours, because each host gets its own
//! share of the deadline and libpq knows more modes than the client library. The rest is
//! given to the library as it is. Nothing here shows a password.

mod text;

use std::path::PathBuf;
use std::time::Duration;

use stopgate_store::StoreError;
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

const PORT: u16 = 5432;

/// A parsed address.
#[derive(Clone, Debug)]
pub(crate) struct ServerAddress {
    /// The address for people, without its password.
    pub(crate) shown: String,
    /// The servers to try, in order.
    pub(crate) places: Vec<ServerHost>,
    /// Which of them will do.
    pub(crate) wanted: ServerWanted,
    /// How safe the connection must be.
    pub(crate) safety: Safety,
    /// The time that one server may take to let us in, where the user says so.
    pub(crate) connect_timeout: Option<Duration>,
    /// Whose certificates to believe.
    pub(crate) roots: Roots,
    /// User, password, database and the rest.
    config: Config,
}

/// One server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerHost {
    /// A name, an address, or the directory of a Unix socket.
    pub(crate) host: String,
    /// Its port.
    pub(crate) port: u16,
}

/// Which servers will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerWanted {
    /// The first that answers.
    Any,
    /// The first that writes.
    ReadWrite,
}

/// How safe the connection must be: libpq's `sslmode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Safety {
    /// In the clear.
    Disable,
    /// In the clear, encrypted where the server insists.
    Allow,
    /// Encrypted where the server can.
    Prefer,
    /// Encrypted, to whomever.
    Require,
    /// Encrypted, to a server that a known authority vouches for.
    VerifyCa,
    /// The same, and it must bear the host's name.
    VerifyFull,
}

/// Whose certificates to believe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Roots {
    /// Whom the machine believes.
    Platform,
    /// Whom this file names.
    File(PathBuf),
}

impl ServerHost {
    /// Whether it is the directory of a Unix socket.
    pub(crate) fn is_socket(&self) -> bool {
        self.host.starts_with('/') || self.host.starts_with('@')
    }
}

impl ServerAddress {
    /// Reads `postgres://…` or `host=… user=…`.
    pub(crate) fn parse(address: &str) -> Result<Self, StoreError> {
        let refuse = |why: String| StoreError::Address { address: redacted(address), why };
        let mut settings = text::settings(address).map_err(refuse)?;
        Self::read(&mut settings).map_err(refuse)
    }

    /// What the client library needs to talk to `place` in the way of `mode`.
    pub(crate) fn config_for(&self, place: &ServerHost, mode: SslMode) -> Config {
        let mut config = self.config.clone();
        config.host(&place.host).port(place.port).ssl_mode(mode);
        config
    }

    fn read(settings: &mut text::AddressSettings) -> Result<Self, String> {
        let shown = shown(settings);
        let places = places(settings)?;
        let wanted = wanted(settings, places.len())?;
        let safety = safety(settings)?;
        let roots = match settings.take("sslrootcert") {
            Some(file) if file != "system" => Roots::File(file.into()),
            Some(_) | None => Roots::Platform,
        };
        let connect_timeout = match settings.take("connect_timeout") {
            Some(seconds) => seconds
                .parse()
                .map(Duration::from_secs)
                .map_err(|_| format!("connect_timeout is {seconds}, not a number of seconds"))?,
            None => Duration::ZERO,
        };
        let mut config: Config = settings.render().parse().map_err(said)?;
        if config.get_application_name().is_none() {
            config.application_name("stopgate");
        }
        let connect_timeout = Some(connect_timeout).filter(|time| !time.is_zero());
        Ok(Self { shown, places, wanted, safety, connect_timeout, roots, config })
    }
}

/// The address for people: who, where, which database, and never the password.
pub fn redacted(address: &str) -> String {
    text::settings(address).map_or_else(|_| "postgres://…".into(), |settings| shown(&settings))
}

fn shown(settings: &text::AddressSettings) -> String {
    let user = settings.get("user").map_or(String::new(), |user| format!("{user}@"));
    let database = settings.get("dbname").map_or(String::new(), |name| format!("/{name}"));
    let hosts = settings.get("host").or(settings.get("hostaddr")).unwrap_or("localhost");
    let ports: Vec<&str> = settings.get("port").unwrap_or("").split(',').collect();
    let port = |at: usize| ports.get(at).or(ports.first()).filter(|port| !port.is_empty());
    let places: Vec<String> = hosts
        .split(',')
        .enumerate()
        .map(|(at, host)| port(at).map_or(host.into(), |port| format!("{host}:{port}")))
        .collect();
    format!("postgres://{user}{}{database}", places.join(","))
}

fn places(settings: &mut text::AddressSettings) -> Result<Vec<ServerHost>, String> {
    let hosts = settings.take("host").filter(|hosts| !hosts.is_empty());
    let hosts = hosts.or(settings.take("hostaddr")).unwrap_or_else(|| "localhost".into());
    let ports = settings.take("port").unwrap_or_default();
    let ports: Vec<u16> = ports
        .split(',')
        .map(|port| if port.is_empty() { Ok(PORT) } else { port.parse() })
        .collect::<Result<_, _>>()
        .map_err(|_| format!("port is {ports}, not a number"))?;
    let hosts: Vec<&str> = hosts.split(',').collect();
    if ports.len() != 1 && ports.len() != hosts.len() {
        return Err(format!("it names {} hosts and {} ports", hosts.len(), ports.len()));
    }
    let place = |(at, host): (usize, &&str)| ServerHost {
        host: if host.is_empty() { "localhost".into() } else { (*host).into() },
        port: ports.get(at).or(ports.first()).copied().unwrap_or(PORT),
    };
    Ok(hosts.iter().enumerate().map(place).collect())
}

/// Of several servers only one writes, so that one is wanted unless the user says otherwise.
fn wanted(settings: &mut text::AddressSettings, places: usize) -> Result<ServerWanted, String> {
    match settings.take("target_session_attrs").as_deref() {
        None if places > 1 => Ok(ServerWanted::ReadWrite),
        None | Some("any") => Ok(ServerWanted::Any),
        Some("read-write" | "primary") => Ok(ServerWanted::ReadWrite),
        Some(other) => Err(format!(
            "target_session_attrs is {other}; a journal is written to: use read-write or any"
        )),
    }
}

fn safety(settings: &mut text::AddressSettings) -> Result<Safety, String> {
    match settings.take("sslmode").as_deref() {
        Some("disable") => Ok(Safety::Disable),
        Some("allow") => Ok(Safety::Allow),
        None | Some("prefer") => Ok(Safety::Prefer),
        // libpq's rule: with a root certificate at hand, it is used.
        Some("require") if settings.get("sslrootcert").is_some() => Ok(Safety::VerifyCa),
        Some("require") => Ok(Safety::Require),
        Some("verify-ca") => Ok(Safety::VerifyCa),
        Some("verify-full") => Ok(Safety::VerifyFull),
        Some(other) => Err(format!(
            "sslmode is {other}; it may be disable, allow, prefer, require, verify-ca or verify-full"
        )),
    }
}

/// The library's message with its cause, which names the option.
fn said(error: tokio_postgres::Error) -> String {
    error.into_source().map_or("an option is wrong".into(), |cause| cause.to_string())
}

#[cfg(test)]
mod tests;
