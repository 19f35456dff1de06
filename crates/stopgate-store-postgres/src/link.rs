//! One connection to a server, on a runtime of its own, that never keeps anybody waiting.
//!
//! Whatever the sockets do, [`Link::ask`] comes back by its deadline. A link that was
//! given up on is thrown away: what it might still say belongs to nobody.

use std::future::poll_fn;
use std::time::{Duration, Instant};

use stopgate_store::StoreError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::yield_now;
use tokio::time::timeout;
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{MakeTlsConnect, TlsStream};
use tokio_postgres::{AsyncMessage, Client, Connection, Error, NoTls, Socket};

use crate::address::{Safety, ServerAddress, ServerHost, ServerWanted};
use crate::{patience, tls, trouble};

/// A connection that is open, as far as is known.
pub(crate) struct Link {
    runtime: Option<Runtime>,
    client: Client,
    /// The text of each notification that came in; closed with the connection.
    heard: UnboundedReceiver<String>,
}

impl Link {
    /// Connects to the first server of `address` that will do, before `until`.
    pub(crate) fn open(
        address: &ServerAddress,
        until: Instant,
        deadline: Duration,
    ) -> Result<Self, StoreError> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|source| {
            let address = address.shown.clone();
            StoreError::Unreachable { address, source: Box::new(source) }
        })?;
        let late = StoreError::Late { address: address.shown.clone(), deadline };
        let opened = runtime.block_on(async {
            timeout(patience::left(until), first(address, until, deadline)).await
        });
        match opened.unwrap_or(Err(late)) {
            Ok((client, heard)) => Ok(Self { runtime: Some(runtime), client, heard }),
            Err(error) => {
                // A name may still be looked up on a thread of its own: it is left behind.
                runtime.shutdown_background();
                Err(error)
            }
        }
    }

    /// Runs `question` and gives its answer, or nothing if it is not there by `until`.
    pub(crate) fn ask<T>(
        &self,
        until: Instant,
        question: impl AsyncFnOnce(&Client) -> T,
    ) -> Option<T> {
        let runtime = self.runtime.as_ref()?;
        let question = question(&self.client);
        runtime.block_on(async { timeout(patience::left(until), question).await }).ok()
    }

    /// The text of the next notification, if one comes before `until`.
    pub(crate) fn listen(&mut self, until: Instant) -> Option<String> {
        let runtime = self.runtime.as_ref()?;
        let heard = self.heard.recv();
        runtime.block_on(async { timeout(patience::left(until), heard).await }).ok()?
    }

    /// Whether the server has hung up, as far as can be known without asking it.
    pub(crate) fn is_dead(&self) -> bool {
        if let Some(runtime) = &self.runtime {
            // Lets the connection's task read what has come in meanwhile.
            runtime.block_on(look_around());
        }
        self.client.is_closed()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Goes round often enough for the sockets to be looked at and the tasks to be run.
async fn look_around() {
    for _ in 0..4 {
        yield_now().await;
    }
}

type Opened = (Client, UnboundedReceiver<String>);

/// The first server that will do; each gets its share of the time that is left.
async fn first(
    address: &ServerAddress,
    until: Instant,
    deadline: Duration,
) -> Result<Opened, StoreError> {
    let mut last = StoreError::Late { address: address.shown.clone(), deadline };
    for (at, place) in address.places.iter().enumerate() {
        let others = u32::try_from(address.places.len() - at).unwrap_or(u32::MAX);
        let share = patience::left(until) / others;
        let share = address.connect_timeout.map_or(share, |limit| limit.min(share));
        match timeout(share, at_place(address, place)).await {
            Ok(Ok(opened)) => return Ok(opened),
            Ok(Err(error)) => last = better(last, error),
            Err(_) => {}
        }
    }
    Err(last)
}

/// Of two reasons the one that tells more: that a server only reads says less than any other.
fn better(first: StoreError, second: StoreError) -> StoreError {
    match (&first, &second) {
        (StoreError::Late { .. } | StoreError::ReadOnly { .. }, _) => second,
        (_, StoreError::ReadOnly { .. }) => first,
        _ => second,
    }
}

async fn at_place(address: &ServerAddress, place: &ServerHost) -> Result<Opened, StoreError> {
    let safety = if place.is_socket() { Safety::Disable } else { address.safety };
    match safety {
        Safety::Disable => plain(address, place).await,
        Safety::Allow => match plain(address, place).await {
            Err(StoreError::Login { .. }) => safe(address, place, SslMode::Require).await,
            other => other,
        },
        Safety::Prefer => safe(address, place, SslMode::Prefer).await,
        Safety::Require | Safety::VerifyCa | Safety::VerifyFull => {
            safe(address, place, SslMode::Require).await
        }
    }
}

async fn plain(address: &ServerAddress, place: &ServerHost) -> Result<Opened, StoreError> {
    connect(address, place, SslMode::Disable, NoTls).await
}

async fn safe(
    address: &ServerAddress,
    place: &ServerHost,
    mode: SslMode,
) -> Result<Opened, StoreError> {
    let connector = tls::connector(address.safety, &address.roots)
        .map_err(|source| StoreError::Tls { address: address.shown.clone(), source })?;
    connect(address, place, mode, connector).await
}

async fn connect<T>(
    address: &ServerAddress,
    place: &ServerHost,
    mode: SslMode,
    connector: T,
) -> Result<Opened, StoreError>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: TlsStream + Unpin + Send + 'static,
{
    let trouble = |error| trouble::connecting(&address.shown, error);
    let config = address.config_for(place, mode);
    let (client, connection) = config.connect(connector).await.map_err(trouble)?;
    let reads_only = read_only(&connection);
    let (heard_by, heard) = unbounded_channel();
    tokio::spawn(drive(connection, heard_by));
    if address.wanted == ServerWanted::ReadWrite {
        let reads_only = match reads_only {
            Some(known) => known,
            None => asked_read_only(&client).await.map_err(trouble)?,
        };
        if reads_only {
            return Err(StoreError::ReadOnly { address: address.shown.clone() });
        }
    }
    Ok((client, heard))
}

/// Whether the server said by itself that it only reads; servers since 14 do.
fn read_only<T>(connection: &Connection<Socket, T>) -> Option<bool>
where
    T: AsyncRead + AsyncWrite + Unpin,
{
    let standby = connection.parameter("in_hot_standby")?;
    let default = connection.parameter("default_transaction_read_only")?;
    Some(standby == "on" || default == "on")
}

async fn asked_read_only(client: &Client) -> Result<bool, Error> {
    let rows = client.query_typed("SHOW transaction_read_only", &[]).await?;
    let answer: Option<&str> = rows.first().map(|row| row.try_get(0)).transpose()?;
    Ok(answer == Some("on"))
}

/// Keeps the connection going, and says when a notification comes.
async fn drive<T>(mut connection: Connection<Socket, T>, heard: UnboundedSender<String>)
where
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
        match message {
            Ok(AsyncMessage::Notification(news)) => {
                // Nobody listens: the next question will be answered all the same.
                let _ = heard.send(news.payload().into());
            }
            Ok(_notice) => {}
            Err(_) => return,
        }
    }
}
