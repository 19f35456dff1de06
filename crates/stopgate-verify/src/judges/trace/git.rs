//! What a check asks git: which files it names, and which it compares with a commit.

use std::path::{Path, PathBuf};

use super::super::by_path::is_reference;
use super::super::files::inner;
use super::super::names::{said, says_judge};
use super::super::role::Why;
use super::super::shell::is_open;
use super::{Stand, Tracer};

/// What git makes of the files depends on its attributes, and `git show HEAD:tests/run.sh`
/// names a file of the project.
pub(super) fn asks(tracer: &mut Tracer<'_>, rest: &[&str], stand: &Stand) {
    tracer.tool("git");
    if rest.starts_with(&["hook", "run"]) {
        return run_hook(tracer, rest, stand);
    }
    let named = rest.iter().filter_map(|word| word.split_once(':')).map(|(_, path)| path);
    for path in named.filter(|path| !path.is_empty() && !is_open(path)) {
        let own = path.strip_prefix("./").map_or(Path::new(""), |_| &stand.directory);
        let file = inner(tracer.root, own, path);
        let file = file.filter(|file| tracer.files.paths().contains(file));
        let judges = |file: &PathBuf| said(file).is_some() || says_judge(file);
        if let Some(file) = file.filter(judges) {
            tracer.follow(&file, Why::Script, stand);
        }
    }
    compare(tracer, rest, stand);
}

/// `sh golden.sh && git diff --exit-code -- golden`: references that are written anew.
fn compare(tracer: &mut Tracer<'_>, rest: &[&str], stand: &Stand) {
    let says = |options: &[&str]| rest.iter().any(|word| options.contains(word));
    if !(says(&["diff"]) && says(&["--exit-code", "--quiet"]) || says(&["status"])) {
        return;
    }
    tracer.trace.compares_by_git = true;
    let words = rest.iter().filter(|word| !word.starts_with('-'));
    let compared = words.flat_map(|word| tracer.files_of(stand, word));
    for path in compared.filter(|path| is_reference(path)).collect::<Vec<_>>() {
        tracer.judge(path, Why::TestData);
    }
}

/// `git hook run pre-commit`: the script in the project's own directory of hooks.
fn run_hook(tracer: &mut Tracer<'_>, rest: &[&str], stand: &Stand) {
    let Some(name) = rest.iter().skip(2).find(|word| !word.starts_with('-')) else { return };
    let config = tracer.files.text(Path::new(".git/config")).unwrap_or_default();
    let own = config.lines().filter_map(|line| line.split_once('='));
    let own = own.filter(|(key, _)| key.trim().eq_ignore_ascii_case("hooksPath"));
    let Some(place) = own.map(|(_, value)| value.trim()).next_back() else { return };
    let path = inner(tracer.root, Path::new(""), place).map(|place| place.join(name));
    if let Some(path) = path.filter(|path| tracer.files.paths().contains(path)) {
        tracer.follow(&path, Why::Script, stand);
    }
}
