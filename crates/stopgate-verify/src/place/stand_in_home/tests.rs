use tempfile::TempDir;

use super::*;

/// A machine with a home, and the variables of a run.
struct Machine {
    directory: TempDir,
    variables: Vec<Variable>,
}

impl Machine {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let home = directory.path().join("home");
        for (name, text) in [
            (".npmrc", "script-shell=/bin/true\n"),
            (".config/go/env", "GOFLAGS=-run=TestEasy\n"),
            (".config/go/telemetry", "off\n"),
            (".config/git/ignore", "*.o\n"),
            (".cargo/config.toml", "[build]\nrustc-wrapper = \"true\"\n"),
            (".cargo/registry/index", "x\n"),
            ("notes.txt", "mine\n"),
        ] {
            let path = home.join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        let variables = vec![("HOME".into(), home.into()), ("PATH".into(), "/usr/bin".into())];
        Self { directory, variables }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        let value = self.path(value).into_os_string();
        self.variables.push((name.into(), value));
        self
    }

    fn mask(&self, name: &str, content: Option<&str>) -> Mask {
        Mask { path: self.path(name), content: content.map(Into::into), executable: false }
    }

    fn stand_in(&self, masks: &[Mask], scratch: &str) -> Option<StandInHome> {
        StandInHome::of(masks, &self.variables, &self.path(scratch))
    }
}

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

#[test]
fn settings_are_those_of_the_start_and_everything_else_is_there() {
    let machine = Machine::new();
    let masks = [
        machine.mask("home/.npmrc", Some("fund=false\n")),
        machine.mask("home/.config/go/env", None),
        machine.mask("home/.config/pip/pip.conf", Some("[global]\n")),
    ];
    let home = machine.stand_in(&masks, "home/.local/state/stopgate").expect("a home");
    let made = machine.path("made");
    home.make(&made, &mut []).expect("it is made");

    assert_eq!(read(&made.join(".npmrc")).as_deref(), Some("fund=false\n"));
    assert_eq!(read(&made.join(".config/go/env")), None);
    assert_eq!(read(&made.join(".config/go/telemetry")).as_deref(), Some("off\n"));
    assert_eq!(read(&made.join(".config/pip/pip.conf")).as_deref(), Some("[global]\n"));
    assert_eq!(read(&made.join(".config/git/ignore")).as_deref(), Some("*.o\n"));
    assert_eq!(read(&made.join("notes.txt")).as_deref(), Some("mine\n"));
    // The real one is as it was.
    let npmrc = read(&machine.path("home/.npmrc"));
    assert_eq!(npmrc.as_deref(), Some("script-shell=/bin/true\n"));
}

#[test]
fn what_a_program_finds_by_looking_upwards_from_the_copy_is_not_hidden() {
    let machine = Machine::new();
    let wrapper = [machine.mask("home/.cargo/config.toml", None)];
    assert!(machine.stand_in(&wrapper, "home/.local/state/stopgate").is_none());
    assert!(machine.stand_in(&wrapper, "state").is_some());
    let above = [machine.mask("work/conftest.py", None)];
    assert!(machine.stand_in(&above, "work/state").is_none());
    assert!(machine.stand_in(&above, "state").is_some());
    // A copy elsewhere does not see what was there at the start, either.
    let edited = [machine.mask("work/conftest.py", Some("import x\n"))];
    assert!(machine.stand_in(&edited, "state").is_none());
}

#[cfg(unix)]
#[test]
fn a_copy_below_the_home_by_another_name_is_below_it() {
    let machine = Machine::new();
    symlink(machine.path("home"), machine.path("alias")).expect("a link");
    let wrapper = [machine.mask("home/.cargo/config.toml", None)];
    assert!(machine.stand_in(&wrapper, "alias/state").is_none());
}

#[test]
fn variables_that_lead_to_changed_settings_lead_to_the_made_home() {
    let machine = Machine::new()
        .with("XDG_CONFIG_HOME", "home/.config")
        .with("NPM_CONFIG_USERCONFIG", "home/.npmrc")
        .with("CARGO_HOME", "home/.cargo")
        .with("NOTES", "home/.npmrc/notes")
        .with("VIRTUAL_ENV", "venv");
    let masks = [machine.mask("home/.npmrc", None), machine.mask("home/.config/go/env", None)];
    let home = machine.stand_in(&masks, "state").expect("a home");
    let mut variables = machine.variables.clone();
    home.make(&machine.path("made"), &mut variables).expect("it is made");

    let value = |name: &str| {
        let found = variables.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| PathBuf::from(value)).expect("a variable")
    };
    assert_eq!(value("HOME"), machine.path("made"));
    assert_eq!(value("XDG_CONFIG_HOME"), machine.path("made/.config"));
    assert_eq!(value("NPM_CONFIG_USERCONFIG"), machine.path("made/.npmrc"));
    // Nothing of it changed.
    assert_eq!(value("CARGO_HOME"), machine.path("home/.cargo"));
    assert_eq!(value("NOTES"), machine.path("home/.npmrc/notes"));
    assert_eq!(value("VIRTUAL_ENV"), machine.path("venv"));
    assert_eq!(value("PATH"), PathBuf::from("/usr/bin"));
}

#[test]
fn a_file_elsewhere_and_a_machine_without_a_home_are_not_helped() {
    let mut machine = Machine::new();
    let site = [machine.mask("venv/lib/python3/site-packages/x.pth", None)];
    assert!(machine.stand_in(&site, "state").is_none());
    let masks = [machine.mask("home/.npmrc", None)];
    machine.variables.clear();
    assert!(machine.stand_in(&masks, "state").is_none());
}

#[test]
fn what_the_made_home_links_to_stays_when_it_goes() {
    let machine = Machine::new();
    let home = machine.stand_in(&[machine.mask("home/.config/go/env", None)], "state");
    let made = machine.path("made");
    home.expect("a home").make(&made, &mut []).expect("it is made");
    crate::place::private_dir::remove(&made);

    assert!(!made.exists());
    for name in [".npmrc", ".config/go/env", ".config/git/ignore", ".cargo/registry/index"] {
        assert!(machine.path("home").join(name).is_file(), "{name}");
    }
}

#[test]
fn a_home_that_can_not_be_imitated_is_an_error() {
    let machine = Machine::new();
    let masks = [machine.mask("home/notes.txt/go/env", None)];
    assert!(machine.stand_in(&masks, "state").is_none());
    fs::remove_dir_all(machine.path("home/.config")).expect("removed");
    fs::write(machine.path("home/.config"), "a file now").expect("a file");
    let masks = [machine.mask("home/.config/go/env", Some("GOFLAGS=\n"))];
    let home = machine.stand_in(&masks, "state").expect("a home");
    assert!(home.make(&machine.path("made"), &mut []).is_err());
}

#[test]
fn a_tool_of_the_home_is_the_one_of_the_start_where_nothing_else_leads_to_it() {
    use std::os::unix::fs::PermissionsExt;

    let machine = Machine::new();
    let tool = machine.path("home/.local/bin/lint");
    fs::create_dir_all(tool.parent().expect("a parent")).expect("a directory");
    fs::write(&tool, "today").expect("a file");
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).expect("a mode");
    let masks = [machine.mask("home/.local/bin/lint", Some("then"))];
    let stand_in = machine.stand_in(&masks, "scratch").expect("one that can be");
    let mut variables = machine.variables.clone();
    stand_in.make(&machine.path("other"), &mut variables).expect("made");
    let own = machine.path("other/.local/bin/lint");
    assert_eq!(read(&own).as_deref(), Some("then"));
    assert_eq!(fs::metadata(&own).expect("it is there").permissions().mode() & 0o777, 0o755);
    let mut on_path = machine;
    on_path.variables[1].1 = on_path.path("home/.local/bin").into_os_string();
    assert!(on_path.stand_in(&masks, "scratch").is_none());
}
