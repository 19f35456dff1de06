use super::*;

#[test]
fn every_agent_has_a_stop_that_its_own_adapter_reads() {
    let all = CapturedPayloads::all();
    for agent in Agent::ALL {
        assert!(all.iter().any(|captured| captured.agent == agent), "{agent:?}");
    }
    for captured in &all {
        let filling = Filling {
            session: "s-1",
            cwd: Path::new("/project"),
            transcript: Path::new("/transcript"),
            message: "not yet",
        };
        let raw = filled(captured.stop(), &filling).to_string();
        let call = captured.agent.parse(raw.as_bytes(), Some("Stop"));
        let call = call.unwrap_or_else(|error| panic!("{}: {error:?}: {raw}", captured.name()));
        assert_eq!(call.session, "s-1", "{}: {raw}", captured.name());
    }
}

#[test]
fn captures_are_whole() {
    for captured in CapturedPayloads::all() {
        assert!(captured.stop().is_object(), "{}", captured.name());
        assert!(captured.continued_stop().is_object(), "{}", captured.name());
    }
    let claude = &CapturedPayloads::all()[0];
    assert!(claude.event("SubagentStop", "compaction-fork").is_some());
    assert!(claude.event("Stop", "bg").is_some());
    assert!(claude.transcript("x").contains("\"role\":\"assistant\""));
}
