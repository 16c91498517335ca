import { NodeOperationError, type INode } from 'n8n-workflow';
import { toFault } from '../../../../../nodes/shared/n8n/http/transport';
import { neverSent } from '../../../../../nodes/shared/api/retry';

const node: INode = {
	id: 'id',
	name: 'Node',
	type: 't',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};

type Fields = {
	code?: string;
	syscall?: string;
	cause?: unknown;
	name?: string;
	errors?: unknown[];
};

const fault = (message: string, fields: Fields = {}) => Object.assign(new Error(message), fields);

/** As n8n hands it out: its own error around axios's around Node's. */
const wrapped = (inner: Error & Fields) =>
	new NodeOperationError(
		node,
		fault('axios', { ...(inner.code && { code: inner.code }), cause: inner }),
	);

describe('nothing was sent', () => {
	test.each<[string, Error & Fields, string, string | undefined]>([
		[
			'a refused connection',
			fault('x', { code: 'ECONNREFUSED', syscall: 'connect' }),
			'ECONNREFUSED',
			'connect',
		],
		[
			'an unreachable host',
			fault('x', { code: 'EHOSTUNREACH', syscall: 'connect' }),
			'EHOSTUNREACH',
			'connect',
		],
		[
			'an unknown name',
			fault('x', { code: 'ENOTFOUND', syscall: 'getaddrinfo' }),
			'ENOTFOUND',
			'getaddrinfo',
		],
		[
			'several addresses that all reject',
			fault('', {
				code: 'ECONNREFUSED',
				errors: [fault('', { syscall: 'connect' }), fault('', { syscall: 'connect' })],
			}),
			'ECONNREFUSED',
			'connect',
		],
		[
			'an untrusted certificate',
			fault('x', { code: 'SELF_SIGNED_CERT_IN_CHAIN' }),
			'SELF_SIGNED_CERT_IN_CHAIN',
			undefined,
		],
		[
			'an address that the SSRF guard blocks',
			fault('blocked', { name: 'SsrfBlockedIpError' }),
			'BLOCKED_BY_N8N',
			undefined,
		],
		[
			'a name that the SSRF guard blocks',
			fault('blocked', { name: 'SsrfBlockedHostnameError' }),
			'BLOCKED_BY_N8N',
			undefined,
		],
		[
			'a host outside the allowed domains',
			fault('Domain not allowed: This credential is restricted from accessing x'),
			'BLOCKED_BY_N8N',
			undefined,
		],
	])('%s', (_what, inner, code, syscall) => {
		for (const error of [inner, wrapped(inner)]) {
			expect(toFault(error)).toMatchObject({ code, syscall });
			expect(neverSent(toFault(error))).toBe(true);
		}
	});
});

describe('the request may have been sent', () => {
	test.each<[string, Error & Fields, string]>([
		['a reset', fault('x', { code: 'ECONNRESET', syscall: 'read' }), 'ECONNRESET'],
		['a reset without a syscall', fault('x', { code: 'ECONNRESET' }), 'ECONNRESET'],
		[
			'a host that went away',
			fault('x', { code: 'EHOSTUNREACH', syscall: 'read' }),
			'EHOSTUNREACH',
		],
		[
			'an alert of TLS',
			fault('x', { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' }),
			'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
		],
		['a broken record', fault('x', { code: 'EPROTO', syscall: 'write' }), 'EPROTO'],
		['ECONNREFUSED by its code alone', fault('x', { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
		[
			'several addresses, one of which failed after it was connected',
			fault('', {
				code: 'ECONNREFUSED',
				errors: [fault('', { syscall: 'connect' }), fault('', { syscall: 'read' })],
			}),
			'ECONNREFUSED',
		],
		[
			'several addresses without an error of each',
			fault('', { code: 'ECONNREFUSED', errors: [] }),
			'ECONNREFUSED',
		],
		['no code at all', fault('socket hang up'), 'Error'],
		['a fault of the program', new TypeError('x is undefined'), 'TypeError'],
	])('%s', (_what, inner, code) => {
		for (const error of [inner, wrapped(inner)]) {
			expect(toFault(error)).toMatchObject({ code });
			expect(neverSent(toFault(error))).toBe(false);
		}
	});

	test.each([undefined, null, 'x', 7, {}])('%j thrown', (thrown) => {
		expect(toFault(thrown)).toMatchObject({ code: 'NO_RESPONSE' });
		expect(neverSent(toFault(thrown))).toBe(false);
	});

	test('a chain that ends in itself', () => {
		const error = fault('x');
		error.cause = error;
		expect(neverSent(toFault(error))).toBe(false);
	});
});

test('keeps only codes of the error, because its request contains the token', () => {
	const error = fault('POST https://x?token=tok-0123456789ab', { code: 'ECONNRESET' });
	expect(JSON.stringify(toFault(error))).not.toContain('tok-');
	expect(toFault(error).message).toBe('ECONNRESET');
});
