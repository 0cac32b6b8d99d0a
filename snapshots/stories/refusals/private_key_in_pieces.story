# A private key in a reply that is recorded piece by piece: no piece of it enters the ledger.

user
| Make me a key.
model pieces
| Here:
| -----BEGIN RSA PRIVATE KEY-----
| MIIEpAIBAAKCAQEA7bq0secret
| MIIEpAIBAAKCAQEA7bq0secret
| -----END RSA PRIVATE KEY-----
| Keep it safe.

user
| Thanks.
