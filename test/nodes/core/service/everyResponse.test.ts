/**
 * Every endpoint × every documented error and typical gateway bodies × every status, compared with docs/openapi.yaml.
 */
import isEqual from 'lodash/isEqual';
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

/** Whether the document shows the error at this endpoint without a status. */
const isShownAt = (name: string, error: ErrorCode) =>
	DOCUMENTED.some(
		([code, raisedBy, , statuses]) =>
			code === error && statuses === undefined && raisedBy.includes(name),
	);

/** Errors that the document doesn't name, also in texts of a failing service. */
const NOT_DOCUMENTED: JsonObject[] = [
	{ error: 'Deadlock while saving contacts[2]' },
	{ error: 'RuntimeError: agent_not_found\n  at dial (call.rb:7)' },
	{ error: 'Lock wait timeout: could not read phone' },
	{ error: "Couldn't find Campaign\n  from campaign.rb:7" },
	{ error: 'x', upstream_body: { state: 'timeout', reason: 'deadline' } },
	{ errors: ['agent_not_found', 'Deadlock found'] },
	{ error: 'Internal server error' },
	{ errors: ['is invalid'] },
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

/** One of each kind, and the first and last of a kind. */
const KINDS = [
	199, 200, 299, 300, 307, 308, 399, 400, 401, 403, 404, 407, 408, 413, 422, 429, 499, 500, 599,
	999,
];
const STATUSES = uniq([...KINDS, ...DOCUMENTED.flatMap(([, , , statuses = []]) => statuses)]);

const statusRejects = (status: number) => [307, 308, 401, 407, 413, 429].includes(status);

/** Statuses of a rejection by the service: neither an outage nor a timeout. */
function mayReject(status: number): boolean {
	return (
		(status >= 200 && status < 300) || (status >= 400 && status < 500 && !TIMED_OUT.has(status))
	);
}
const TIMED_OUT = new Set([408, 499]);

type Result = { outcome: string; code: ErrorCode | undefined; sent: number };

async function resultOf(
	send: (client: ApiClient) => Promise<unknown>,
	status: number,
	body: unknown,
): Promise<Result> {
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

test.each(ENDPOINTS)('$name: each response has its outcome', async ({ name, send, success }) => {
	const [method = ''] = name.split(' ');
	const attempts = (status: number) =>
		status === 429 || (method === 'GET' && status >= 500) ? 4 : 1;
	const faults: object[] = [];
	/** Sends a request for each status, and notes each result that isn't as wanted. */
	async function check(
		body: unknown,
		wanted: (status: number, result: Result) => Partial<Result>,
		statuses: readonly number[] = STATUSES,
	) {
		for (const status of statuses) {
			const result = await resultOf(send, status, body);
			const expected = { ...result, ...wanted(status, result) };
			if (!isEqual(result, expected)) faults.push({ body, status, ...result, expected });
		}
	}
	/** The body is a rejection with these statuses, and otherwise proves nothing. */
	const rejects = async (body: unknown, isRejected: (status: number) => boolean) => {
		await check(body, (status) => ({ outcome: isRejected(status) ? 'rejected' : 'unknown' }));
	};

	// The envelope of the service rejects below 500, and above only if the document shows the error here without a status.
	const isRejected = (status: number) => mayReject(status) || statusRejects(status);
	for (const [code, raisedBy, body, statuses] of DOCUMENTED) {
		const isNamed = (status: number) =>
			raisedBy.includes(name) && (statuses?.includes(status) ?? !statusRejects(status));
		const isAlways = isShownAt(name, code);
		await check({ success: false, details: null, ...body }, (status) => ({
			outcome: isAlways || isRejected(status) ? 'rejected' : 'unknown',
			sent: attempts(status),
			...(isNamed(status) && { code }),
		}));
		await rejects(body, statusRejects);
	}
	for (const body of NOT_DOCUMENTED) await rejects({ success: false, ...body }, isRejected);

	const isList = LISTS.includes(name);
	const gateways = isList ? OF_GATEWAYS.filter((body) => !Array.isArray(body)) : OF_GATEWAYS;
	for (const body of gateways) await rejects(body, statusRejects);

	// A validation error.
	const isValidated = (status: number) => [400, 422].includes(status) || statusRejects(status);
	await rejects({ errors: ['is invalid'] }, isValidated);

	// A success needs a 2xx, and its proof.
	await check(success, (status) => {
		if (status >= 200 && status < 300) return { outcome: 'done', sent: 1 };
		// A sign of an effect after a write outweighs a status that means "not processed".
		const isRead = method === 'GET';
		const outcome = isRead && statusRejects(status) ? 'rejected' : 'unknown';
		return { outcome, sent: isRead ? attempts(status) : 1 };
	});
	for (const denied of ['false', 0, '', 'error', 'no'])
		await check({ ...success, success: denied }, () => ({ outcome: 'unknown' }), [200]);
	expect(faults).toEqual([]);
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
