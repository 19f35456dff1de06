//! Where the names of Go modules lead, and which of that is work.
//!
//! A `replace` in `go.mod` or a `use` in `go.work` may put a weaker copy in the place of a module
//! that tests import. One for a module that nobody knew at the start can't: only the work needs it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::text::text_path;
use super::Compare;
use crate::judges::sections::{ModuleFile, ModuleLead, with_new_leads};
use crate::judges::{JudgeRole, ProjectFiles, normal};

/// The list of vendored modules.
const VENDORED: &str = "vendor/modules.txt";

/// The original text of a `go.mod` or `go.work` with those of today's leads that are work.
pub(super) fn original_with_work(
    compare: &Compare<'_>,
    path: &Path,
    original: &str,
    today: &str,
) -> String {
    let texts = texts_of(compare, "go.mod");
    let start = ModulesAtStart::of(&texts);
    let own = path.parent().unwrap_or(Path::new(""));
    let now = |place: &Path| compare.files.text(&place.join("go.mod"));
    let named = |module: &str| is_named(compare, module);
    with_new_leads(original, today, &|lead| start.is_work(lead, own, &now, &named))
}

/// Whether a workspace that is new only adds: it uses every module of the start that it could,
/// what it adds is work, and no judge asks which modules there are.
pub(super) fn only_adds(compare: &Compare<'_>, path: &Path, today: &str) -> bool {
    let own = path.parent().unwrap_or(Path::new(""));
    let now = ModuleFile::parse(today);
    let uses = |place: &Path| {
        let is_it = |used: &str| normal(&own.join(used)).as_deref() == Some(place);
        now.leads.iter().any(|lead| matches!(lead, ModuleLead::Use(used) if is_it(used)))
    };
    let texts = texts_of(compare, "go.mod");
    let mut places = texts.iter().map(|(place, _)| place).filter(|place| place.starts_with(own));
    let added = original_with_work(compare, path, "", today);
    places.all(|place| uses(place))
        && ModuleFile::parse(&added).leads == now.leads
        && !asks_for_modules(compare)
}

/// What goes where a judge is left out: without its list, a directory of vendored modules is an
/// error.
pub(super) fn left_out(path: &Path) -> &Path {
    path.parent().filter(|_| path.ends_with(VENDORED)).unwrap_or(path)
}

/// Whether this lists vendored modules, and no judge of the start imports one of them.
pub(super) fn is_vendored_for_work(compare: &Compare<'_>, path: &Path) -> bool {
    let Some(vendor) = path.parent().filter(|_| path.ends_with(VENDORED)) else { return false };
    let is_go = |path: &Path| path.extension().is_some_and(|end| end == "go");
    let files = compare.now.files().map(|file| file.path.as_path());
    let packages = files.filter(|path| is_go(path)).filter_map(|path| path.parent());
    let packages: BTreeSet<&Path> =
        packages.filter_map(|package| package.strip_prefix(vendor).ok()).collect();
    let imports = |text: &str| {
        text.split(['"', '`']).any(|word| word.contains('.') && packages.contains(Path::new(word)))
    };
    !judges_say(compare, &is_go, &imports)
}

/// What each file of this name said at the start, by its directory.
fn texts_of(compare: &Compare<'_>, name: &str) -> Vec<(PathBuf, String)> {
    let files = compare.basis.text.files.iter();
    let own = files.filter_map(|file| {
        let path = text_path(&file.path);
        let place = path.parent().filter(|_| path.ends_with(name))?;
        Some((place.to_path_buf(), compare.original(file)?))
    });
    own.collect()
}

/// Whether a judge of the start imports a package of the module.
fn is_named(compare: &Compare<'_>, module: &str) -> bool {
    let is_go = |path: &Path| path.extension().is_some_and(|end| end == "go");
    judges_say(compare, &is_go, &|text| imports(text, module))
}

/// Whether a check goes through the modules that it is told of.
fn asks_for_modules(compare: &Compare<'_>) -> bool {
    let asks = |text: &str| text.contains("go list") || text.contains("go work");
    compare.criterion.command().is_some_and(|line| asks(&line))
        || judges_say(compare, &|path| !path.ends_with("go.mod"), &asks)
}

fn judges_say(
    compare: &Compare<'_>,
    is_meant: &dyn Fn(&Path) -> bool,
    says: &dyn Fn(&str) -> bool,
) -> bool {
    let rules = compare.noted.judges.rules();
    compare.basis.text.files.iter().any(|file| {
        let path = text_path(&file.path);
        is_meant(&path)
            && rules.role(&path) != JudgeRole::Work
            && compare.original(file).is_some_and(|text| says(&text))
    })
}

/// `"example.org/lib"`, `"example.org/lib/part"`
fn imports(text: &str, module: &str) -> bool {
    let begins = ['"', '`'].map(|mark| format!("{mark}{module}"));
    begins.iter().any(|begin| {
        let mut found = text.match_indices(begin.as_str());
        found.any(|(at, _)| text[at + begin.len()..].starts_with(['"', '`', '/']))
    })
}

/// The modules of the project as they were.
struct ModulesAtStart<'t> {
    files: Vec<(&'t Path, ModuleFile<'t>)>,
}

impl<'t> ModulesAtStart<'t> {
    fn of(texts: &'t [(PathBuf, String)]) -> Self {
        let files = texts.iter();
        Self { files: files.map(|(place, text)| (&**place, ModuleFile::parse(text))).collect() }
    }

    /// Whether a lead in the file of a directory is about modules that nothing of the start could
    /// find elsewhere; `now` is what a directory's `go.mod` says, `named` what judges import.
    fn is_work(
        &self,
        lead: &ModuleLead<'_>,
        own: &Path,
        now: &dyn Fn(&Path) -> Option<String>,
        named: &dyn Fn(&str) -> bool,
    ) -> bool {
        let (module, by) = match lead {
            ModuleLead::Use(place) => (None, *place),
            ModuleLead::Replace { module, by } => (Some(*module), *by),
        };
        // A fork of a module that is new, by its version.
        if let Some(module) = module.filter(|_| !by.starts_with(['.', '/'])) {
            return !self.needs(module, None) && !named(module);
        }
        // What is outside of the project is nobody's work.
        let Some(place) = normal(&own.join(by)) else { return false };
        let Some(text) = now(&place) else { return false };
        let Some(module) = module.or_else(|| ModuleFile::parse(&text).module) else { return false };
        let is_there =
            self.files.iter().any(|(own, file)| *own == place && file.module == Some(module));
        !self.needs(module, Some(&place)) && (is_there || !named(module))
    }

    /// Whether a module of the start needs this one, and may have found it elsewhere.
    fn needs(&self, module: &str, place: Option<&Path>) -> bool {
        let leads_there = |own: &Path, lead: &ModuleLead<'_>| match lead {
            ModuleLead::Replace { module: other, by } => {
                *other == module && place.is_some() && normal(&own.join(by)).as_deref() == place
            }
            ModuleLead::Use(_) => false,
        };
        self.files.iter().any(|(own, file)| {
            let may_need = file.requires.contains(&module) || !file.lists_all();
            may_need && !file.leads.iter().any(|lead| leads_there(own, lead))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a line of the file in a directory is work, in a project of two modules whose tests
    /// import `example.org/claim`.
    fn is_work(own: &str, line: &str) -> bool {
        let app = "module example.org/app\n\ngo 1.19\n\nrequire (\n\texample.org/claim v1.0.0\n\
            \texample.org/lib v0.0.0\n)\n\nreplace example.org/lib => ../lib\n";
        let texts = [
            (PathBuf::from("app"), app.to_string()),
            (PathBuf::from("lib"), "module example.org/lib\n".to_string()),
        ];
        let now = |place: &Path| {
            let module = match place.to_str()? {
                "lib" | "copy" => "lib",
                "app" => "app",
                "weak" => "claim",
                "checked" => "checked",
                "new" => "new",
                _ => return None,
            };
            Some(format!("module example.org/{module}\n"))
        };
        let named = |module: &str| ["claim", "checked"].iter().any(|own| module.ends_with(own));
        let file = ModuleFile::parse(line);
        let lead = file.leads.first().expect("a lead");
        ModulesAtStart::of(&texts).is_work(lead, Path::new(own), &now, &named)
    }

    #[test]
    fn modules_that_nobody_knew_are_work() {
        for (own, line) in [
            ("app", "replace example.org/new => ../new\n"),
            ("app", "replace example.org/new => example.org/fork v1.2.0\n"),
            ("", "use ./new\n"),
            // The project's own, where they were.
            ("", "use ./lib\n"),
            ("", "use ./app\n"),
            ("new", "replace example.org/lib => ../lib\n"),
        ] {
            assert!(is_work(own, line), "{own} {line}");
        }
    }

    #[test]
    fn what_the_start_found_elsewhere_judges() {
        for (own, line) in [
            ("app", "replace example.org/claim => ../weak\n"),
            ("app", "replace example.org/claim => example.org/quiet v1.0.0\n"),
            ("app", "replace example.org/lib => ../copy\n"),
            // Tests import it, and nobody required it yet.
            ("app", "replace example.org/checked => ../checked\n"),
            ("", "use ./weak\n"),
            ("", "use ./copy\n"),
            ("", "use ./checked\n"),
            ("", "use ../outside\n"),
            ("", "use /outside\n"),
            ("", "use ./empty\n"),
            ("app", "replace example.org/new => ../../new\n"),
        ] {
            assert!(!is_work(own, line), "{own} {line}");
        }
    }

    #[test]
    fn a_list_that_is_not_whole_may_need_anything() {
        let texts = [(PathBuf::new(), "module a\ngo 1.16\nrequire b.org/b v1.0.0\n".to_string())];
        let start = ModulesAtStart::of(&texts);
        assert!(start.needs("c.org/c", None));
        let texts = [(PathBuf::new(), "module a\ngo 1.17\nrequire b.org/b v1.0.0\n".to_string())];
        assert!(!ModulesAtStart::of(&texts).needs("c.org/c", None));
    }

    #[test]
    fn a_module_is_imported_by_its_name_and_by_that_of_its_parts() {
        let text = "import (\n\t\"testing\"\n\tc \"example.org/claim/part\"\n\t`b.org/b`\n)\n";
        assert!(imports(text, "example.org/claim") && imports(text, "b.org/b"));
        assert!(imports(text, "example.org"));
        assert!(!imports(text, "example.org/cla") && !imports(text, "org/claim"));
    }
}
