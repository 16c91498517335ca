import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

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
const ECDSA_WITH_SHA256 = [1, 2, 840, 10045, 4, 3, 2];
const COMMON_NAME = [2, 5, 4, 3];
const BASIC_CONSTRAINTS = [2, 5, 29, 19];
const ALTERNATIVE_NAMES = [2, 5, 29, 17];

let serial = 1;

/** Creates a certificate (RFC 5280) for a new P-256 key, so that no certificate in the repository can expire. */
export function makeCertificate(name: string, options: CertificateOptions = {}): Identity {
	const { hosts = [], validFrom = -1, validTo = 30, issuer, isAuthority = false } = options;
	const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const algorithm = sequence(objectId(ECDSA_WITH_SHA256));
	const body = sequence(
		der(0xa0, der(0x02, Buffer.of(2))),
		der(0x02, Buffer.of(serial++)),
		algorithm,
		subject(issuer?.name ?? name),
		sequence(time(validFrom), time(validTo)),
		subject(name),
		publicKey.export({ type: 'spki', format: 'der' }),
		der(0xa3, sequence(authority(isAuthority), ...alternativeNames(hosts))),
	);
	const signature = sign(
		'sha256',
		body,
		issuer === undefined ? privateKey : createPrivateKey(issuer.key),
	);
	const certificate = sequence(body, algorithm, der(0x03, Buffer.of(0), signature));
	const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
	return { name, cert: pem(certificate), key: key.toString() };
}

/** For the tests of a file: an authority that Node.js trusts. */
export function trustedAuthority(): Identity {
	const made = makeCertificate('Test authority', { isAuthority: true });
	const trusted = getCACertificates('default');
	beforeAll(() => setDefaultCACertificates([...trusted, made.cert]));
	afterAll(() => setDefaultCACertificates(trusted));
	return made;
}

function authority(isAuthority: boolean): Buffer {
	const value = isAuthority ? [der(0x01, Buffer.of(0xff))] : [];
	return extension(BASIC_CONSTRAINTS, sequence(...value));
}

function alternativeNames(hosts: string[]): Buffer[] {
	const names = hosts.map((host) =>
		/^[\d.]+$/.test(host)
			? der(0x87, Buffer.from(host.split('.').map(Number)))
			: der(0x82, Buffer.from(host)),
	);
	return names.length === 0 ? [] : [extension(ALTERNATIVE_NAMES, sequence(...names))];
}

function extension(id: number[], value: Buffer): Buffer {
	return sequence(objectId(id), der(0x04, value));
}

function subject(name: string): Buffer {
	return sequence(der(0x31, sequence(objectId(COMMON_NAME), der(0x0c, Buffer.from(name)))));
}

function time(days: number): Buffer {
	const digits = new Date(Date.now() + days * DAY_MS).toISOString().replace(/\D/g, '');
	return der(0x18, Buffer.from(`${digits.slice(0, 14)}Z`));
}

function objectId([first = 0, second = 0, ...others]: number[]): Buffer {
	return der(0x06, Buffer.from([first * 40 + second, ...others.flatMap(base128)]));
}

function base128(value: number): number[] {
	const bytes = [value & 0x7f];
	for (let rest = value >> 7; rest > 0; rest >>= 7) bytes.unshift((rest & 0x7f) | 0x80);
	return bytes;
}

function sequence(...parts: Buffer[]): Buffer {
	return der(0x30, ...parts);
}

/** Encodes one DER value: tag, length, and content. */
function der(tag: number, ...parts: Buffer[]): Buffer {
	const content = Buffer.concat(parts);
	return Buffer.concat([Buffer.from([tag, ...lengthBytes(content.length)]), content]);
}

function lengthBytes(length: number): number[] {
	if (length < 0x80) return [length];
	return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

function pem(certificate: Buffer): string {
	const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
	return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
