//! What keys ask for, carried out by the same use cases as the commands.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use stopgate_core::{Rest, Verified};
use stopgate_engine::{Approval, ApprovalAsked, Engine, Failure, LoopTarget};
use stopgate_tui::{Board, BoardCommand};

use super::super::common;

/// What is under way.
pub(super) struct WishRunner {
    sender: Sender<String>,
    told: Receiver<String>,
    /// What was shown of a loop that waits for a person's word.
    asked: Option<(String, ApprovalAsked)>,
}

impl Default for WishRunner {
    fn default() -> Self {
        let (sender, told) = channel();
        Self { sender, told, asked: None }
    }
}

impl WishRunner {
    /// Carries out a wish, or says why not.
    pub(super) fn grant(
        &mut self,
        engine: &mut Engine,
        board: &mut Board,
        wish: BoardCommand,
    ) -> Result<(), Failure> {
        let named = |id: &String| LoopTarget::Named(id.clone());
        match wish {
            BoardCommand::Quit => {}
            BoardCommand::Open(id) => board.open(&id, engine.records().chronicle(&id)?),
            BoardCommand::Pause(id) => {
                engine.loops().pause(&named(&id), Rest::Resume)?;
                board.tell(&format!("Loop {id} is paused; r lets it go on."));
            }
            BoardCommand::Resume(id) => {
                engine.loops().resume(&named(&id), None)?;
                board.tell(&format!(
                    "Loop {id} is resumed; an agent that has stopped needs a prompt."
                ));
            }
            BoardCommand::Cancel(id) => {
                engine.loops().cancel(&named(&id))?;
                board.tell(&format!("Loop {id} is cancelled."));
            }
            BoardCommand::Answer(id, text) => {
                engine.handover().answer(&named(&id), &text)?;
                board.tell(&format!("Answered: loop {id} goes on."));
            }
            BoardCommand::AskApproval(id) => {
                let asked = engine.approvals().approval_asked(&named(&id), None)?;
                board.ask_approval(&id, &lines(&id, &asked));
                self.asked = Some((id, asked));
            }
            BoardCommand::Approve(id) => self.approve(id, board),
            BoardCommand::Verify(id) => {
                board.tell(&format!("Running the checks of loop {id} …"));
                self.begin(move || verify(&id));
            }
        }
        engine.settle();
        Ok(())
    }

    /// Shows what came of what takes longer; whether there is something.
    pub(super) fn news(&self, board: &mut Board) -> bool {
        let told = self.told.try_recv();
        if let Ok(told) = &told {
            board.tell(told);
        }
        told.is_ok()
    }

    fn approve(&mut self, id: String, board: &mut Board) {
        let Some((shown, asked)) = self.asked.take().filter(|(shown, _)| *shown == id) else {
            return board.tell("Nothing was approved: press a first, and look.");
        };
        board.tell(&format!("Approved; running the checks of loop {shown} …"));
        self.begin(move || {
            let approval = common::engine()?.approvals().approve(&LoopTarget::Named(id), &asked)?;
            Ok(approved(&approval))
        });
    }

    /// Runs what takes longer beside the view, with an engine of its own.
    fn begin(&self, act: impl FnOnce() -> Result<String, Failure> + Send + 'static) {
        let sender = self.sender.clone();
        thread::spawn(move || {
            let told = act().unwrap_or_else(|failure| failure.story());
            // A view that is gone needs no answer.
            let _ = sender.send(told);
        });
    }
}

fn verify(id: &str) -> Result<String, Failure> {
    let found = common::engine()?.verifier().verify(&LoopTarget::Named(id.into()))?;
    let said = match found.result {
        Verified::Pass => "every required check passes",
        Verified::Fail => "not proven: at least one required check does not pass",
        Verified::NeedsApproval => "every check passes, but for judges that changed",
        Verified::Tampered => "the record was forged",
        Verified::Nothing => "there is nothing to verify",
    };
    Ok(format!("Loop {id}: {said}."))
}

fn approved(approval: &Approval) -> String {
    let id = &approval.stored.state.id;
    match (&approval.left, approval.stored.state.outcome()) {
        (Some(left), _) => format!("Loop {id}: {left}"),
        (None, Some(outcome)) => format!("Loop {id} ended as {outcome}."),
        (None, None) => format!("Loop {id} goes on."),
    }
}

/// What an approval accepts; the files themselves are shown by the command.
fn lines(id: &str, asked: &ApprovalAsked) -> Vec<String> {
    let mut lines = Vec::new();
    if asked.agents_choice {
        lines.push("An agent chose the criteria; your word makes them yours.".into());
    }
    lines.extend(asked.criteria.iter().map(|name| format!("waits for your word: {name}")));
    lines.extend(asked.failing.iter().map(|test| format!("a test of the start fails: {test}")));
    lines.extend(asked.changed.texts.iter().map(|text| format!("changed since the start: {text}")));
    if asked.digest.is_some() {
        lines.push(format!("to see the changes themselves: stopgate approve {id}"));
    }
    lines
}
