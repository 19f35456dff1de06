//! What the surrounding shell may say.

use super::*;

#[test]
fn other_clients_loops_and_switches_stay_outside() {
    for name in ["CLAUDECODE", "CLAUDE_PID", "AI_AGENT", "STOPGATE_DISABLE", "STOPGATE_STORE"] {
        assert!(is_about_clients(OsStr::new(name)), "{name}");
    }
    for name in ["PATH", "HOME", "STOPGATE_TEST_SEED"] {
        assert!(!is_about_clients(OsStr::new(name)), "{name}");
    }
}
