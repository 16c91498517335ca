import type { Method } from '../../../../nodes/shared/api/http';
import { explainNotPerformed } from '../../../../nodes/shared/api/notProcessed';

function explained(method: Method, status: number, retryAfter?: string) {
	const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
	return explainNotPerformed({ method, path: '/v1/calls' }, { status, headers, text: '' }, 0);
}

test.each<[Method, number, RegExp, RegExp]>([
	['POST', 401, /does not accept the API token/, /API Token and Base URL/],
	['POST', 407, /The proxy of your n8n wants a sign-in/, /whoever runs your n8n/],
	['POST', 413, /larger than the service takes/, /^The request had no effect\. Send less at once/],
	['POST', 307, /answers with a redirect/, /Base URL to the final address/],
	['POST', 308, /answers with a redirect/, /Base URL to the final address/],
	['GET', 300, /answers with a redirect/, /Base URL/],
	['GET', 302, /answers with a redirect/, /Base URL/],
	['GET', 399, /answers with a redirect/, /Base URL/],
	['POST', 429, /too many requests/, /^The request had no effect\. Try again later\.$/],
])('%s %i was not performed', (method, status, what, resolution) => {
	const found = explained(method, status);
	expect(found?.what).toMatch(what);
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
])('%s %i may have been', (method, status) => {
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
])('Retry-After %s asks to wait %s', (retryAfter, duration) => {
	expect(explained('POST', 429, retryAfter)?.resolution.onScreen).toBe(
		`The request had no effect. The service asks to wait ${duration} before you try again.`,
	);
});
