//! Pi: no hooks, but extensions. Ours asks this program and sends what it says as a follow-up.

use crate::agent::Profile;
use crate::payload::{plain, read};
use crate::reply::block;
use crate::settings::{BridgeForm, SettingsForm};
use crate::transcript::{is_role_tool_use, role_record};
use crate::{Agent, AgentFiles, AgentVariables, Call, Malformed, Provenance};

/// All that is known of it.
pub(crate) const PROFILE: Profile = Profile {
    evidence: Provenance::Tested("0.87.1"),
    render: block,
    record: role_record,
    is_tool_use: is_role_tool_use,
    variables: AgentVariables { home: Some("PI_CODING_AGENT_DIR"), ..AgentVariables::NONE },
    files: AgentFiles {
        home: ".pi/agent",
        user: Some("extensions/stopgate.ts"),
        project: Some(".pi/extensions/stopgate.ts"),
        local: None,
        form: SettingsForm::Bridge(BridgeForm {
            text: include_str!("../../../bridges/pi/stopgate.ts"),
        }),
        programs: &["pi"],
    },
    ..Profile::plain("pi", "Pi", parse)
};

fn parse<'a>(raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
    read(Agent::Pi, raw, event, plain)
}
