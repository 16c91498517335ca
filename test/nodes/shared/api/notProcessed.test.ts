import type { Method } from '../../../../nodes/shared/api/http';
import { explainNotProcessed } from '../../../../nodes/shared/api/errorTable';

function explained(method: Method, status: number, retryAfter?: string) {
	const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
	return explainNotProcessed({ method, path: '/v1/calls' }, { status, headers, text: '' }, 0);
}

test.each<[Method, number, RegExp, RegExp]>([
	['POST', 401, /unauthorized/, /'API Token' and 'Base URL'/],
	['POST', 407, /A proxy requires a sign-in/, /n8n administrator/],
	[
		'POST',
		413,
		/too large for the service or a proxy/,
		/^The request had no effect\. Shorten the texts/,
	],
	['POST', 307, /responded with a redirect/, /'Base URL' in the credential to the final URL/],
	['POST', 308, /responded with a redirect/, /'Base URL' in the credential to the final URL/],
	['GET', 300, /responded with a redirect/, /Base URL/],
	['GET', 302, /responded with a redirect/, /Base URL/],
	['GET', 399, /responded with a redirect/, /Base URL/],
	['POST', 429, /because it receives too many/, /Try again later\. .* set it to fewer\.$/],
])('%s %i was not processed', (method, status, message, resolution) => {
	const found = explained(method, status);
	expect(found?.message).toMatch(message);
	expect(found?.resolution.onScreen).toMatch(resolution);
});

test.each<[Method, number]>([
	['POST', 302],
	['DELETE', 301],
	['POST', 403],
	['POST', 408],
	['GET', 299],
	['GET', 400],
	['POST', 499],
	['GET', 500],
])('%s %i may have been processed', (method, status) => {
	expect(explained(method, status)).toBeUndefined();
});

test.each([
	['0', '0 seconds'],
	['1', '1 second'],
	['1.2', '2 seconds'],
	['119', '119 seconds'],
	['120', '2 minutes'],
	['121', '3 minutes'],
	['7140', '119 minutes'],
	['7200', '2 hours'],
	['7201', '3 hours'],
	['Thu, 01 Jan 1970 00:01:00 GMT', '60 seconds'],
])('Retry-After %s is a wait of %s', (retryAfter, duration) => {
	expect(explained('POST', 429, retryAfter)?.resolution.forModel).toBe(
		`The request had no effect. Try again after ${duration}.`,
	);
});
