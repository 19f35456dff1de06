//! A Debian package: the program, what it is, and its licence.

use anyhow::Result;

use super::about::PackageFacts;
use super::archive::{Directories, PackedFile, ar, tar_gz};
use super::platform::BuiltProgram;

/// The package, for a platform that Debian has.
pub(crate) fn deb(facts: &PackageFacts, program: &BuiltProgram) -> Result<Option<PackedFile>> {
    let Some(architecture) = program.platform.debian else { return Ok(None) };
    let PackageFacts { name, version, .. } = facts;
    let documents = format!("./usr/share/doc/{name}");
    let files = [
        PackedFile::program(format!("./usr/bin/{name}"), &program.bytes),
        PackedFile::text(format!("{documents}/copyright"), copyright(facts)),
    ];
    let control = control(facts, architecture, &files);
    let control = [PackedFile::text("./control", control)];
    let bytes = ar(&[
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", tar_gz(&control, Directories::Named)?),
        ("data.tar.gz", tar_gz(&files, Directories::Named)?),
    ]);
    Ok(Some(PackedFile::text(format!("{name}_{version}_{architecture}.deb"), bytes)))
}

fn control(facts: &PackageFacts, architecture: &str, files: &[PackedFile]) -> String {
    let PackageFacts { name, version, description, author, repository, .. } = facts;
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    let size = bytes.div_ceil(1024);
    format!(
        "Package: {name}\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: {author} <noreply@example.org>\n\
         Installed-Size: {size}\nSection: devel\nPriority: optional\nRecommends: git\nHomepage: {repository}\n\
         Description: {description}\n A coding agent that says it is done is asked for proof: stopgate runs the checks\n \
         itself, and sends the agent back to work, lets it go, or calls a person.\n"
    )
}

fn copyright(facts: &PackageFacts) -> String {
    let text: Vec<String> = facts
        .license_text
        .lines()
        .map(|line| if line.is_empty() { " .".into() } else { format!(" {line}") })
        .collect();
    format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n\
         Files: *\nCopyright: 2026 {}\nLicense: {}\n{}\n",
        facts.author,
        facts.license,
        text.join("\n")
    )
}
