use stopgate_verify::Key;

use super::{Certificate, Proven, ReceiptDemands, Signed, text};
use crate::context::{Context, ContextParts};
use crate::judging::certificate::Certificates;
use crate::settings::Settings;
use crate::stores::{StoreChoice, Stores};
use crate::world::RealWorld;
use crate::{Address, Home};

/// A receipt as the first version signed it.
const OLD: &str = r#"{"stopgate_receipt":1,"loop":"l1","goal":"Work","outcome":"done",
    "started_at":"2026-11-15T06:00:00Z","proven_at":"2026-11-15T06:01:00Z","criteria":[{"name":"tests",
    "kind":"run","required":true,"status":"pass","command":"c0","exit_code":0,"duration_ms":1,
    "retries":0,"tree":"t0","at":"2026-11-15T06:01:00Z"}]}"#;

fn context(directory: &std::path::Path) -> Context {
    let choice = StoreChoice {
        address: Address::Own,
        tenant: "default".into(),
        deadline: None,
        durability: stopgate_store::Durability::Process,
        on_error: crate::config::OnStoreError::default(),
        pass: Vec::new(),
        hook_time: None,
    };
    let world = Box::new(RealWorld::new(Settings));
    let (home, stores) = (Home::new(directory.into()), Stores::default());
    ContextParts { home, world, settings: Settings, stores, choice }.open().unwrap()
}

#[test]
fn an_old_receipt_is_read_and_said_to_be_old() {
    let directory = tempfile::tempdir().unwrap();
    let key = Key::of(directory.path()).unwrap();
    let proven: Proven = serde_json::from_str(OLD).unwrap();
    let signature = key.sign(text(&proven).unwrap().as_bytes());
    let certificate = Certificate { proven, key: key.public(), signature };
    let mut context = context(directory.path());
    let demands = ReceiptDemands { project: Some(directory.path().into()), ..Default::default() };
    let found =
        Certificates { context: &mut context }.inspect(certificate.clone(), &demands).unwrap();
    assert_eq!((found.valid, found.signature), (false, Signed::Genuine));
    assert!(found.faults[0].contains("old receipt (version 1)"), "{found:?}");
    let alone = Certificates { context: &mut context }
        .inspect(certificate, &ReceiptDemands::default())
        .unwrap();
    assert!(alone.valid, "its signature is as good as ever: {alone:?}");
}

#[test]
fn an_old_receipt_is_written_as_it_was_signed() {
    let proven: Proven = serde_json::from_str(OLD).unwrap();
    let compact: serde_json::Value = serde_json::from_str(OLD).unwrap();
    let again: serde_json::Value = serde_json::from_str(&text(&proven).unwrap()).unwrap();
    assert_eq!(again, compact);
}
