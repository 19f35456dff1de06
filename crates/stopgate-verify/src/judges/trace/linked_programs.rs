//! Programs in `node_modules/.bin` that are scripts of the project itself: `mini-lint` leads to `tools/lint.cjs`.

use std::path::PathBuf;

use stopgate_system::CanonicalPath;

use super::super::names::is_foreign;
use super::super::shell::OutputFate;
use super::super::tools::{Trade, is_interpreter, is_shell, trade_of};
use super::{Stand, Tracer};

const BIN: &str = "node_modules/.bin";

/// Follows a name that leads to a script of the project; says whether it does.
pub(super) fn linked_program(
    tracer: &mut Tracer<'_>,
    name: &str,
    rest: &[&str],
    fate: OutputFate,
    stand: &Stand,
) -> bool {
    let is_known = trade_of(name) != Trade::Unknown || is_interpreter(name) || is_shell(name);
    let Some(path) = (!is_known).then(|| script_behind(tracer, name, stand)).flatten() else {
        return false;
    };
    tracer.tool("node");
    tracer.arguments_of(rest, stand);
    tracer.script_file(path.clone(), rest, fate, stand);
    if !tracer.trace.judges.contains_key(&path) {
        tracer.unknown.insert(name.into());
    }
    true
}

fn script_behind(tracer: &Tracer<'_>, name: &str, stand: &Stand) -> Option<PathBuf> {
    let root = tracer.root.canonical().ok()?;
    let links =
        stand.directory.ancestors().map(|place| tracer.root.join(place).join(BIN).join(name));
    let link = links.into_iter().find(|link| link.is_symlink())?;
    let path = link.canonical().ok()?.strip_prefix(root).ok()?.to_path_buf();
    (tracer.files.paths().contains(&path) && !is_foreign(&path)).then_some(path)
}
