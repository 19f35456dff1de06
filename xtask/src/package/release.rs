//! What a release has beside packages of registries: tarballs, a formula and installers.

use anyhow::Result;

use super::about::PackageFacts;
use super::archive::{Directories, PackedFile, tar_gz, zip};
use super::platform::{BuiltProgram, Platform};
use super::sums::sha256_hex;

/// A program with its licence and README, for people and for installers.
pub(crate) fn tarball(facts: &PackageFacts, program: &BuiltProgram) -> Result<PackedFile> {
    let platform = program.platform;
    let stem = stem(facts, platform);
    let files = [
        PackedFile::program(platform.program(), &program.bytes),
        PackedFile::text("LICENSE", facts.license_text.clone()),
        PackedFile::text("README.md", include_str!("../../../README.md")),
    ];
    let files: Vec<PackedFile> = files.into_iter().map(|file| file.below(&stem)).collect();
    let bytes =
        if platform.is_windows() { zip(&files)? } else { tar_gz(&files, Directories::Named)? };
    Ok(PackedFile::text(archive_name(facts, platform), bytes))
}

fn stem(facts: &PackageFacts, platform: Platform) -> String {
    format!("{}-{}-{}", facts.name, facts.version, platform.target)
}

fn archive_name(facts: &PackageFacts, platform: Platform) -> String {
    let end = if platform.is_windows() { "zip" } else { "tar.gz" };
    format!("{}.{end}", stem(facts, platform))
}

/// The Homebrew formula for the platforms that are here.
pub(crate) fn formula(facts: &PackageFacts, archives: &[(Platform, PackedFile)]) -> PackedFile {
    let PackageFacts { description, version, license, repository, .. } = facts;
    let mut blocks = String::new();
    for system in ["on_macos", "on_linux"] {
        let inner: String = archives
            .iter()
            .filter_map(|(platform, archive)| {
                let (of, processor) = platform.brew?;
                (of == system).then(|| brew_block(facts, processor, archive))
            })
            .collect();
        if !inner.is_empty() {
            blocks.extend(["\n  ", system, " do\n", &inner, "  end\n"]);
        }
    }
    let text = format!(
        "class Stopgate < Formula\n  desc \"{description}\"\n  homepage \"{repository}\"\n  version \"{version}\"\n  license \"{license}\"\n\
         {blocks}\n  def install\n    bin.install \"stopgate\"\n    generate_completions_from_executable(bin/\"stopgate\", \"completions\")\n  end\n\n  \
         test do\n    assert_match version.to_s, shell_output(\"#{{bin}}/stopgate --version\")\n  end\nend\n"
    );
    PackedFile::text("stopgate.rb", text)
}

fn brew_block(facts: &PackageFacts, processor: &str, archive: &PackedFile) -> String {
    let (url, sum) = (facts.release_url(), sha256_hex(&archive.bytes));
    format!(
        "    {processor} do\n      url \"{url}/{}\"\n      sha256 \"{sum}\"\n    end\n",
        archive.path
    )
}

/// The installers, told which release they install.
pub(crate) fn installers(facts: &PackageFacts, public_key: &str) -> Vec<PackedFile> {
    let told = |text: &str| {
        text.replace("@VERSION@", &facts.version)
            .replace("@BASE@", &facts.release_url())
            .replace("@KEY@", public_key)
    };
    vec![
        PackedFile::program(
            "install.sh",
            told(include_str!("../../../packages/install.sh")).as_bytes(),
        ),
        PackedFile::text("install.ps1", told(include_str!("../../../packages/install.ps1"))),
    ]
}
