//! `OpenCode`: no hooks, but plugins. Ours asks this program and sends what it says as a new prompt.

use crate::agent::Profile;
use crate::payload::{plain, read};
use crate::reply::block;
use crate::settings::{BridgeForm, SettingsForm};
use crate::{Agent, AgentFiles, AgentVariables, Call, Malformed, Provenance};

/// All that is known of it.
pub(crate) const PROFILE: Profile = Profile {
    evidence: Provenance::Tested("1.18.33"),
    render: block,
    variables: AgentVariables {
        marks: &["OPENCODE"],
        home: Some("OPENCODE_CONFIG_DIR"),
        ..AgentVariables::NONE
    },
    files: AgentFiles {
        home: ".config/opencode",
        user: Some("plugins/stopgate.js"),
        project: Some(".opencode/plugins/stopgate.js"),
        local: None,
        form: SettingsForm::Bridge(BridgeForm {
            text: include_str!("../../../bridges/opencode/stopgate.js"),
        }),
        programs: &["opencode"],
    },
    ..Profile::plain("opencode", "OpenCode", parse)
};

fn parse<'a>(raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
    read(Agent::OpenCode, raw, event, plain)
}
