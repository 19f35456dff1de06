//! `start`, `push`, `resume`, `cancel` and `status` in the idle plugin's own format.

use stopgate_core::{FRAMES_MAX, Frame, Outcome};
use stopgate_dialects::idle::{
    FILE, IdleLoop, IdleStanding, STALE_AFTER_MS, TOPIC, TextChange, file, message,
};

use super::{Found, Place, apply, find, home, look, sheet};
use crate::context::Incumbent;
use crate::dialect::DialectCall;
use crate::dialect::desk::Held;
use crate::dialect::jwz::Store;
use crate::failure::Failure;
use crate::view::LoopView;

impl DialectCall {
    /// Begins a loop: in the message store where there is one, else in the file.
    pub fn idle_start(&self, frame: &Frame, incumbent: Incumbent) -> Result<LoopView, Failure> {
        sensible(frame)?;
        let path = self.directory.join(FILE);
        let store = Store::find(&self.directory);
        let mut held = self.hold(&home(self, store.as_ref()))?;
        let running = look(store.clone(), path.clone())?.filter(|found| is_active(&found.state));
        if let Some(found) = running {
            if incumbent == Incumbent::Keep {
                return Err(Failure::usage("an idle loop already runs in this directory").hint(
                    "nest a frame: stopgate push --dialect idle, or end it: stopgate cancel \
                     --dialect idle, start --replace",
                ));
            }
            self.abort(&mut held, &found)?;
        }
        let id = self.new_name();
        let begun = if let Some(store) = store.filter(Store::is_usable) {
            let text = message::begun(&id, frame, self.now);
            store.post(TOPIC, &text)?;
            message::read(&text)
        } else {
            let text = file::begun(&id, frame, self.now);
            held.write(&path, &text)?;
            file::read(&text)
        };
        begun.map(|state| self.view(&sheet(self, &state))).ok_or_else(unfit)
    }

    /// Puts a nested frame on top of the running loop.
    pub fn idle_push(&self, frame: &Frame) -> Result<LoopView, Failure> {
        sensible(frame)?;
        let (held, found) = self.running()?;
        if found.state.frames.len() >= FRAMES_MAX {
            return Err(Failure::usage(format!("frames are nested {FRAMES_MAX} deep already")));
        }
        let Place::Topic(store) = &found.place else {
            return Err(Failure::usage("the fallback file holds one frame, so none can be nested")
                .hint("make a message store (jwz init) and begin the loop there"));
        };
        let pushed = message::pushed(&found.text, &self.new_name(), frame, self.now);
        store.post(TOPIC, &pushed.ok_or_else(unfit)?)?;
        drop(held);
        self.idle_view()
    }

    /// Lets a loop go on that was let go because nobody had touched it.
    pub fn idle_resume(&self) -> Result<LoopView, Failure> {
        let (mut held, found) = find(self)?.ok_or_else(nothing)?;
        let stale = matches!(found.state.standing, IdleStanding::Over(Outcome::Stale, _));
        if (!stale && !is_active(&found.state)) || found.state.frames.is_empty() {
            return Err(Failure::usage("the loop is over, and not because it was stale")
                .hint("begin a new one: stopgate start --dialect idle \"GOAL\""));
        }
        apply(self, &mut held, &found, &TextChange::Revive)?;
        held.save();
        drop(held);
        self.idle_view()
    }

    /// A person ends the loop.
    pub fn idle_cancel(&self) -> Result<LoopView, Failure> {
        let (mut held, found) = self.running()?;
        let mut cancelled = found.state.clone();
        self.abort(&mut held, &found)?;
        cancelled.standing = IdleStanding::Over(Outcome::Cancelled, "USER_CANCELLED".into());
        Ok(self.view(&sheet(self, &cancelled)))
    }

    /// How the loop stands.
    pub fn idle_view(&self) -> Result<LoopView, Failure> {
        let (held, mut found) = find(self)?.ok_or_else(nothing)?;
        let age_ms = self.now.since(found.state.updated_at(self.now));
        if is_active(&found.state) && age_ms > STALE_AFTER_MS {
            found.state.standing = IdleStanding::Over(Outcome::Stale, "nobody touched it".into());
        }
        let mut sheet = sheet(self, &found.state);
        sheet.phase = held.phase_of(&sheet);
        Ok(self.view(&sheet))
    }

    /// Closes the frame on top: the one below goes on.
    pub fn idle_pop(&self) -> Result<LoopView, Failure> {
        let (mut held, found) = self.running()?;
        if found.state.frames.len() < 2 {
            return Err(Failure::usage("only the loop itself is left")
                .hint("end it with: stopgate cancel --dialect idle"));
        }
        apply(self, &mut held, &found, &TextChange::Pop)?;
        drop(held);
        self.idle_view()
    }

    /// Takes the loop in hand.
    pub(in crate::dialect) fn idle_hold(&self) -> Result<Held<'_>, Failure> {
        find(self)?.map(|(held, _)| held).ok_or_else(nothing)
    }

    fn running(&self) -> Result<(Held<'_>, Found), Failure> {
        let found = find(self)?.filter(|(_, found)| is_active(&found.state));
        found.ok_or_else(nothing)
    }

    fn abort(&self, held: &mut Held<'_>, found: &Found) -> Result<(), Failure> {
        apply(self, held, found, &TextChange::Abort("USER_CANCELLED"))?;
        held.over(Outcome::Cancelled, "a person cancelled it");
        Ok(())
    }
}

fn is_active(state: &IdleLoop) -> bool {
    state.standing == IdleStanding::Active
}

fn sensible(frame: &Frame) -> Result<(), Failure> {
    if frame.prompt.trim().is_empty() {
        return Err(Failure::usage("the goal is empty")
            .hint("stopgate start --dialect idle \"what the agent should do\""));
    }
    if frame.max == 0 {
        return Err(Failure::usage("--max-iterations must be at least 1"));
    }
    Ok(())
}

fn nothing() -> Failure {
    Failure::no_loop("no idle loop in this directory")
        .hint("begin one with: stopgate start --dialect idle \"GOAL\"")
}

fn unfit() -> Failure {
    Failure::fault("could not change the loop: its state has another form")
}
