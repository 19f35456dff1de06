//! Safe connections: libpq's `sslmode` in terms of rustls.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use stopgate_store::Cause;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::{Roots, Safety};

/// How to make a connection safe, as far as `safety` asks for it.
pub(crate) fn connector(safety: Safety, roots: &Roots) -> Result<MakeRustlsConnect, Cause> {
    let provider = Arc::new(ring::default_provider());
    let trust = match safety {
        Safety::Disable | Safety::Allow | Safety::Prefer | Safety::Require => Trust::Anybody,
        Safety::VerifyCa => Trust::Vouched(authority(roots, &provider)?),
        Safety::VerifyFull => Trust::Named(authority(roots, &provider)?),
    };
    let verifier = Verifier { trust, provider: Arc::clone(&provider) };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// Whom to believe.
#[derive(Debug)]
enum Trust {
    /// Encryption alone is asked for.
    Anybody,
    /// Any server an authority vouches for, under any name.
    Vouched(Authority),
    /// Any server an authority vouches for under the host's name.
    Named(Authority),
}

#[derive(Debug)]
struct Authority {
    /// The certificates of the file, one of which may be the server's own.
    pinned: Vec<CertificateDer<'static>>,
    verifier: Arc<dyn ServerCertVerifier>,
}

fn authority(roots: &Roots, provider: &Arc<CryptoProvider>) -> Result<Authority, Cause> {
    let Roots::File(path) = roots else {
        let platform = rustls_platform_verifier::Verifier::new(Arc::clone(provider))?;
        return Ok(Authority { pinned: Vec::new(), verifier: Arc::new(platform) });
    };
    let wrong = |why: &dyn std::fmt::Display| -> Cause {
        format!("the root certificates in {} can't be used: {why}", path.display()).into()
    };
    let read = CertificateDer::pem_file_iter(path).map_err(|error| wrong(&error))?;
    let pinned: Vec<_> = read.collect::<Result<_, _>>().map_err(|error| wrong(&error))?;
    let mut store = RootCertStore::empty();
    for certificate in &pinned {
        store.add(certificate.clone()).map_err(|error| wrong(&error))?;
    }
    let builder =
        WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider));
    let verifier = builder.build().map_err(|error| wrong(&error))?;
    Ok(Authority { pinned, verifier })
}

#[derive(Debug)]
struct Verifier {
    trust: Trust,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let vouched = |authority: &Authority| {
            let verifier = &authority.verifier;
            verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        };
        match &self.trust {
            Trust::Anybody => Ok(ServerCertVerified::assertion()),
            // A server's own certificate in the file is as good as an authority's word for it.
            Trust::Vouched(authority) if authority.pinned.contains(end_entity) => {
                Ok(ServerCertVerified::assertion())
            }
            Trust::Named(authority) if authority.pinned.contains(end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            // The name is looked at last, so a wrong one means that all else is right.
            Trust::Vouched(authority) => match vouched(authority) {
                Err(Error::InvalidCertificate(
                    CertificateError::NotValidForName
                    | CertificateError::NotValidForNameContext { .. },
                )) => Ok(ServerCertVerified::assertion()),
                other => other,
            },
            Trust::Named(authority) => vouched(authority),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
