//! What is started for a turn.

use super::*;

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(String::from).collect()
}

fn turn(prompt: &str) -> CommandTurn<'_> {
    CommandTurn {
        session: TurnSession::New("ID"),
        model: Some("large"),
        directory: Path::new("/"),
        prompt,
        prompt_file: Path::new("/tmp/prompt"),
        usage_file: None,
        helper: None,
    }
}

#[test]
fn any_command_is_given_the_prompt_where_it_asks_for_it_else_as_input() {
    let command = AgentCommand::read(&words("sh agent.sh --with {model}")).unwrap();
    let started = command.start(&turn("do it"));
    assert_eq!(started.argv, words("sh agent.sh --with large"));
    assert_eq!(started.input, Some(CommandInput::Whole("do it".into())));

    let command = AgentCommand::read(&words("./agent {prompt_file} {prompt}")).unwrap();
    let started = command.start(&turn("{model} and {prompt_file}"));
    let expected = ["./agent", "/tmp/prompt", "{model} and {prompt_file}"];
    assert_eq!((started.argv, started.input), (expected.map(String::from).to_vec(), None));
}

#[test]
fn a_known_client_is_recognised_by_name_and_the_places_are_ours_to_fill() {
    let command =
        AgentCommand::read(&words("/usr/bin/claude --model {model} -p {prompt}")).unwrap();
    assert_eq!(command.agent(), Some(Agent::Claude));
    let started = command.start(&turn("do it"));
    let expected = "/usr/bin/claude --input-format stream-json --permission-prompt-tool stdio \
                    --model large --output-format stream-json --verbose --session-id ID -p do it";
    assert_eq!(started.argv.join(" "), expected);
    assert!(matches!(started.input, Some(CommandInput::Open(line)) if line.contains("do it")));
    let line = command.start(&CommandTurn { model: None, ..turn("do it") }).argv.join(" ");
    assert!(!line.contains("--model"), "{line}");
}

#[test]
fn words_around_a_prompt_stay_part_of_it() {
    let words = ["claude", "-p", "Be brief. {prompt}"].map(String::from);
    let started = AgentCommand::read(&words).unwrap().start(&turn("do it"));
    assert_eq!(started.argv.last().map(String::as_str), Some("Be brief. do it"));
    assert_eq!(started.argv.iter().filter(|arg| *arg == "-p").count(), 1);
}

#[test]
fn a_command_must_be_named() {
    assert!(AgentCommand::read(&[]).is_err());
}
