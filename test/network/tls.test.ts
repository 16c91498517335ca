import type { TlsOptions } from 'node:tls';
import { responseBytes, startBadService, startGreeter, type BadService } from './badService';
import { makeCertificate, trustedAuthority } from './certificates';
import { placeCallHarness } from './placeCallHarness';

const { place } = placeCallHarness();
const PLACED = responseBytes('{"success":true,"data":{"call_id":"c"}}');
const forLocalhost = { issuer: trustedAuthority(), hosts: ['127.0.0.1'] };
const identity = makeCertificate('service', forLocalhost);
const toClose: Array<{ close: () => Promise<void> }> = [];

afterEach(async () => {
	for (const each of toClose.splice(0)) await each.close();
});

async function serving(tls: TlsOptions): Promise<BadService> {
	const service = await startBadService(({ socket }) => socket.end(PLACED), tls);
	toClose.push(service);
	return service;
}

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
		message: expect.stringContaining("The service can't be reached, so the request wasn't sent"),
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
