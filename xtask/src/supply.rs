//! What others wrote: whether it may be used (`deny`), and a list of it (`sbom`).

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::Verdict;
use crate::tools;

/// What the released program is built for.
const PLATFORM: &str = "x86_64-unknown-linux-musl";

/// Licences, bans and sources always; advisories only where their database can be had.
pub(crate) fn deny() -> Result<Verdict> {
    if let Err(error) = tools::cargo_tool("cargo-deny") {
        println!(
            "cargo-deny is missing ({error:#}); the tests in tests/cli/tidy.rs still look at licences and sources."
        );
        return Ok(Verdict::Broken);
    }
    let fine = check(&["licenses", "bans", "sources"], &[])?;
    let advisories = if check(&["advisories"], &[])? {
        "no advisory applies"
    } else if has_database() {
        println!("advisories: BROKEN, see above");
        return Ok(Verdict::Broken);
    } else {
        "not looked at: the database of advisories can't be reached from here"
    };
    println!("licences, bans, sources: {}", if fine { "ok" } else { "BROKEN" });
    println!("advisories: {advisories}");
    Ok(Verdict::from(fine))
}

fn check(what: &[&str], options: &[&str]) -> Result<bool> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(tools::root()?).args(["deny", "--log-level", "error"]).args(options);
    cargo.arg("check").args(what);
    Ok(cargo.status().context("start cargo-deny")?.success())
}

/// Whether a copy of the database lies where cargo-deny puts it.
fn has_database() -> bool {
    let Some(home) = std::env::home_dir() else { return false };
    let directory = std::env::var_os("CARGO_HOME").map_or_else(|| home.join(".cargo"), Into::into);
    let kept = fs::read_dir(directory.join("advisory-dbs")).into_iter().flatten().flatten();
    kept.into_iter().any(|entry| entry.path().join("crates").is_dir())
}

/// Writes what the program is built from to `target/stopgate.cdx.json`, as `CycloneDX` 1.5.
pub(crate) fn sbom() -> Result<Verdict> {
    let bill = bill_of_materials()?;
    let count = bill.matches("\"purl\"").count() - 1;
    let file = tools::root()?.join("target/stopgate.cdx.json");
    fs::write(&file, bill).with_context(|| format!("write {}", file.display()))?;
    println!("{}: {count} components", file.display());
    Ok(Verdict::Fine)
}

/// What the program is built from, as `CycloneDX` 1.5.
pub(crate) fn bill_of_materials() -> Result<String> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(tools::root()?).args(["metadata", "--locked", "--format-version", "1"]);
    cargo.args(["--filter-platform", PLATFORM]);
    let said = cargo.output().context("start cargo metadata")?;
    let metadata: Value = serde_json::from_slice(&said.stdout).context("read cargo's metadata")?;
    let bill = bill(&metadata).context("find the program in cargo's metadata")?;
    Ok(serde_json::to_string_pretty(&bill)?)
}

/// The bill of what is linked into the program: no tests, no build scripts.
fn bill(metadata: &Value) -> Option<Value> {
    let packages: BTreeMap<&str, &Value> = metadata["packages"]
        .as_array()?
        .iter()
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let links = links(metadata)?;
    let (own, program) = packages.iter().find(|(_, package)| package["name"] == "stopgate")?;
    let mut seen: Vec<&str> = vec![own];
    let mut at = 0;
    while let Some(id) = seen.get(at).copied() {
        let new = links.get(id).into_iter().flatten().filter(|id| !seen.contains(id));
        let new: Vec<&str> = new.copied().collect();
        seen.extend(new);
        at += 1;
    }
    seen.sort_unstable();
    seen.dedup();
    let others = || seen.iter().filter(|id| *id != own);
    let components: Vec<Value> =
        others().filter_map(|id| packages.get(id)).map(|package| component(package)).collect();
    let dependencies: Vec<Value> = seen
        .iter()
        .filter_map(|id| {
            let below = links.get(id).into_iter().flatten();
            let below: Vec<String> =
                below.filter_map(|id| packages.get(id)).map(|package| url(package)).collect();
            Some(json!({"ref": url(packages.get(id)?), "dependsOn": below}))
        })
        .collect();
    Some(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(program)},
        "components": components,
        "dependencies": dependencies,
    }))
}

/// Which packages a package links, by the ids that cargo gives them.
fn links(metadata: &Value) -> Option<BTreeMap<&str, Vec<&str>>> {
    let nodes = metadata["resolve"]["nodes"].as_array()?.iter();
    let normal = |dependency: &&Value| {
        let kinds = dependency["dep_kinds"].as_array().into_iter().flatten();
        kinds.into_iter().any(|kind| kind["kind"].is_null())
    };
    nodes
        .map(|node| {
            let below = node["deps"].as_array()?.iter().filter(normal);
            Some((node["id"].as_str()?, below.filter_map(|d| d["pkg"].as_str()).collect()))
        })
        .collect()
}

fn component(package: &Value) -> Value {
    let licence = package["license"].as_str().unwrap_or("unknown");
    json!({
        "type": if package["name"] == "stopgate" { "application" } else { "library" },
        "bom-ref": url(package),
        "name": package["name"],
        "version": package["version"],
        "licenses": [{"expression": licence}],
        "purl": url(package),
        "scope": "required",
    })
}

fn url(package: &Value) -> String {
    let text = |name: &str| package[name].as_str().unwrap_or_default().to_string();
    format!("pkg:cargo/{}@{}", text("name"), text("version"))
}

#[cfg(test)]
mod tests;
