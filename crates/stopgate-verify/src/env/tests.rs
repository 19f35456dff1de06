use std::ffi::OsString;
use std::path::Path;

use super::{Additions, Variable, environment, every_go_test, may_pass, sources, tool_environment};

#[test]
fn programs_get_what_they_need() {
    given("PATH=/bin HOME=/h LC_TIME=C http_proxy=http://u:p@proxy npm_config_cache=/c");
    given("CARGO_HOME=/c GOPATH=/g PYTHONPATH=/p VIRTUAL_ENV=/v CI=1 RUSTFLAGS=-g");
}

#[test]
fn what_is_not_needed_stays_here() {
    withheld("GIT_DIR=/g GIT_INDEX_FILE=/i GIT_WORK_TREE=/w");
    withheld("MAKEFLAGS=-j --jobserver-auth=3,4 CARGO_MAKEFLAGS=x PWD=/elsewhere");
    withheld("SSH_AUTH_SOCK=/s DATABASE_URL=x EDITOR=vi STOPGATE_HOME=/s");
}

#[test]
fn a_secret_stays_here_even_among_what_is_needed() {
    withheld("CARGO_REGISTRY_TOKEN=x NPM_CONFIG__AUTH=x NODE_AUTH_TOKEN=x");
    withheld("GOOGLE_CLOUD_PROJECT=x PYTHON_API_KEY=x RUST_PASSWORD=x");
    withheld("npm_config_//r/:_authToken=x PIP_INDEX_URL=https://me:x@host/");
    withheld("CLAUDE_CODE=1 ANTHROPIC_API_KEY=x SLACK_WEBHOOK=x AI_AGENT=y");
}

#[test]
fn a_person_may_name_a_secret() {
    let pass = ["MY_TOKEN".to_string(), "AWS_*".to_string()];
    let ours = variables("MY_TOKEN=a AWS_KEY=b MY_TOKENS=c OTHER=d");
    let theirs = environment(ours.into_iter(), &Additions { person: &pass, ..plain() });
    assert_eq!(shown(&theirs), "MY_TOKEN=a AWS_KEY=b STOPGATE_CHECK=m STOPGATE_DISABLE=1");
}

#[test]
fn a_project_s_file_may_not() {
    let pass = ["A*".to_string(), "MY_TOKEN".to_string(), "DATABASE_HOST".to_string()];
    let ours = variables("APP=1 AWS_KEY=b ANTHROPIC_API_KEY=k MY_TOKEN=a DATABASE_HOST=h");
    let theirs = environment(ours.into_iter(), &Additions { pass: &pass, ..plain() });
    assert_eq!(shown(&theirs), "APP=1 DATABASE_HOST=h STOPGATE_CHECK=m STOPGATE_DISABLE=1");
    for refused in
        ["*", "", "**", "A*", "AWS_*", "ANTHROPIC_API_KEY", "GH_TOKEN", "openai_*", "CL*"]
    {
        assert!(!may_pass(refused), "{refused}");
    }
    for allowed in ["DATABASE_HOST", "PG*", "MY_APP_*", "TEST_SEED"] {
        assert!(may_pass(allowed), "{allowed}");
    }
}

#[test]
fn our_own_variables_come_last_and_win() {
    let set = [("STOPGATE_DISABLE".to_string(), "0".to_string()), ("A".into(), "b".into())];
    let additions = Additions { set: &set, scratch: Some(Path::new("/t")), ..plain() };
    let theirs = environment(variables("TMPDIR=/x STOPGATE_CHECK=outer").into_iter(), &additions);
    assert_eq!(
        shown(&theirs),
        "TMPDIR=/x TMPDIR=/t TMP=/t TEMP=/t PYTHONPYCACHEPREFIX=/t/pycache PYTHONDONTWRITEBYTECODE= TURBO_FORCE=true \
         NX_SKIP_NX_CACHE=true RUFF_NO_CACHE=true GOFLAGS=-count=1 STOPGATE_DISABLE=0 A=b \
         STOPGATE_CHECK=outer:m STOPGATE_DISABLE=1"
    );
}

#[test]
fn what_was_noted_at_the_start_wins_over_what_is_set_now() {
    let noted = variables("PATH=/start RUSTFLAGS=-g");
    let theirs = sources(Some(&noted), &plain());
    let is_noted = |name: &str| theirs.iter().filter(|(own, _)| own == name).count();
    assert_eq!((is_noted("PATH"), is_noted("RUSTFLAGS")), (1, 1));
    assert_eq!(theirs.iter().find(|(name, _)| name == "PATH").unwrap().1, "/start");
    assert_eq!(is_noted("HOME"), 0, "the home of this process is not the one of the start");
}

#[test]
fn a_tool_is_neither_led_astray_nor_told_secrets() {
    let ours = variables(
        "GIT_DIR=/g GIT_TRACE=1 GIT_CONFIG_GLOBAL=/c GIT_AUTHOR_NAME=a ANY=1 PATH=/bin \
         ANTHROPIC_API_KEY=k GH_TOKEN=t JWZ_STORE=s",
    );
    assert_eq!(
        shown(&tool_environment(ours.into_iter())),
        "GIT_CONFIG_GLOBAL=/c GIT_AUTHOR_NAME=a PATH=/bin JWZ_STORE=s GIT_OPTIONAL_LOCKS=0 \
         GIT_TERMINAL_PROMPT=0 GIT_NO_LAZY_FETCH=1 GIT_ALLOW_PROTOCOL=none LC_ALL=C"
    );
}

#[track_caller]
fn given(ours: &str) {
    let theirs = environment(variables(ours).into_iter(), &plain());
    assert_eq!(shown(&theirs), format!("{ours} STOPGATE_CHECK=m STOPGATE_DISABLE=1"));
}

#[track_caller]
fn withheld(ours: &str) {
    let theirs = environment(variables(ours).into_iter(), &plain());
    assert_eq!(shown(&theirs), "STOPGATE_CHECK=m STOPGATE_DISABLE=1", "{ours}");
}

fn plain() -> Additions<'static> {
    Additions { pass: &[], person: &[], set: &[], scratch: None, mark: "m" }
}

fn variables(text: &str) -> Vec<Variable> {
    let split = |word: &str| word.split_once('=').map(|(n, v)| (n.into(), v.into()));
    text.split(' ').filter_map(split).collect::<Vec<(OsString, OsString)>>()
}

fn shown(variables: &[Variable]) -> String {
    let show = |(n, v): &Variable| format!("{}={}", n.display(), v.display());
    variables.iter().map(show).collect::<Vec<_>>().join(" ")
}

#[test]
fn go_names_every_test_where_nobody_reads_what_it_prints() {
    let flags = |command: &str, ours: &str| {
        every_go_test(command, &variables(ours)).map(|own| shown(&[own])).unwrap_or_default()
    };
    assert_eq!(flags("go test ./...", ""), "GOFLAGS=-v");
    assert_eq!(flags("cd api && go test -race ./...", "GOFLAGS=-mod=mod"), "GOFLAGS=-mod=mod -v");
    for command in [
        "go test -json ./...",
        "go test ./... | tail -1",
        "go test ./... > log",
        "test -z \"$(go vet ./...)\" && go test ./...",
        "go vet ./...",
        "make test",
    ] {
        assert_eq!(flags(command, ""), "", "{command}");
    }
}
