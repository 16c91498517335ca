import { getCACertificates, setDefaultCACertificates, type TlsOptions } from 'node:tls';
import { responseBytes, startBadService, startGreeter, type BadService } from './badService';
import { makeCertificate } from './certificates';
import { placeCallHarness, type PlaceCallResult } from './placeCallHarness';
import { startRelay, type Relay, type Tamper } from './relay';

const { place } = placeCallHarness();
const PLACED = responseBytes('{"success":true,"data":{"call_id":"c"}}');
const HEAD = PLACED.indexOf('\r\n\r\n') + 4;
const authority = makeCertificate('Test authority', { isAuthority: true });
const forLocalhost = { issuer: authority, hosts: ['127.0.0.1'] };
const identity = makeCertificate('service', forLocalhost);
const trusted = getCACertificates('default');
const toClose: Array<{ close: () => Promise<void> }> = [];

beforeAll(() => setDefaultCACertificates([...trusted, authority.cert]));
afterAll(() => setDefaultCACertificates(trusted));
afterEach(async () => {
	for (const each of toClose.splice(0)) await each.close();
});

async function serving(tls: TlsOptions): Promise<BadService> {
	const service = await startBadService(({ socket }) => {
		socket.write(PLACED.subarray(0, HEAD));
		socket.write(PLACED.subarray(HEAD));
	}, tls);
	toClose.push(service);
	return service;
}

/** Places a call through a relay that changes the service's response. */
async function placeThroughRelay(
	tls: TlsOptions,
	tamper: Tamper,
): Promise<PlaceCallResult & { posts: number }> {
	const service = await serving({ ...identity, ...tls });
	const relay: Relay = await startRelay(service.port, () => service.posts.length > 0, tamper);
	toClose.push(relay);
	const result = await place(`https://127.0.0.1:${relay.port}`);
	return { ...result, posts: service.posts.length };
}

/** A TLS record with the alert "fatal: internal error", unencrypted. */
const ALERT = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x50]);

const firstRecord = (chunk: Buffer) => chunk.subarray(0, 5 + chunk.readUInt16BE(3));

const damage = (at: number) => (chunk: Buffer) => {
	const damaged = Buffer.from(chunk);
	const index = Math.min(at, damaged.length - 1);
	damaged.writeUInt8(damaged.readUInt8(index) ^ 0x5a, index);
	return damaged;
};

const VERSIONS: Array<[string, TlsOptions]> = [
	['TLS 1.3', { minVersion: 'TLSv1.3' }],
	['TLS 1.2', { maxVersion: 'TLSv1.2' }],
];

describe.each(VERSIONS)('%s, after the request has arrived', (_version, tls) => {
	test.each<[string, Tamper]>([
		['an alert instead of the response', () => ALERT],
		[
			'an alert in the middle of the response',
			(chunk) => Buffer.concat([firstRecord(chunk), ALERT]),
		],
		['a damaged record type', damage(0)],
		['a damaged version', damage(1)],
		['a damaged length', damage(3)],
		['a damaged record', damage(12)],
		[
			'a reset in the middle of a record',
			(chunk, client) => {
				client.write(chunk.subarray(0, 9), () => client.resetAndDestroy());
				return undefined;
			},
		],
	])('%s: the outcome is unknown, with one POST', async (_what, tamper) => {
		expect(await placeThroughRelay(tls, tamper)).toMatchObject({ outcome: 'unknown', posts: 1 });
	});
});

test('a service that rejects the client certificate while the request is sent: the outcome is unknown', async () => {
	const service = await serving({
		...identity,
		requestCert: true,
		rejectUnauthorized: true,
		minVersion: 'TLSv1.3',
	});
	const { outcome } = await place(`https://127.0.0.1:${service.port}`);
	expect(outcome).toBe('unknown');
	expect(service.posts).toEqual([]);
});

test.each<[string, () => TlsOptions]>([
	['signed by an unknown authority', () => makeCertificate('stranger', { hosts: ['127.0.0.1'] })],
	['expired', () => makeCertificate('old', { ...forLocalhost, validFrom: -30, validTo: -1 })],
	['not valid yet', () => makeCertificate('new', { ...forLocalhost, validFrom: 1 })],
	[
		'for another host',
		() => makeCertificate('other', { ...forLocalhost, hosts: ['voice.example.com'] }),
	],
	[
		'for another IP address',
		() => makeCertificate('other', { ...forLocalhost, hosts: ['10.0.0.1'] }),
	],
	[
		'signed by a certificate that may not sign',
		() => makeCertificate('leaf', { hosts: ['127.0.0.1'], issuer: identity }),
	],
])('a certificate %s: nothing was sent, and nothing arrived', async (_what, certificate) => {
	const service = await serving(certificate());
	expect(await place(`https://127.0.0.1:${service.port}`)).toEqual({
		outcome: 'not_sent',
		message: expect.stringContaining(
			"certificate couldn't be verified, so the request wasn't sent",
		),
	});
	expect(service.posts).toEqual([]);
	// One connection in each of the three attempts, because a repeat would get the same certificate.
	expect(service.connections()).toBe(3);
});

test('a server without TLS: the outcome is unknown, as with a connection that breaks off', async () => {
	const greeter = await startGreeter((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
	toClose.push(greeter);
	expect(await place(`https://127.0.0.1:${greeter.port}`)).toMatchObject({ outcome: 'unknown' });
});
