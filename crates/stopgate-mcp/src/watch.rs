//! Watches over one call: its client may lose interest, or want to know that it goes on.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use stopgate_verify::RunStop;
use tokio::time::{Instant, interval_at};

/// How often a client hears that a call goes on.
pub(crate) const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// Raises a stop when it is dropped before the work is over.
struct Abandoned(Option<RunStop>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        if let Some(stop) = self.0.take() {
            stop.raise();
        }
    }
}

/// Waits for `work`, and tells the client every ten seconds that it goes on, if it asked
/// for that. A client that cancels or leaves ends the programs of the call by `stop`.
pub(crate) async fn watched<T>(
    work: impl Future<Output = T>,
    name: &str,
    stop: RunStop,
    context: &RequestContext<RoleServer>,
) -> T {
    let mut abandoned = Abandoned(Some(stop.clone()));
    let done = tokio::select! {
        done = work => done,
        never = progress(name, context) => match never {},
        never = cancelled(&stop, context) => match never {},
    };
    abandoned.0 = None;
    done
}

/// Ends the programs of a call that was cancelled; the call itself says when it is over.
async fn cancelled(stop: &RunStop, context: &RequestContext<RoleServer>) -> Infallible {
    context.ct.cancelled().await;
    stop.raise();
    pending().await
}

/// Tells how long it has taken, for ever.
async fn progress(name: &str, context: &RequestContext<RoleServer>) -> Infallible {
    let Some(token) = context.meta.get_progress_token() else {
        return pending().await;
    };
    let begun = Instant::now();
    let mut ticks = interval_at(begun + PROGRESS_EVERY, PROGRESS_EVERY);
    loop {
        ticks.tick().await;
        let seconds = begun.elapsed().as_secs();
        let told = ProgressNotificationParam::new(token.clone(), seconds_of(seconds))
            .with_message(format!("{name} has been running for {seconds} s"));
        // A client that does not listen loses nothing but this.
        let _ = context.peer.notify_progress(told).await;
    }
}

fn seconds_of(seconds: u64) -> f64 {
    u32::try_from(seconds).unwrap_or(u32::MAX).into()
}
