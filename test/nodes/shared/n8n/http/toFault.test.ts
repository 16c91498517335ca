import { NodeOperationError } from 'n8n-workflow';
import { toFault } from '../../../../../nodes/shared/n8n/http/transport';
import { neverSent } from '../../../../../nodes/shared/api/retry';
import { makeNode } from '../../../../engine';

type Fields = {
	code?: string;
	syscall?: string;
	cause?: unknown;
	name?: string;
	errors?: unknown[];
};

const fault = (message: string, fields: Fields = {}) => Object.assign(new Error(message), fields);
const failed = (code: string, syscall?: string) =>
	fault('x', { code, ...(syscall !== undefined && { syscall }) });
/** Several addresses, each with the system call that failed. */
const refused = (...calls: string[]) =>
	fault('', { code: 'ECONNREFUSED', errors: calls.map((syscall) => fault('', { syscall })) });

/** As n8n hands it out: its own error around axios's around Node's. */
const wrapped = (cause: Error & Fields) =>
	new NodeOperationError(
		makeNode({ type: 'test.sink' }),
		fault('axios', { ...(cause.code && { code: cause.code }), cause }),
	);

const DOMAIN = 'Domain not allowed: This credential is restricted from accessing x';

test.each<[string, Error & Fields, string, string?]>([
	['a refused connection', failed('ECONNREFUSED', 'connect'), 'ECONNREFUSED', 'connect'],
	['an unreachable host', failed('EHOSTUNREACH', 'connect'), 'EHOSTUNREACH', 'connect'],
	['an unknown name', failed('ENOTFOUND', 'getaddrinfo'), 'ENOTFOUND', 'getaddrinfo'],
	['several addresses that all reject', refused('connect', 'connect'), 'ECONNREFUSED', 'connect'],
	['a certificate', failed('SELF_SIGNED_CERT_IN_CHAIN'), 'SELF_SIGNED_CERT_IN_CHAIN'],
	['a blocked address', fault('blocked', { name: 'SsrfBlockedIpError' }), 'BLOCKED_BY_N8N'],
	['a blocked name', fault('blocked', { name: 'SsrfBlockedHostnameError' }), 'BLOCKED_BY_N8N'],
	['a host outside the allowed domains', fault(DOMAIN), 'BLOCKED_BY_N8N'],
])('nothing was sent: %s', (_what, inner, code, ...[syscall]) => {
	for (const error of [inner, wrapped(inner)]) {
		expect(toFault(error)).toMatchObject({ code, syscall });
		expect(neverSent(toFault(error))).toBe(true);
	}
});

describe('the request may have been sent', () => {
	test.each<[string, Error & Fields, string]>([
		['a reset', failed('ECONNRESET', 'read'), 'ECONNRESET'],
		['a reset without a syscall', failed('ECONNRESET'), 'ECONNRESET'],
		['a host that went away', failed('EHOSTUNREACH', 'read'), 'EHOSTUNREACH'],
		['an alert of TLS', failed('ERR_SSL_TLSV13_ALERT'), 'ERR_SSL_TLSV13_ALERT'],
		['a broken record', failed('EPROTO', 'write'), 'EPROTO'],
		['ECONNREFUSED by its code alone', failed('ECONNREFUSED'), 'ECONNREFUSED'],
		['one of several was connected', refused('connect', 'read'), 'ECONNREFUSED'],
		['several without an error of each', refused(), 'ECONNREFUSED'],
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
