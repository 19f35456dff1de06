//! Which directories of a tree are build outputs and caches.
//!
//! A copy at another path goes without them: binaries have the tree's path compiled in and would
//! read the tree's files, and a cached result proves nothing. What is installed rather than
//! built stays: `node_modules`, virtual environments, vendored sources.
//!
//! | left out | where |
//! |---|---|
//! | `target` | with a `CACHEDIR.TAG` in it, or beside `Cargo.toml`, `pom.xml`, `build.sbt` |
//! | `build`, `.gradle` | beside Gradle's files; `build` also beside `pubspec.yaml` |
//! | any directory | with `CMakeCache.txt` or `meson-private` in it |
//! | `_build` | beside `mix.exs`, `dune-project`, `rebar.config` |
//! | `.build` | beside `Package.swift` |
//! | `bin`, `obj` | beside a `.csproj`, `.fsproj` or `.vbproj` |
//! | `node_modules/.cache`, `.vite`, `.vitest` | |
//! | `.angular/cache`, `.nx/cache` | |
//! | the names in [`CACHES`], files `*.tsbuildinfo`, links `bazel-*` | anywhere |
//!
//! What git tracks is never an output, whatever it is called; the caller sees to that.

use std::fs;
use std::path::Path;

/// Directories that hold nothing but what tools can make again.
const CACHES: [&str; 19] = [
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".pytype",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".turbo",
    ".parcel-cache",
    ".jest-cache",
    ".stack-work",
    "dist-newstyle",
    "zig-cache",
    ".zig-cache",
    "zig-out",
    "elm-stuff",
    "DerivedData",
    "bazel-out",
];

/// A directory's name, and the files beside it that make it an output.
const BESIDE: [(&str, &[&str]); 6] = [
    ("target", &["Cargo.toml", "pom.xml", "build.sbt", "project.clj"]),
    ("build", &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"]),
    (".gradle", &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"]),
    ("build", &["pubspec.yaml"]),
    ("_build", &["mix.exs", "dune-project", "rebar.config"]),
    (".build", &["Package.swift"]),
];

const INSIDE: [(&str, &str); 5] = [
    ("node_modules", ".cache"),
    ("node_modules", ".vite"),
    ("node_modules", ".vitest"),
    (".angular", "cache"),
    (".nx", "cache"),
];

/// Whether a path below the root is a build output or a cache.
pub(super) fn is_output(root: &Path, path: &Path) -> bool {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy()) else { return false };
    let at = root.join(path);
    let (Some(above), Ok(found)) = (at.parent(), fs::symlink_metadata(&at)) else { return false };
    let parent = above.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    if !found.is_dir() {
        return is_output_file(&name) || (found.is_symlink() && name.starts_with("bazel-"));
    }
    CACHES.contains(&&*name)
        || INSIDE.contains(&(&*parent, &*name))
        || BESIDE.iter().any(|(output, files)| *output == name && has_any(above, files))
        || (name == "target" && at.join("CACHEDIR.TAG").is_file())
        || at.join("CMakeCache.txt").is_file()
        || at.join("meson-private").is_dir()
        || (["bin", "obj"].contains(&&*name) && has_dotnet_project(above))
}

fn is_output_file(name: &str) -> bool {
    name.ends_with(".tsbuildinfo") || name == ".eslintcache"
}

fn has_any(directory: &Path, files: &[&str]) -> bool {
    files.iter().any(|file| directory.join(file).is_file())
}

fn has_dotnet_project(directory: &Path) -> bool {
    let is_project =
        |name: &str| [".csproj", ".fsproj", ".vbproj"].iter().any(|end| name.ends_with(end));
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name());
    names.any(|name| name.to_str().is_some_and(is_project))
}
