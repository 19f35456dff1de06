//! PostgreSQL servers of the tests' own: in a temporary directory, on a private socket and a
//! loopback port, gone when the test is.
//!
//! Never touches a server that is already there. Run by root, the server gets another user,
//! as PostgreSQL wants it.

mod account;
mod binaries;
mod certificates;
mod server;
mod watch;

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use account::Account;
use binaries::Binaries;
use rustix::process::Signal;
use server::ClusterServer;
use tempfile::TempDir;
use watch::Watch;

use crate::door;
use crate::error::LabError;

pub use binaries::PG_VARIABLE;
pub use server::ServerStop;

const PASSWORD: &str = "open sesame";
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What a cluster should be like.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// How many clients it lets in at once.
    pub max_connections: u16,
}

impl Default for Setup {
    fn default() -> Self {
        Self { max_connections: 200 }
    }
}

/// A PostgreSQL server with a data directory of its own.
#[derive(Debug)]
pub struct Cluster {
    binaries: Binaries,
    account: Account,
    port: u16,
    server: Option<ClusterServer>,
    directory: TempDir,
    _watch: Watch,
}

impl Cluster {
    /// A fresh server that is ready; PostgreSQL is installed where that is possible.
    pub fn start(setup: Setup) -> Result<Self, LabError> {
        let mut cluster = Self::prepare()?;
        cluster.init(setup)?;
        cluster.start_again()?;
        Ok(cluster)
    }

    /// Where clients on this machine find it, as the superuser, without a password.
    pub fn socket_url(&self, database: &str) -> String {
        let directory = self.directory.path().display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{directory}:{}/{database}", self.port)
    }

    /// Where clients find it by network, as the superuser.
    pub fn url(&self, database: &str) -> String {
        self.url_of("postgres", PASSWORD, database)
    }

    /// Where clients find it by network, under the name they give.
    pub fn url_of(&self, user: &str, password: &str, database: &str) -> String {
        let password = password.replace(' ', "%20");
        format!("postgres://{user}:{password}@127.0.0.1:{}/{database}", self.port)
    }

    /// The superuser's password.
    pub fn password(&self) -> &'static str {
        PASSWORD
    }

    /// The port on loopback.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The certificate of the authority that vouches for the server, which is `localhost`.
    pub fn authority(&self) -> PathBuf {
        self.directory.path().join("authority.pem")
    }

    /// The certificate of an authority that has nothing to do with it.
    pub fn other_authority(&self) -> PathBuf {
        self.directory.path().join("other.pem")
    }

    /// Has the superuser run `sql`; gives the rows as text.
    pub fn sql(&self, database: &str, sql: &str) -> Result<String, LabError> {
        let mut psql = self.account.command(&self.binaries.path("psql"));
        psql.arg("-XqAt").args(["-v", "ON_ERROR_STOP=1", "-U", "postgres", "-h"]);
        psql.arg(self.directory.path()).args(["-p", &self.port.to_string(), "-d", database, "-c"]);
        server::said(psql.arg(sql))
    }

    /// Stops the server, in an orderly way or not.
    pub fn stop(&mut self, how: ServerStop) -> Result<(), LabError> {
        self.server.take().map_or(Ok(()), |server| server.stop(how))
    }

    /// Stops all of the server's processes in their tracks: it listens, and says nothing.
    pub fn freeze(&self) {
        self.signal_all(Signal::STOP);
    }

    /// Lets a frozen server go on.
    pub fn thaw(&self) {
        self.signal_all(Signal::CONT);
    }

    /// Starts the server where it is not running, and waits until it is ready.
    pub fn start_again(&mut self) -> Result<(), LabError> {
        let until = door::now() + PATIENCE;
        loop {
            let server = match self.server.take() {
                Some(server) => server,
                None => self.launch()?,
            };
            // Right after a kill, children of the dead server may still be in the way.
            self.server = server.is_running()?.then_some(server);
            if self.server.is_some() && self.answers()? {
                return Ok(());
            }
            if door::now() >= until {
                return Err(LabError::Server { wanted: "start", said: self.log() });
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// A standby that follows this server, which from now on waits for it at each commit.
    pub fn standby(&self) -> Result<Self, LabError> {
        let mut standby = Self::prepare()?;
        let mut backup = standby.account.command(&standby.binaries.path("pg_basebackup"));
        backup.args(["-R", "-X", "stream", "-c", "fast", "-U", "postgres", "-h"]);
        backup.arg(self.directory.path()).args(["-p", &self.port.to_string(), "-D"]);
        server::said(backup.arg(standby.data()))?;
        standby.certify()?;
        standby.start_again()?;
        self.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'")?;
        self.sql("postgres", "SELECT pg_reload_conf()")?;
        self.wait_for("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", "1")?;
        Ok(standby)
    }

    /// Makes a standby a server that writes.
    pub fn promote(&self) -> Result<(), LabError> {
        self.sql("postgres", "SELECT pg_promote(true, 30)")?;
        self.wait_for("SELECT pg_is_in_recovery()", "f")
    }

    /// The end of the server's log.
    pub fn log(&self) -> String {
        let log = fs::read_to_string(self.directory.path().join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    fn signal_all(&self, signal: Signal) {
        if let Some(server) = &self.server {
            server.signal_all(signal);
        }
    }

    fn prepare() -> Result<Self, LabError> {
        let binaries = Binaries::find()?;
        let account = Account::choose()?;
        let made = tempfile::Builder::new().prefix("stopgate-pg-").tempdir();
        let directory = made.map_err(LabError::file("make", &std::env::temp_dir()))?;
        account.give(directory.path())?;
        let watch = Watch::over(directory.path())?;
        let port = free_port()?;
        Ok(Self { binaries, account, port, server: None, directory, _watch: watch })
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn init(&self, setup: Setup) -> Result<(), LabError> {
        let secret = self.directory.path().join("secret");
        self.write(&secret, PASSWORD)?;
        let mut initdb = self.account.command(&self.binaries.path("initdb"));
        initdb.args(["-U", "postgres", "-E", "UTF8", "--locale=C", "-A", "trust", "--no-sync"]);
        initdb.arg("--pwfile").arg(&secret).arg("-D").arg(self.data());
        server::said(&mut initdb)?;
        self.certify()?;
        let conf = self.data().join("postgresql.conf");
        let old = fs::read_to_string(&conf).map_err(LabError::file("read", &conf))?;
        let clients = setup.max_connections;
        self.write(&conf, &format!("{old}\nmax_connections = {clients}\n{SETTINGS}"))?;
        self.write(&self.data().join("pg_hba.conf"), ACCESS)
    }

    fn certify(&self) -> Result<(), LabError> {
        certificates::make(self.directory.path())?;
        for name in ["server.pem", "server.key"] {
            self.account.give(&self.directory.path().join(name))?;
        }
        Ok(())
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), LabError> {
        fs::write(path, text).map_err(LabError::file("write", path))?;
        self.account.give(path)
    }

    fn launch(&self) -> Result<ClusterServer, LabError> {
        let mut postgres = self.account.command(&self.binaries.path("postgres"));
        let directory = self.directory.path().display();
        postgres.arg("-D").arg(self.data()).args(["-p", &self.port.to_string()]);
        for setting in [
            format!("unix_socket_directories={directory}"),
            format!("ssl_cert_file={directory}/server.pem"),
            format!("ssl_key_file={directory}/server.key"),
        ] {
            postgres.arg("-c").arg(setting);
        }
        ClusterServer::launch(postgres, &self.directory.path().join("log"))
    }

    fn answers(&self) -> Result<bool, LabError> {
        let mut ready = self.account.command(&self.binaries.path("pg_isready"));
        ready.arg("-q").arg("-h").arg(self.directory.path()).args(["-p", &self.port.to_string()]);
        let ran = ready.status().map_err(LabError::run(Path::new("pg_isready")))?;
        Ok(ran.success())
    }

    fn wait_for(&self, sql: &str, wanted: &str) -> Result<(), LabError> {
        let until = door::now() + PATIENCE;
        while self.sql("postgres", sql)?.trim() != wanted {
            if door::now() >= until {
                return Err(LabError::Server { wanted: "change its role", said: self.log() });
            }
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Whatever is left is the watch's to clear away.
        self.stop(ServerStop::Immediate).ok();
    }
}

const SETTINGS: &str = "\
listen_addresses = '127.0.0.1'
ssl = on
password_encryption = 'scram-sha-256'
wal_level = replica
max_wal_senders = 4
hot_standby = on
synchronous_commit = on
log_min_messages = warning
";

const ACCESS: &str = "\
local all all trust
local replication all trust
hostnossl all plain_only 127.0.0.1/32 scram-sha-256
host all plain_only 127.0.0.1/32 reject
hostssl all safe_only 127.0.0.1/32 scram-sha-256
host all safe_only 127.0.0.1/32 reject
host all all 127.0.0.1/32 scram-sha-256
";

fn free_port() -> Result<u16, LabError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let address = listener.and_then(|listener| listener.local_addr());
    address.map(|address| address.port()).map_err(|source| LabError::Listen { source })
}
