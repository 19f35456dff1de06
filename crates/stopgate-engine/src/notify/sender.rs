//! The process that posts notices: started by the command or hook that has a notice, and never waited for.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use stopgate_verify::files::read_text;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

use super::delivery::{HttpPost, posts};
use super::notice::NoticeWire;
use crate::config::Config;
use crate::log::log_fault;
use crate::settings::Settings;

/// The word that makes the program this process.
pub const NOTIFY: &str = "__notify";

const NOTICE_BYTES_MAX: u64 = 64 * 1024;
const TRIES: u32 = 5;
const TRY_TIME: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Posts the notice in the file that is named, and takes the file away first: nothing is sent
/// twice.
pub fn deliver(settings: Settings, mut arguments: impl Iterator<Item = OsString>) {
    let Some(path) = arguments.next() else { return };
    let path = Path::new(&path);
    let text = read_text(path, NOTICE_BYTES_MAX);
    let _ = fs::remove_file(path);
    let notice = text.ok().and_then(|text| serde_json::from_str::<NoticeWire>(&text).ok());
    let (Some(notice), Ok(config)) = (notice, Config::read(settings)) else { return };
    let agent = agent();
    let pause = Settings::test_pause().unwrap_or(FIRST_PAUSE);
    // A receiver that is slow or gone keeps no other waiting.
    std::thread::scope(|scope| {
        for post in posts(&config.notify, &notice) {
            let agent = &agent;
            scope.spawn(move || {
                let sent = persist(agent, &post, pause);
                sent.unwrap_or_else(|why| complain(settings, &post, &why));
            });
        }
    });
}

fn complain(settings: Settings, post: &HttpPost, why: &str) {
    let story = format!("could not notify {}: {why}", host(&post.url));
    let _ = log_fault(settings, settings.home().ok().as_ref(), None, &story);
}

/// A client that follows no redirect: what is told goes where the person said, or nowhere.
fn agent() -> Agent {
    web_agent(TRY_TIME, 0)
}

/// A client that asks for a page within a time, and follows so many redirects.
pub(crate) fn web_agent(time: Duration, redirects: u32) -> Agent {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(provider)
        .build();
    let config = Agent::config_builder()
        .timeout_global(Some(time))
        .max_redirects(redirects)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .user_agent(concat!("stopgate/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls)
        .build();
    config.into()
}

/// Tries until it is taken, refused for good, or was tried often enough.
fn persist(agent: &Agent, post: &HttpPost, first: Duration) -> Result<(), String> {
    let mut pause = first;
    let mut why = String::new();
    for tried in 0..TRIES {
        if tried > 0 {
            std::thread::sleep(pause);
            pause *= 2;
        }
        match attempt(agent, post) {
            Ok(200..=299) => return Ok(()),
            Ok(status @ (408 | 425 | 429 | 500..=599)) => why = format!("it answered {status}"),
            Ok(status @ 300..=399) => {
                return Err(format!("it answered {status}, and redirects are not followed"));
            }
            Ok(status) => return Err(format!("it answered {status}")),
            Err(error) => why = error,
        }
    }
    Err(format!("{why} ({TRIES} tries)"))
}

fn attempt(agent: &Agent, post: &HttpPost) -> Result<u16, String> {
    let mut request = agent.post(&post.url);
    for (name, value) in &post.headers {
        request = request.header(*name, value);
    }
    let answer = request.send(&post.body[..]).map_err(|error| error.to_string())?;
    Ok(answer.status().as_u16())
}

/// Paths and queries of such addresses are secrets; their hosts are not.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    authority.rsplit('@').next().unwrap_or(authority)
}
