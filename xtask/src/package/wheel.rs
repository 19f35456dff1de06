//! A Python wheel that holds the program and no Python.

use anyhow::Result;

use super::about::PackageFacts;
use super::archive::{PackedFile, zip};
use super::platform::BuiltProgram;
use super::sums::sha256;

/// The wheel of one platform.
pub(crate) fn wheel(facts: &PackageFacts, program: &BuiltProgram) -> Result<PackedFile> {
    let PackageFacts { name, version, .. } = facts;
    let tag = program.platform.wheel;
    let (data, about) = (format!("{name}-{version}.data"), format!("{name}-{version}.dist-info"));
    let script = format!("{data}/scripts/{}", program.platform.program());
    let mut files = vec![
        PackedFile::program(script, &program.bytes),
        PackedFile::text(format!("{about}/METADATA"), metadata(facts)),
        PackedFile::text(format!("{about}/WHEEL"), wheel_file(tag)),
        PackedFile::text(format!("{about}/licenses/LICENSE"), facts.license_text.clone()),
    ];
    files.push(record(&files, &format!("{about}/RECORD")));
    Ok(PackedFile::text(format!("{name}-{version}-py3-none-{tag}.whl"), zip(&files)?))
}

fn metadata(facts: &PackageFacts) -> String {
    let PackageFacts { name, version, description, license, author, repository, .. } = facts;
    let keywords = facts.keywords.join(",");
    format!(
        "Metadata-Version: 2.4\nName: {name}\nVersion: {version}\nSummary: {description}\nKeywords: {keywords}\nAuthor: {author}\n\
         License-Expression: {license}\nLicense-File: LICENSE\nProject-URL: Repository, {repository}\nRequires-Python: >=3.8\n\
         Description-Content-Type: text/markdown\n\n# {name}\n\n{description}.\n\n    uvx {name} try\n    uv tool install {name}\n    {name} install claude\n"
    )
}

fn wheel_file(tag: &str) -> String {
    let tags: Vec<String> = tag.split('.').map(|tag| format!("Tag: py3-none-{tag}\n")).collect();
    format!("Wheel-Version: 1.0\nGenerator: stopgate\nRoot-Is-Purelib: false\n{}", tags.concat())
}

/// What the wheel holds; its own line has no sum.
fn record(files: &[PackedFile], path: &str) -> PackedFile {
    let line = |file: &PackedFile| {
        let (path, size) = (&file.path, file.bytes.len());
        format!("{path},sha256={},{size}\n", base64_url(&sha256(&file.bytes)))
    };
    let lines: String = files.iter().map(line).collect();
    PackedFile::text(path, format!("{lines}{path},,\n"))
}

/// Base64 for addresses, without padding.
fn base64_url(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or_default());
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for letter in 0..=chunk.len() {
            let index = (bits >> (18 - 6 * letter)) & 63;
            text.push(char::from(LETTERS[index as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64_url;

    #[test]
    fn base64_has_no_padding_and_fits_into_an_address() {
        assert_eq!(base64_url(b""), "");
        assert_eq!(base64_url(b"f"), "Zg");
        assert_eq!(base64_url(b"fo"), "Zm8");
        assert_eq!(base64_url(b"foo"), "Zm9v");
        assert_eq!(base64_url(&[0xfb, 0xff, 0xfe]), "-__-");
    }
}
