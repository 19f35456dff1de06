//! What a loop in another tool's files would be as one of stopgate's own. Reads, writes nothing.

use stopgate_dialects::import::{
    Carried, Nothing, from_criteria, from_features, from_idle, from_ralph_loop, from_task,
};
use stopgate_dialects::{Dialect, criteria, features, idle, ralph_loop};

use super::features::DIRECTORY;
use super::jwz::Store;
use super::{DialectCall, files, task};
use crate::failure::{Failure, chain};

impl DialectCall {
    /// The loop that this format's files hold, ready to be started.
    pub fn carried(&self) -> Result<Carried, Failure> {
        let carried = match self.request.dialect {
            Dialect::Idle => self.idle_carried()?,
            Dialect::Features => self.features_carried()?,
            Dialect::Criteria => {
                let text = self.text(".loop/state.json")?;
                let record =
                    criteria::CriteriaRecord::read(&text).map_err(|error| unclear(&error))?;
                from_criteria(&record)
            }
            Dialect::Task => {
                let found = task::found(self)?.ok_or_else(|| missing("a task in progress"))?;
                from_task(&found)
            }
            Dialect::RalphLoop => {
                let text = self.text(ralph_loop::FILE)?;
                let found = ralph_loop::RalphLoop::read(&text);
                from_ralph_loop(&found.ok_or_else(|| missing("a loop in that file"))?)
            }
        };
        carried.map_err(|nothing| refused(&nothing))
    }

    fn idle_carried(&self) -> Result<Result<Carried, Nothing>, Failure> {
        let newest = match Store::find(&self.directory) {
            Some(store) => store.newest(idle::TOPIC)?,
            None => None,
        };
        let topic = newest.as_deref().and_then(idle::message::read);
        let found = match topic {
            Some(found) => Some(found),
            None => idle::file::read(&self.text(idle::FILE)?),
        };
        let found = found.ok_or_else(|| missing("a loop in that file"))?;
        Ok(from_idle(&found, self.now))
    }

    fn features_carried(&self) -> Result<Result<Carried, Nothing>, Failure> {
        let directory = self.settings.features_directory().unwrap_or_else(|| DIRECTORY.into());
        let directory = self.directory.join(directory);
        let list = self.text(&directory.join("feature_list.json").display().to_string())?;
        let list = features::FeatureList::read(&list).map_err(|error| unclear(&error))?;
        let progress = files::read(&directory.join("progress.txt"))?.unwrap_or_default();
        Ok(from_features(&list, &features::ProgressFile::read(&progress)))
    }

    fn text(&self, name: &str) -> Result<String, Failure> {
        files::read(&self.directory.join(name))?.ok_or_else(|| missing(name))
    }
}

fn missing(what: &str) -> Failure {
    Failure::no_loop(format!("could not import a loop: there is no {what} here"))
        .hint("cd to the project that has these files")
}

fn unclear(error: &dyn std::error::Error) -> Failure {
    Failure::no_loop(format!("could not {}", chain(error)))
}

fn refused(nothing: &Nothing) -> Failure {
    Failure::no_loop(format!("could not {nothing}"))
}
