import { generateKeyPairSync } from 'node:crypto';
import { isIP } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { md, pki } from 'node-forge';

/** A certificate and its key in PEM format, and the name of its subject. */
export type Identity = { name: string; cert: string; key: string };

export type CertificateOptions = {
	/** Host names and IPv4 addresses for which it is valid. */
	hosts?: string[];
	/** Days from now. Negative values are in the past. */
	validFrom?: number;
	validTo?: number;
	/** Default: self-signed. */
	issuer?: Identity;
	isAuthority?: boolean;
};

const DAY_MS = 86_400_000;
/** One for all certificates, because making one takes a while. */
const { publicKey, privateKey: key } = generateKeyPairSync('rsa', {
	modulusLength: 2_048,
	publicKeyEncoding: { type: 'spki', format: 'pem' },
	privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

let serial = 1;

/** Creates a certificate, so that no certificate in the repository can expire. */
export function makeCertificate(name: string, options: CertificateOptions = {}): Identity {
	const { hosts = [], validFrom = -1, validTo = 30, issuer, isAuthority = false } = options;
	const made = pki.createCertificate();
	made.publicKey = pki.publicKeyFromPem(publicKey);
	made.serialNumber = String(serial++).padStart(2, '0');
	made.validity.notBefore = new Date(Date.now() + validFrom * DAY_MS);
	made.validity.notAfter = new Date(Date.now() + validTo * DAY_MS);
	made.setSubject([{ name: 'commonName', value: name }]);
	made.setIssuer([{ name: 'commonName', value: issuer?.name ?? name }]);
	const altNames = hosts.map((host) =>
		isIP(host) === 0 ? { type: 2, value: host } : { type: 7, ip: host },
	);
	made.setExtensions([
		{ name: 'basicConstraints', cA: isAuthority },
		...(altNames.length > 0 ? [{ name: 'subjectAltName', altNames }] : []),
	]);
	made.sign(pki.privateKeyFromPem(key), md.sha256.create());
	return { name, cert: pki.certificateToPem(made), key };
}

/** For the tests of a file: an authority that Node.js trusts. */
export function trustedAuthority(): Identity {
	const made = makeCertificate('Test authority', { isAuthority: true });
	const trusted = getCACertificates('default');
	beforeAll(() => setDefaultCACertificates([...trusted, made.cert]));
	afterAll(() => setDefaultCACertificates(trusted));
	return made;
}
