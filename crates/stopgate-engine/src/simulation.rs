//! The use cases over a given journal in a given world, for the simulator.
//!
//! A door and nothing else: what is simulated is what ships. No sign is written or read,
//! as with a journal on a server, so that a history costs no disk.

use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_agents::Call;
use stopgate_core::{ClientCap, Criterion, Origin, SessionId, State, Verdict};
use stopgate_store::{Durability, Journal, Stored};

use crate::address::Address;
use crate::config::OnStoreError;
use crate::context::{Context, ContextParts};
use crate::engine::Engine;
use crate::failure::Failure;
use crate::home::Home;
use crate::judging::ground::PreparedLoop;
use crate::limits::{RequestedLimits, settle};
use crate::loops::start::{Beginning, StartRequest};
use crate::observe::ClientFacts;
use crate::settings::Settings;
use crate::signs::Signs;
use crate::stores::{Opened, StoreChoice, Stores};
use crate::world::World;

impl Engine {
    /// An engine over `journal` in `world`; keys are in `home`.
    pub fn simulated(journal: Box<dyn Journal>, world: Box<dyn World>, home: PathBuf) -> Self {
        let opened = Opened { journal, signs: Signs::nowhere() };
        let choice = StoreChoice {
            address: Address::Own,
            tenant: String::new(),
            deadline: Some(Duration::ZERO),
            durability: Durability::default(),
            on_error: OnStoreError::default(),
            pass: Vec::new(),
            hook_time: None,
        };
        let (settings, stores) = (Settings, Stores::default());
        let around = ContextParts { home: Home::new(home), world, settings, stores, choice };
        Context::over(opened, around).into()
    }

    /// One stop: the loop after it and the verdict, where a loop holds the session.
    pub fn simulated_stop(
        &mut self,
        call: &Call<'_>,
        session: &SessionId,
        project: &Path,
        cap: Option<ClientCap>,
    ) -> Result<Option<(State, Verdict)>, Failure> {
        let judged = self.stops().judge_stop(
            call,
            session,
            Some(project),
            &ClientFacts { cap, is_driver: false },
        )?;
        Ok(judged.map(|judged| (judged.state, judged.verdict)))
    }

    /// Somebody prompts the agent.
    pub fn simulated_prompt(
        &mut self,
        call: &Call<'_>,
        session: &SessionId,
        project: &Path,
    ) -> Result<(), Failure> {
        self.sessions().prompted(call, session, project).map(|_| ())
    }

    /// A turn that broke off.
    pub fn simulated_failure(
        &mut self,
        call: &Call<'_>,
        session: &SessionId,
    ) -> Result<(), Failure> {
        self.sessions().turn_failed(call, session)
    }

    /// Begins a loop on bare ground: no project file is read and nothing is sealed.
    pub fn simulated_start(
        &mut self,
        request: &StartRequest,
        criteria: Vec<Criterion>,
    ) -> Result<Stored, Failure> {
        let session = request.session.as_deref().and_then(SessionId::new);
        if let Some(session) = &session {
            self.loops().refuse_taken(session, request.incumbent)?;
            self.loops().make_room(request, session)?;
        }
        let nobody = RequestedLimits::default();
        let (limits, _) = settle(&request.limits, &nobody, &nobody);
        let laid = PreparedLoop { criteria, ..PreparedLoop::default() };
        let origin = Origin::default();
        let beginning = Beginning { laid: &laid, gates: &[], origin: &origin };
        self.loops().begin(request, session.as_ref(), limits, beginning)
    }
}
