//! What is done to the store as a whole: it is checked, moved and kept small.

mod archive;

mod compact;

mod view;

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::path::Path;

use stopgate_store::audit;
use stopgate_store::transfer::{Import, Imported, Reader, existing, export, names, scan};

pub use self::view::{CheckView, CompactView, CopyView, ExportView, ImportView, MigrateView};
use crate::address::Address;
use crate::context::{Context, put_sign};
use crate::failure::Failure;
use crate::signs::Signs;
use crate::stores::{Opened, StoreChoice};

/// What becomes of loops that a journal has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// They refuse the whole import.
    Refuse,
    /// They stay as they are, and the others are imported.
    Skip,
}

/// The store as a whole.
pub struct Upkeep<'a> {
    pub(crate) context: &'a mut Context,
}

impl Upkeep<'_> {
    /// Looks whether the journal keeps its promises.
    pub fn check_store(&mut self) -> Result<CheckView, Failure> {
        let audit = audit(&mut *self.context.journal)?;
        Ok(CheckView { address: self.store_address(), ok: audit.findings.is_empty(), audit })
    }

    /// Brings the journal's stored form to the one that this program writes.
    pub fn migrate_store(&mut self) -> Result<MigrateView, Failure> {
        self.context.prepare()?;
        let migrated = self.context.journal.migrate()?;
        Ok(MigrateView { address: self.store_address(), from: migrated.from, to: migrated.to })
    }

    /// Writes the whole journal to `out`.
    pub fn export_store(&mut self, out: &mut dyn Write) -> Result<ExportView, Failure> {
        let mut out = BufWriter::new(out);
        let exported = export(&mut *self.context.journal, &mut out)?;
        Ok(ExportView { exported, file: None })
    }

    /// Writes the whole journal to a file, which is there only when all of it is.
    pub fn export_store_to(&mut self, path: &Path) -> Result<ExportView, Failure> {
        let exported =
            archive::write(path, &mut |out| Ok(export(&mut *self.context.journal, out)?))?;
        Ok(ExportView { exported, file: Some(path.display().to_string()) })
    }

    /// Takes the loops of an export in: all of them or none.
    pub fn import_store(
        &mut self,
        file: &mut File,
        on_existing: Existing,
    ) -> Result<ImportView, Failure> {
        self.context.as_person("import loops")?;
        self.context.prepare()?;
        let scanned = scan(&mut Reader::new(BufReader::new(&mut *file)))?;
        let there = existing(&mut *self.context.journal, &scanned.names)?;
        file.rewind().map_err(|error| Failure::fault("could not read it again").because(error))?;
        let mut import = match on_existing {
            Existing::Refuse => Import::begin(&mut *self.context.journal, &there)?,
            Existing::Skip => Import::begin_without(&mut *self.context.journal, there)?,
        };
        let mut reader = Reader::new(BufReader::new(file));
        while let Some(moved) = reader.read()? {
            import.put(moved)?;
        }
        let imported = finish(import, &self.context.signs)?;
        Ok(ImportView { address: self.store_address(), imported, blake3: scanned.hash })
    }

    /// Copies every loop to the journal at `to`: all of them or none.
    pub fn copy_store(&mut self, to: &str, on_existing: Existing) -> Result<CopyView, Failure> {
        let choice = StoreChoice { address: Address::read(to)?, ..self.context.choice.clone() };
        let (from, target) = (self.store_address(), choice.address.to_string());
        if from == target {
            return Err(Failure::usage(format!("{target} is where the journal is already")));
        }
        let Opened { mut journal, signs } =
            self.context.stores.open(&choice, &self.context.home)?;
        let names = names(&mut *self.context.journal)?;
        let there = existing(&mut *journal, &names)?;
        let mut import = match on_existing {
            Existing::Refuse => Import::begin(&mut *journal, &there)?,
            Existing::Skip => Import::begin_without(&mut *journal, there)?,
        };
        let from_blake3 = import.put_all(&mut *self.context.journal)?.hash;
        let imported = finish(import, &signs)?;
        let to_blake3 = export(&mut *journal, &mut io::sink())?.hash;
        Ok(CopyView {
            from,
            to: target,
            imported,
            same: from_blake3 == to_blake3,
            from_blake3,
            to_blake3,
        })
    }

    /// Where the journal is, without passwords.
    fn store_address(&self) -> String {
        match &self.context.choice.address {
            Address::Own => Address::Sqlite(self.context.home.journal()).to_string(),
            named @ (Address::Sqlite(_) | Address::Postgres(_)) => named.to_string(),
        }
    }
}

/// Signs go up before the journal knows, here as everywhere.
fn finish(mut import: Import<'_>, signs: &Signs) -> Result<Imported, Failure> {
    for state in import.running()? {
        put_sign(signs, &state)?;
    }
    Ok(import.finish()?)
}
