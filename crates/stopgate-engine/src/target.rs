//! Which loop a command means.

use std::path::PathBuf;

use stopgate_core::{LoopId, SessionId, Surface};
use stopgate_store::{Filter, Standing, Stored};

use crate::engine::Engine;
use crate::failure::Failure;

/// Among how many of a project's newest loops one of our own is looked for.
const NEWEST: usize = 16;

/// How a person or an agent names a loop.
#[derive(Clone, Debug)]
pub enum Target {
    /// By its name, or the beginning of it.
    Named(String),
    /// The one that holds, or last held, a session.
    Session(String),
    /// This session's, else the newest of the project in this folder.
    Here(PathBuf),
}

impl Engine {
    /// Loads the loop that `target` means.
    pub fn resolve(&mut self, target: &Target) -> Result<Stored, Failure> {
        match target {
            Target::Named(name) => self.named(name),
            Target::Session(session) => self.of_session(session),
            Target::Here(folder) => self.here(folder),
        }
    }

    fn named(&mut self, name: &str) -> Result<Stored, Failure> {
        let exact = LoopId::new(name);
        if let Some(stored) = self.journal.load(&exact)? {
            return Ok(stored);
        }
        let found = if name.is_empty() { Vec::new() } else { self.journal.find(name)? };
        match found.as_slice() {
            [id] => self.journal.load(id)?.ok_or_else(|| missing(name)),
            [] => Err(missing(name)),
            several => {
                let names: Vec<&str> = several.iter().map(LoopId::as_str).collect();
                Err(Failure::usage(format!("more than one loop begins with {name}"))
                    .hint(format!("write more of the name: {}", names.join(", "))))
            }
        }
    }

    fn of_session(&mut self, name: &str) -> Result<Stored, Failure> {
        let session = SessionId::new(name)
            .ok_or_else(|| Failure::usage("a session's name can't be empty"))?;
        if let Some(stored) = self.journal.load_held(&session)? {
            return Ok(stored);
        }
        let all = self.journal.list(&Filter::default())?;
        all.into_iter().find(|s| s.state.session.as_ref() == Some(&session)).ok_or_else(|| {
            Failure::no_loop(format!("no loop holds or held session {name}")).hint("stopgate list")
        })
    }

    fn here(&mut self, folder: &std::path::Path) -> Result<Stored, Failure> {
        let own = self.settings.session().and_then(|session| SessionId::new(&session));
        if let Some(session) = own
            && let Some(stored) = self.journal.load_held(&session)?
        {
            return Ok(stored);
        }
        let project = crate::project::project_of(folder).display().to_string();
        for standing in [Standing::Running, Standing::Any] {
            let filter = Filter { project: Some(&project), standing, limit: NEWEST };
            let mut found = self.journal.list(&filter)?;
            if found.iter().all(is_loose_task) {
                found = self.journal.list(&Filter { limit: 0, ..filter })?;
            }
            // A task that holds nobody is not what is meant here: whoever means it names it.
            found.retain(|stored| !is_loose_task(stored));
            // A loop of our own comes before the trail of somebody else's.
            let own = found.iter().position(|stored| stored.state.policy.order.is_native());
            let first = own.filter(|_| standing == Standing::Running).unwrap_or(0);
            if first < found.len() {
                return Ok(found.swap_remove(first));
            }
        }
        Err(Failure::no_loop(format!("no loop in {project}"))
            .hint("begin one with: stopgate start \"GOAL\", or name one: stopgate list"))
    }
}

fn is_loose_task(stored: &Stored) -> bool {
    stored.state.surface == Surface::Tools && stored.state.session.is_none()
}

fn missing(name: &str) -> Failure {
    Failure::no_loop(format!("no loop is called {name}")).hint("stopgate list shows them all")
}
