import fc from 'fast-check';
import { inspect } from 'node:util';
import { ExplainedError } from '../../../../nodes/shared/api/errors';
import type { ApiResponse, HttpResponse } from '../../../../nodes/shared/api/http';
import type { ApiClient } from '../../../../nodes/shared/api/client';
import * as endpoints from '../../../../nodes/shared/api/endpoints';
import { isJsonObject, type JsonValue, parseJson } from '../../../../nodes/shared/json';
import { clientOf } from './clientOf';

const TOKEN = 'tok-0123456789ab';
const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const push = { agent_uuid: 'agent_a' };
const contacts = Buffer.from('{"phone":"9876543210"}');
const call = { agent_uuid: 'agent_a', country_code: 'IN', phone_number: '9876543210' };

type Send = (client: ApiClient) => Promise<ApiResponse>;

/** Each write with the proof of its success, defined independently of the nodes. */
const WRITES: Array<[string, Send, proof: (body: JsonValue) => boolean]> = [
	['call', async (s) => await endpoints.placeCall(s, call), (body) => has(body, 'call_id')],
	[
		'contacts',
		async (s) => await endpoints.pushContacts(s, 42, push, contacts),
		(body) => has(body, 'campaign_upload_id') || has(body, 'contacts_accepted'),
	],
	['DND add', async (s) => await endpoints.addDndNumber(s, {}), isSuccess],
	[
		'DND removal',
		async (s) => await endpoints.removeDndNumber(s, {}),
		(body) => isSuccess(body) && has(body, 'message'),
	],
	['support', async (s) => await endpoints.sendSupportCommand(s, ID, 'close'), isSuccess],
	['session', async (s) => await endpoints.createSession(s, {}), isSuccess],
	['async', async (s) => await endpoints.sendInboundAsync(s, {}), isSuccess],
	[
		'context',
		async (s) => await endpoints.injectContext(s, ID, { context: 'x' }),
		(body) => has(body, 'context') || has(body, 'session_id'),
	],
];

function isSuccess(body: JsonValue): boolean {
	return isJsonObject(body) && body.success === true;
}

function has(body: JsonValue, name: string): boolean {
	if (!isJsonObject(body)) return false;
	const holders = isJsonObject(body.data) ? [body, body.data] : [body];
	return holders.some(({ [name]: value = null }) => {
		if (typeof value === 'string') return value.trim() !== '';
		return value !== null && value !== false;
	});
}

/** Fields that only an effect fills. A session ID doesn't count, because every request has one. */
const EFFECTS = new Map([
	['call', ['call_id']],
	['contacts', ['campaign_upload_id', 'contacts_accepted']],
]);

function showsEffect(write: string, body: JsonValue | undefined): boolean {
	if (!isJsonObject(body)) return false;
	const holders = isJsonObject(body.data) ? [body, body.data] : [body];
	const filled = (EFFECTS.get(write) ?? []).flatMap((name) =>
		holders.map((holder) => holder[name]),
	);
	return isSuccess(body) || filled.some(identifies);
}

function identifies(value: JsonValue | undefined): boolean {
	return typeof value === 'number' ? value > 0 : typeof value === 'string' && /[^\s0]/.test(value);
}

/** A rejection of the service: `success: false`, an error text, or a documented code or reason. */
function speaks(body: JsonValue | undefined): boolean {
	if (!isJsonObject(body)) return false;
	const { success, error, errors, details, upstream_body: upstream } = body;
	const texts = [error, ...(Array.isArray(errors) ? errors : [errors])];
	return (
		success === false ||
		texts.some((text) => typeof text === 'string' && text !== '') ||
		(isJsonObject(details) && typeof details.error_code === 'string') ||
		(isJsonObject(upstream) && typeof upstream.reason === 'string')
	);
}

/** Parts of generated responses: documented names and values at any position, and others. */
const NAMES = [
	'success',
	'data',
	'error',
	'errors',
	'details',
	'error_code',
	'upstream_body',
	'reason',
	'message',
	'call_id',
	'campaign_upload_id',
	'contacts_accepted',
	'session_id',
	'context',
	'status',
	'token',
	'__proto__',
	'toString',
];
const VALUES = [
	true,
	false,
	null,
	'',
	' ',
	0,
	1,
	'error',
	'ok',
	'call_not_found',
	'Invalid API token',
	'contacts[3] is invalid',
	'NO_OUTBOUND_NUMBER_CONFIGURED',
	`echo ${TOKEN}`,
];
const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
	tree: fc.oneof(
		{ depthSize: 'small', withCrossShrink: true },
		fc.constantFrom<JsonValue[]>(...VALUES),
		fc.array(tie('tree'), { maxLength: 3 }),
		fc.dictionary(fc.oneof(fc.constantFrom(...NAMES), fc.string()), tie('tree'), { maxKeys: 5 }),
	),
}));
const envelope = fc.record<JsonValue>(
	{
		success: fc.constantFrom(true, false, 'true', null, 1),
		data: tree,
		error: tree,
		message: tree,
	},
	{ requiredKeys: [] },
);
const json = fc.oneof(tree, envelope).map((body) => JSON.stringify(body));
const text = fc.oneof(
	{ weight: 6, arbitrary: json },
	{
		weight: 1,
		arbitrary: fc.tuple(json, fc.nat(40)).map(([whole, cut]) => whole.slice(0, -cut - 1)),
	},
	{ weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
	{ weight: 1, arbitrary: json.map((body) => `<html><body>${body}</body></html>`) },
);
const status = fc.oneof(
	fc.constantFrom(
		200,
		200,
		201,
		202,
		204,
		302,
		307,
		400,
		401,
		403,
		404,
		408,
		409,
		413,
		422,
		429,
		499,
		500,
		502,
	),
	fc.integer({ min: 0, max: 999 }),
);
const responses = fc.record<HttpResponse>({
	status,
	text,
	headers: fc.constantFrom({}, { 'retry-after': '1' }, { 'retry-after': 'soon' }),
});

/** Statuses that mean "not processed". */
const NOT_PERFORMED = new Set([307, 308, 401, 407, 413, 429]);

describe.each(WRITES)('%s with any response', (write, send, proof) => {
	test('success and rejection need their proof, and everything else is unknown and sent once', async () => {
		await fc.assert(
			fc.asyncProperty(responses, async (response) => {
				let sent = 0;
				const transport = async () => {
					sent++;
					return await Promise.resolve(response);
				};
				const asking = send(clientOf(transport, TOKEN));
				const result: unknown = await asking.catch((error: unknown) => error);
				const body = parseJson(response.text);
				const isProven = body !== undefined && proof(body);
				expect(inspect(result, { depth: Infinity, showHidden: true })).not.toContain(TOKEN);
				if (!(result instanceof Error)) {
					expect(isProven).toBe(true);
					expect(response.status >= 200 && response.status < 300).toBe(true);
					return;
				}
				if (!(result instanceof ExplainedError)) throw result;
				if (result.outcome === 'rejected') {
					expect(speaks(body) || NOT_PERFORMED.has(response.status)).toBe(true);
				} else {
					expect(result.outcome).toBe('unknown');
				}
				// Only a 429 is sent again, and only without a sign of an effect.
				expect(sent).toBe(response.status === 429 && result.outcome === 'rejected' ? 4 : 1);
				if (result.outcome === 'rejected') expect(showsEffect(write, body)).toBe(false);
				expect(result.message).not.toBe('');
				expect(result.resolution).not.toBe('');
			}),
			{ numRuns: 300 },
		);
	});
});

test('a response of any depth can be checked', async () => {
	for (const body of [
		'{"data":'.repeat(20_000) + '1' + '}'.repeat(20_000),
		'['.repeat(20_000) + ']'.repeat(20_000),
		`{"error":${'['.repeat(20_000)}${']'.repeat(20_000)},"success":false,"echo":"${TOKEN}\\u0041"}`,
	]) {
		const transport = async () => await Promise.resolve({ status: 200, headers: {}, text: body });
		const asking = endpoints.placeCall(clientOf(transport, TOKEN), call);
		await expect(asking).rejects.toMatchObject({
			outcome: expect.stringMatching(/unknown|rejected/),
		});
	}
});
