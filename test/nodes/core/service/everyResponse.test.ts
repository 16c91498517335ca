/**
 * Every endpoint × every documented error and typical gateway bodies × every status, compared with docs/openapi.yaml.
 */
import uniq from 'lodash/uniq';
import type { ApiClient } from '../../../../nodes/core/service/client';
import { ExplainedError, ServiceRejection } from '../../../../nodes/core/service/errors';
import type { ErrorCode } from '../../../../nodes/core/service/errorTable';
import type { JsonObject } from '../../../../nodes/core/values/json';
import { DOCUMENTED } from '../../../openapi/errors';
import { dataOf, isResponseShown } from '../../../openapi/openapi';
import { CALL_ID, ENDPOINTS } from './everyEndpoint';
import { clientOf } from './clientOf';

const CALLING = ['POST /v1/call', 'POST /call'];
/** An empty list as a whole response may be one of these. */
const LISTS = ENDPOINTS.map(({ name }) => name).filter(
	(name) => name.startsWith('GET ') && (dataOf(name).type === 'array' || !isResponseShown(name)),
);

/** Texts that are similar to a documented error, as in messages of a failing service. */
const NOT_DOCUMENTED: JsonObject[] = [
	{ error: 'Internal server error' },
	{ error: 'Deadlock while saving contacts[2]' },
	{ error: 'upstream timed out (contacts[2])' },
	{ error: 'RuntimeError: agent_not_found\n  at dial (call.rb:7)' },
	{ error: 'Retrying after call_not_found' },
	{ error: 'Lock wait timeout: could not read phone' },
	{ error: "Rolled back: Couldn't find Campaign" },
	{ error: "Couldn't find Campaigns" },
	{ error: "Couldn't find Campaign\n  from campaign.rb:7" },
	{ error: 'Phone number not found on DND list-shard 3' },
	{ error: 'x', upstream_body: { state: 'rejected' } },
	{ error: 'x', upstream_body: { state: 'rejected', reason: null } },
	{ errors: ['agent_not_found', 'Deadlock found'] },
	{ errors: ['is invalid'] },
	{ error: 'x', upstream_body: { state: 'timeout', reason: 'deadline' } },
	{ error: 'x', details: { error_code: 'TIMEOUT' } },
];

/** Bodies of proxies, firewalls, and web frameworks. None is in the service's format. */
const OF_GATEWAYS: unknown[] = [
	{ error: 'Forbidden' },
	{ error: 'Not Found' },
	{ status: 404, error: 'Not Found' },
	{ timestamp: 1, status: 500, error: 'Internal Server Error', path: '/v1/call' },
	{ message: 'Forbidden' },
	{ error: { code: 403, message: 'Forbidden' } },
	{ success: 'false', error: 'Forbidden' },
	{ errors: [{ title: 'Forbidden' }] },
	{ errors: 'Forbidden' },
	{ errors: [] },
	{ errors: ['', ' ', 7, null] },
	{ error: '' },
	'<html>Forbidden</html>',
	'OK',
	'',
	' \n',
	'null',
	'1',
	'{"success":true,"data":{"call_id":"c',
	{ data: null },
	{ call_id: null, campaign_upload_id: null, success: null },
	[],
	{},
];

const STATUSES = uniq([
	199,
	200,
	204,
	299,
	300,
	302,
	304,
	307,
	308,
	400,
	401,
	403,
	404,
	407,
	408,
	409,
	413,
	422,
	429,
	499,
	500,
	502,
	503,
	504,
	599,
	999,
	...DOCUMENTED.flatMap(([, , , statuses = []]) => statuses),
]);

/** Statuses that mean "not processed". After a write, only two of the redirects do. */
function statusAloneRejects(method: string, status: number): boolean {
	if (method === 'GET' && status >= 300 && status < 400) return true;
	return [307, 308, 401, 407, 413, 429].includes(status);
}

/** Statuses of a rejection by the service: neither an outage nor a timeout. */
function mayReject(status: number): boolean {
	return (
		(status >= 200 && status < 300) || (status >= 400 && status < 500 && !TIMED_OUT.has(status))
	);
}
const TIMED_OUT = new Set([408, 499]);

async function resultOf(
	send: (client: ApiClient) => Promise<unknown>,
	status: number,
	body: unknown,
): Promise<{ outcome: string; code: ErrorCode | undefined; sent: number }> {
	const text = typeof body === 'string' ? body : JSON.stringify(body);
	let sent = 0;
	const transport = async () => {
		sent++;
		return await Promise.resolve({ status, headers: {}, text });
	};
	const result: unknown = await send(clientOf(transport)).catch((error: unknown) => error);
	if (!(result instanceof Error)) return { outcome: 'done', code: undefined, sent };
	if (!(result instanceof ExplainedError)) throw result;
	const code = result instanceof ServiceRejection ? result.rejection.code : undefined;
	return { outcome: result.outcome, code, sent };
}

describe.each(ENDPOINTS)('$name', ({ name, send, success }) => {
	const [method = ''] = name.split(' ');
	const attempts = (status: number) =>
		status === 429 || (method === 'GET' && status >= 500) ? 4 : 1;

	/** Checks the outcome of a body with every status. */
	async function expectRejection(body: unknown, isRejected: (status: number) => boolean) {
		for (const status of STATUSES) {
			const { outcome } = await resultOf(send, status, body);
			const expected = isRejected(status) ? 'rejected' : 'unknown';
			expect({ status, outcome }).toEqual({ status, outcome: expected });
		}
	}

	test.each(DOCUMENTED)(
		'%s is a rejection only at its endpoints in the contract',
		async (...row) => {
			const [code, raisedBy, body, statuses] = row;
			const isOwn = raisedBy.includes(name);
			for (const status of STATUSES) {
				const whole = await resultOf(send, status, { success: false, details: null, ...body });
				const isRejected =
					mayReject(status) ||
					statusAloneRejects(method, status) ||
					(isOwn && statuses === undefined);
				expect({ status, ...whole }).toMatchObject({
					status,
					outcome: isRejected ? 'rejected' : 'unknown',
					sent: attempts(status),
				});
				if (!isOwn && status !== 401) expect(whole.code).not.toBe(code);
				if (isOwn && mayReject(status)) expect(whole.code).toBe(code);
			}
			await expectRejection(
				body,
				(status) =>
					statusAloneRejects(method, status) ||
					(isOwn && statuses?.includes(status) !== false && mayReject(status)),
			);
		},
	);

	test.each(NOT_DOCUMENTED)(
		'%j: the envelope of the service rejects below 500, and nothing does for 5xx',
		async (body) => {
			await expectRejection(
				{ success: false, ...body },
				(status) => mayReject(status) || statusAloneRejects(method, status),
			);
		},
	);

	const isList = LISTS.includes(name);
	const gateways = isList ? OF_GATEWAYS.filter((body) => !Array.isArray(body)) : OF_GATEWAYS;
	test.each(gateways.map((body) => [body]))('%j proves nothing', async (body) => {
		await expectRejection(body, (status) => statusAloneRejects(method, status));
	});

	test('a list of `errors` is a validation error at 400 and 422', async () => {
		await expectRejection(
			{ errors: ['is invalid'] },
			(status) => status === 400 || status === 422 || statusAloneRejects(method, status),
		);
	});

	test('a success needs its proof and a 2xx', async () => {
		for (const status of STATUSES) {
			const { outcome, sent } = await resultOf(send, status, success);
			const isDone = status >= 200 && status < 300;
			// A sign of an effect after a write outweighs a status that means "not processed".
			const isRejected = statusAloneRejects(method, status) && method === 'GET';
			const otherwise = isRejected ? 'rejected' : 'unknown';
			expect({ status, outcome, sent }).toEqual({
				status,
				outcome: isDone ? 'done' : otherwise,
				sent: method === 'GET' ? attempts(status) : 1,
			});
		}
		for (const denied of ['false', 0, '', 'error', 'no']) {
			const { outcome } = await resultOf(send, 200, { ...success, success: denied });
			expect(outcome).toBe('unknown');
		}
	});
});

test.each(ENDPOINTS.filter(({ name }) => CALLING.includes(name)))(
	'$name: a rejection with the ID of a new call means an unknown outcome',
	async ({ send }) => {
		for (const status of [200, 307, 400, 401, 403, 413, 422, 429, 500]) {
			for (const [, , body] of DOCUMENTED) {
				for (const extra of [
					{ data: { call_id: CALL_ID } },
					{ call_id: CALL_ID },
					{ details: { calls: [{ call_id: 7 }] } },
				]) {
					const response = { success: false, ...body, ...extra };
					const unknown = { outcome: 'unknown', sent: 1 };
					expect(await resultOf(send, status, response)).toMatchObject(unknown);
				}
			}
			const nothing = { success: false, error: 'phone_number is invalid', data: { call_id: null } };
			const { outcome } = await resultOf(send, status, nothing);
			expect(outcome).toBe(status === 500 ? 'unknown' : 'rejected');
		}
	},
);
