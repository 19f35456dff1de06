//! npm packages: one with a starter, and one for each platform with the program.
//!
//! No package has an install script: npm picks the right platform's by itself.

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::about::PackageFacts;
use super::archive::{Directories, PackedFile, tar_gz};
use super::platform::{BuiltProgram, Platform};
use super::plugins::pretty;

/// The package that people name; it starts the one of their platform.
pub(crate) fn npm_starter(facts: &PackageFacts) -> Result<PackedFile> {
    let name = |platform: &Platform| npm_name(facts, *platform);
    let others: Map<String, Value> = Platform::ALL
        .iter()
        .map(|platform| (name(platform), facts.version.clone().into()))
        .collect();
    let mut manifest = manifest(facts, &facts.name);
    manifest["bin"] = json!({"stopgate": "bin/stopgate.js"});
    manifest["optionalDependencies"] = Value::Object(others);
    manifest["keywords"] = json!(facts.keywords);
    let starter = include_str!("../../../packages/npm/stopgate.js");
    let files = vec![
        PackedFile::text("package.json", pretty(&manifest)),
        PackedFile::program("bin/stopgate.js", starter.as_bytes()),
        PackedFile::text("README.md", readme(facts)),
    ];
    pack(facts, &facts.name, files)
}

/// The package of one platform.
pub(crate) fn npm_program(facts: &PackageFacts, program: &BuiltProgram) -> Result<PackedFile> {
    let platform = program.platform;
    let name = npm_name(facts, platform);
    let mut manifest = manifest(facts, &name);
    manifest["os"] = json!([platform.node.0]);
    manifest["cpu"] = json!([platform.node.1]);
    manifest["preferUnplugged"] = true.into();
    let files = vec![
        PackedFile::text("package.json", pretty(&manifest)),
        PackedFile::program(format!("bin/{}", platform.program()), &program.bytes),
    ];
    pack(facts, &name, files)
}

fn npm_name(facts: &PackageFacts, platform: Platform) -> String {
    format!("{}-{}", facts.name, platform.word)
}

fn manifest(facts: &PackageFacts, name: &str) -> Value {
    json!({
        "name": name,
        "version": facts.version,
        "description": facts.description,
        "license": facts.license,
        "author": facts.author,
        "repository": {"type": "git", "url": format!("git+{}.git", facts.repository)},
    })
}

fn readme(facts: &PackageFacts) -> String {
    format!(
        "# {}\n\n{}.\n\n    npx {name} try       # one minute, touches nothing of yours\n    npm install -g {name}\n    {name} install claude\n",
        facts.name,
        facts.description,
        name = facts.name
    )
}

fn pack(facts: &PackageFacts, name: &str, mut files: Vec<PackedFile>) -> Result<PackedFile> {
    files.push(PackedFile::text("LICENSE", facts.license_text.clone()));
    let files: Vec<PackedFile> = files.into_iter().map(|file| file.below("package")).collect();
    let bytes = tar_gz(&files, Directories::Implied)?;
    Ok(PackedFile::text(format!("{name}-npm-{}.tgz", facts.version), bytes))
}
