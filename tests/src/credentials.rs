//! The credentials of a test cluster: one certificate authority, certificates, and the tokens of its users.
//!
//! As in kubeadm, one certificate authority signs the serving certificate and the client certificate.

use anyhow::Result;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};

/// Bearer token of `admin`, a member of `system:masters`.
pub(crate) const ADMIN_TOKEN: &str = "admin-token-of-the-test-cluster";
/// Bearer token of `visitor`, a user without RBAC rules.
pub(crate) const VISITOR_TOKEN: &str = "visitor-token-of-the-test-cluster";

/// The loopback of this machine, as qemu's user network shows it to a virtual machine.
pub const LOOPBACK_OUTSIDE: &str = "10.0.2.2";
/// Where a server listens that is not part of a node.
const LOOPBACK: [&str; 4] = ["127.0.0.1", "::1", "localhost", LOOPBACK_OUTSIDE];

/// Number of users `client-0` to `client-63`, all members of `system:masters`. Each identifies one client.
pub(crate) const CLIENTS: usize = 64;

/// The user name of such a client.
pub fn client_user(number: usize) -> String {
    format!("client-{number}")
}

/// The bearer token of such a client.
pub fn client_token(number: usize) -> String {
    format!("token-{number}-of-the-test-cluster")
}

/// Content for `--token-auth-file`: token, user, user ID, groups.
pub(crate) fn token_file() -> String {
    let first = [format!("{ADMIN_TOKEN},admin,1,\"system:masters\""), format!("{VISITOR_TOKEN},visitor,2,\"visitors\"")];
    let client = |number| format!("{},{},{},\"system:masters\"", client_token(number), client_user(number), 100 + number);
    first.into_iter().chain((0..CLIENTS).map(client)).collect::<Vec<String>>().join("\n")
}

/// A certificate with its private key, both PEM.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// All keys and certificates of one cluster.
#[derive(Clone, Debug)]
pub(crate) struct Credentials {
    /// Certificate of the authority, PEM.
    pub(crate) authority: String,
    /// For the API server: 127.0.0.1, `::1`, localhost, [`LOOPBACK_OUTSIDE`].
    pub(crate) server: Identity,
    /// For `certificate-admin`, a member of `system:masters`.
    pub(crate) admin: Identity,
    /// Key pair for ServiceAccount tokens: private and public key, PEM.
    pub(crate) service_accounts: (String, String),
}

/// Credentials of a server on 127.0.0.1: the PEM certificate of an authority made for this call, and the server's identity.
pub(crate) fn loopback_server() -> Result<(String, Identity)> {
    let authority = authority()?;
    Ok((authority.pem(), server(&authority, "kube-apiserver", &LOOPBACK)?))
}

impl Credentials {
    pub(crate) fn generate() -> Result<Self> {
        let authority = authority()?;
        let signing_key = KeyPair::generate()?;
        Ok(Self {
            authority: authority.pem(),
            server: server(&authority, "kube-apiserver", &LOOPBACK)?,
            admin: client(&authority, "system:masters", "certificate-admin")?,
            service_accounts: (signing_key.serialize_pem(), signing_key.public_key_pem()),
        })
    }
}

pub(crate) type Authority = CertifiedIssuer<'static, KeyPair>;

pub(crate) fn authority() -> Result<Authority> {
    let mut params = CertificateParams::default();
    params.distinguished_name = name(&[(DnType::CommonName, "authority of a watchtap test cluster")]);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    Ok(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?)
}

/// A serving certificate for these host names and addresses.
pub(crate) fn server(authority: &Authority, common_name: &str, hosts: &[&str]) -> Result<Identity> {
    let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
    let mut params = CertificateParams::new(hosts)?;
    params.distinguished_name = name(&[(DnType::CommonName, common_name)]);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    sign(&params, authority)
}

/// A client certificate. Servers read the group from the organisation, and the user from the common name.
pub(crate) fn client(authority: &Authority, group: &str, user: &str) -> Result<Identity> {
    let mut params = CertificateParams::default();
    params.distinguished_name = name(&[(DnType::OrganizationName, group), (DnType::CommonName, user)]);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    sign(&params, authority)
}

fn sign(params: &CertificateParams, authority: &Authority) -> Result<Identity> {
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, authority)?;
    Ok(Identity { certificate: certificate.pem(), key: key.serialize_pem() })
}

fn name(parts: &[(DnType, &str)]) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    for (kind, value) in parts {
        name.push(kind.clone(), *value);
    }
    name
}
