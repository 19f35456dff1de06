//! Which session works on a task: the one whose client started this server.

use stopgate_core::{Frame, LoopId, Mode, SessionId, TaskHold};
use stopgate_gates::Iteration;

use super::Tasks;
use crate::project::project_of;

/// The session that was named, else the one of the environment, else the client's.
pub(super) fn session_for(tasks: &Tasks, named: Option<&str>) -> Option<SessionId> {
    if let Some(name) = named {
        return SessionId::new(name);
    }
    if let Some(session) =
        tasks.engine.context.settings.session().and_then(|name| SessionId::new(&name))
    {
        return Some(session);
    }
    let parent = stopgate_system::parent_pid()?.to_string();
    let project = project_of(&tasks.directory);
    let session = tasks.engine.context.presence.of_client(&project, &parent)?;
    SessionId::new(&session)
}

/// Iterations hold the session: what its stop hook says while they run.
pub(super) fn begin(iteration: &Iteration, id: &LoopId, session: Option<SessionId>) -> TaskHold {
    let prompt = format!(
        "Iterations {} of task TASK-{id} are running. Ask iteration_validate whether you are \
         done; go on with iteration_next; when you are finished or blocked, end them with \
         iteration_complete, and only then stop.",
        iteration.id
    );
    let max = iteration.max.max(1);
    TaskHold::Begin { session, frame: Frame { mode: Mode::Loop, iteration: 0, max, prompt } }
}
