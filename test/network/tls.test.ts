import { getCACertificates, setDefaultCACertificates, type TlsOptions } from 'node:tls';
import { answerBytes, startBadService, startGreeter, type BadService } from './badService';
import { makeCertificate } from './certificates';
import { placing, type PlacedResult } from './placing';
import { startRelay, type Relay, type Tamper } from './relay';

const { place } = placing();
const PLACED = answerBytes('{"success":true,"data":{"call_id":"c"}}');
const HEAD = PLACED.indexOf('\r\n\r\n') + 4;
const authority = makeCertificate('Test authority', { isAuthority: true });
const here = { by: authority, hosts: ['127.0.0.1'] };
const identity = makeCertificate('service', here);
const trusted = getCACertificates('default');
const open: Array<{ close: () => Promise<void> }> = [];

beforeAll(() => setDefaultCACertificates([...trusted, authority.cert]));
afterAll(() => setDefaultCACertificates(trusted));
afterEach(async () => {
	for (const each of open.splice(0)) await each.close();
});

async function serving(tls: TlsOptions): Promise<BadService> {
	const service = await startBadService(({ socket }) => {
		socket.write(PLACED.subarray(0, HEAD));
		socket.write(PLACED.subarray(HEAD));
	}, tls);
	open.push(service);
	return service;
}

/** What the node says with a relay that tampers with the service's answer. */
async function through(tls: TlsOptions, tamper: Tamper): Promise<PlacedResult & { posts: number }> {
	const service = await serving({ ...identity, ...tls });
	const relay: Relay = await startRelay(service.port, () => service.posts.length > 0, tamper);
	open.push(relay);
	const told = await place(`https://127.0.0.1:${relay.port}`);
	return { ...told, posts: service.posts.length };
}

/** A record that says "fatal: internal error", in the plain. */
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
		['an alert instead of the answer', () => ALERT],
		['an alert in the middle of the answer', (chunk) => Buffer.concat([firstRecord(chunk), ALERT])],
		['a damaged kind of record', damage(0)],
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
	])('%s: unknown, and one POST', async (_what, tamper) => {
		expect(await through(tls, tamper)).toMatchObject({ outcome: 'unknown', posts: 1 });
	});
});

test('a service that turns the client’s certificate down once the request is under way: not "nothing was sent"', async () => {
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
	['signed by nobody known', () => makeCertificate('stranger', { hosts: ['127.0.0.1'] })],
	['expired', () => makeCertificate('old', { ...here, validFrom: -30, validTo: -1 })],
	['not valid yet', () => makeCertificate('new', { ...here, validFrom: 1 })],
	['for another host', () => makeCertificate('other', { ...here, hosts: ['voice.example.com'] })],
	['for another address', () => makeCertificate('other', { ...here, hosts: ['10.0.0.1'] })],
	[
		'signed by one that may not sign',
		() => makeCertificate('leaf', { hosts: ['127.0.0.1'], by: identity }),
	],
])('a certificate %s: nothing was sent, and nothing arrived', async (_what, certificate) => {
	const service = await serving(certificate());
	expect(await place(`https://127.0.0.1:${service.port}`)).toEqual({
		outcome: 'not_sent',
		originalMessage: expect.stringContaining(
			"certificate couldn't be verified, so the request wasn't sent",
		),
	});
	expect(service.posts).toEqual([]);
	// Looked at once in each of the three tries: another look would show the same certificate.
	expect(service.connections()).toBe(3);
});

test('a server that speaks no TLS: unknown, as it cannot be told from one that broke off', async () => {
	const greeter = await startGreeter((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
	open.push(greeter);
	expect(await place(`https://127.0.0.1:${greeter.port}`)).toMatchObject({ outcome: 'unknown' });
});
