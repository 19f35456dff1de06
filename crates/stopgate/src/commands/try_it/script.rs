//! What the scripted agent does and says.

use stopgate_core::Outcome;

/// One loop from its beginning to its end.
pub(super) struct ScriptedLoop {
    /// What it shows.
    pub(super) title: &'static str,
    /// What the loop is for.
    pub(super) goal: &'static str,
    /// What is in the project when the loop begins.
    pub(super) files: &'static [Written],
    /// The check that proves it, as `start` takes it.
    pub(super) check: Option<&'static str>,
    /// The file that the check judges by, which the work must not change.
    pub(super) protect: Option<&'static str>,
    /// The session's name.
    pub(super) session: &'static str,
    /// What the agent does.
    pub(super) steps: &'static [PlayedTurn],
}

/// One turn of the agent, up to its stop.
pub(super) struct PlayedTurn {
    /// What it is about.
    pub(super) title: &'static str,
    /// What the agent does.
    pub(super) does: Deed,
    /// Its last words.
    pub(super) says: &'static str,
    /// How its stop must be answered.
    pub(super) expected: ExpectedAnswer,
}

/// What the agent does before it stops.
pub(super) enum Deed {
    /// It only talks.
    Nothing,
    /// It writes files of the project.
    Writes(&'static [Written]),
}

/// A file that is written.
pub(super) struct Written {
    /// Its name.
    pub(super) name: &'static str,
    /// All of it.
    pub(super) content: &'static str,
}

/// How a stop must be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpectedAnswer {
    /// The agent is sent back to work.
    SentBack(ScriptedClaim),
    /// The loop ends with this outcome.
    Ends(Outcome),
}

/// Whether the agent says that it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScriptedClaim {
    /// It does, in a way that counts.
    Heard,
    /// It does not.
    None,
}

const TEST: &str = "sh greet.sh | grep -x 'hello, world'\n";

/// The whole play.
pub(super) const SCENES: [ScriptedLoop; 2] = [
    ScriptedLoop {
        title: "a check decides",
        goal: "greet.sh says hello, world",
        files: &[Written { name: "test.sh", content: TEST }],
        check: Some("greeting=sh test.sh"),
        protect: Some("test.sh"),
        session: "7e570001-0000-4000-8000-000000000000",
        steps: &[
            PlayedTurn {
                title: "The agent stops too early.",
                does: Deed::Writes(&[Written { name: "greet.sh", content: "# TODO\n" }]),
                says: "I have set up greet.sh. The greeting itself can come later.",
                expected: ExpectedAnswer::SentBack(ScriptedClaim::None),
            },
            PlayedTurn {
                title: "It quotes the marker that means done, in a code block.",
                does: Deed::Nothing,
                says: "Once it works I will end with:\n```\n<promise>COMPLETE</promise>\n```",
                expected: ExpectedAnswer::SentBack(ScriptedClaim::None),
            },
            PlayedTurn {
                title: "It claims to be done, and is not.",
                does: Deed::Writes(&[Written { name: "greet.sh", content: "echo helo, world\n" }]),
                says: "Everything works and all tests pass.\n\n<promise>COMPLETE</promise>",
                expected: ExpectedAnswer::SentBack(ScriptedClaim::Heard),
            },
            PlayedTurn {
                title: "It weakens the test instead.",
                does: Deed::Writes(&[Written { name: "test.sh", content: "exit 0\n" }]),
                says: "All tests pass now.\n\n<promise>COMPLETE</promise>",
                expected: ExpectedAnswer::SentBack(ScriptedClaim::Heard),
            },
            PlayedTurn {
                title: "It puts the test back and does the work.",
                does: Deed::Writes(&[
                    Written { name: "test.sh", content: TEST },
                    Written { name: "greet.sh", content: "echo hello, world\n" },
                ]),
                says: "I had misspelt hello; it is right now.\n\n<promise>COMPLETE</promise>",
                expected: ExpectedAnswer::Ends(Outcome::Done),
            },
        ],
    },
    ScriptedLoop {
        title: "no check, only the agent's word",
        goal: "the greeting is friendly",
        files: &[],
        check: None,
        protect: None,
        session: "7e570002-0000-4000-8000-000000000000",
        steps: &[
            PlayedTurn {
                title: "The agent stops without a word about the goal.",
                does: Deed::Nothing,
                says: "I have looked at the greeting.",
                expected: ExpectedAnswer::SentBack(ScriptedClaim::None),
            },
            PlayedTurn {
                title: "It gives its word.",
                does: Deed::Nothing,
                says: "The greeting is friendly enough.\n\n<promise>COMPLETE</promise>",
                expected: ExpectedAnswer::Ends(Outcome::Attested),
            },
        ],
    },
];
