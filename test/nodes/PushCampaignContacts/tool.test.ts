/** A push by a model: what it gets back, and that no number is pushed twice. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import range from 'lodash/range';
import { createRunExecutionData, type IDataObject, type WorkflowExecuteMode } from 'n8n-workflow';
import { clock } from '../../../nodes/host/clock';
import { engineTool, inlineTool, mcpTool } from '../../engine';
import {
	accepted,
	accepting,
	ARCHIVED,
	BROKEN,
	contactsOf,
	inTwos,
	ok,
	phone,
	pushNode,
	rejection,
	respondWith,
	scripted,
	type NodeParameters,
	type Reply,
	butRequest,
	phones,
	pushHarness,
} from './pushHarness';

pushHarness();

const toolNode = (parameters: NodeParameters = {}) =>
	pushNode({
		contactsFrom: 'json',
		contacts: "={{ $fromAI('contacts', '', 'json') }}",
		...parameters,
	});

const WITH_SESSION = [
	['run by the engine', (node = toolNode()) => engineTool(node)],
	['run by the agent', (node = toolNode()) => inlineTool(node)],
	['run for an MCP client', (node = toolNode()) => mcpTool(node, randomUUID())],
] as const;
const ROUTES = [
	...WITH_SESSION,
	['run for an MCP client without a session', (node = toolNode()) => mcpTool(node)],
] as const;

const list = (...rows: number[]) => ({ contacts: rows.map((row) => ({ phone: phone(row) })) });
test.each(ROUTES)(
	'%s, pushes the contacts without the fields that n8n adds, and returns rejected ones',
	async (_route, toolOf) => {
		const bodies = respondWith(ok(2));
		const given = [
			{ phone: phone(0), person_name: 'Asha' },
			{ phone: phone(1), action: 'renew', sessionId: 'of Ravi' },
		];
		const request = { contacts: [...given, { phone: '12' }], chatInput: 'call', sessionId: 'x' };
		expect(await toolOf()(request)).toMatchObject({
			outcome: 'partly_done',
			what_happened: '3 rows: 2 pushed, 1 rejected.',
			next_step: expect.stringMatching(
				/^\[row 3\] "12" has 2 digits.*Only a part was completed\. The rest is in 'rejected'/,
			),
			result: {
				campaign_upload_ids: [501],
				totals: { received: 3, pushed: 2, rejected: 1 },
				rejected: [{ phone: '12' }],
			},
		});
		expect(contactsOf(bodies[0])).toEqual(given);
	},
);

describe('what the model is told', () => {
	const push = async (contacts: IDataObject, parameters: NodeParameters = inTwos) =>
		await engineTool(toolNode(parameters))(contacts);

	test('the sum of the responses', async () => {
		scripted();
		const { outcome, result } = await push(list(0, 1, 2));
		expect(outcome).toBe('done');
		expect(result).toMatchObject({
			totals: { received: 3, pushed: 3, rejected: 0, requests: 2 },
			campaign_upload_ids: [501, 502],
			enqueued: false,
			contacts_received: 3,
			contacts_accepted: 3,
			rejected: [],
		});
		// It's in what_happened.
		expect(result).not.toHaveProperty('summary');
	});

	test('what the response leaves open, and what was not sent, as a person is', async () => {
		const more = { duplicates_removed: 1, enqueued: false, warnings: ['The campaign is paused.'] };
		respondWith([200, accepted(1, { contacts_received: 2, ...more })]);
		const contacts = [{ phone: phone(0), person_name: 'Asha "A. NULL' }, { phone: phone(1) }];
		const { what_happened: happened } = await push({ contacts }, { whatToDo: 'release' });
		expect(happened).toContain("The service removed 1 duplicate and doesn't say which.");
		expect(happened).toContain("the service didn't confirm the release of 2 rows");
		expect(happened).toContain('Warning from the service: The campaign is paused.');
	});

	test.each([
		['its connection breaks', () => BROKEN],
		[
			'the time of the tool ends',
			(over: AbortController): Reply => {
				over.abort();
				return ok(2);
			},
		],
	])('which contacts were pushed, if %s during the second request', async (_what, respond) => {
		const over = new AbortController();
		jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(over.signal);
		// The push has three seconds to report what it has done.
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => await setTimeout(ms));
		const sent = scripted((...request) =>
			request[1] === 2 ? respond(over) : accepting(...request),
		);
		expect(await push(list(0, 1, 2, 3, 4))).toMatchObject({
			outcome: 'unknown',
			what_happened: expect.stringMatching(
				/^5 rows: 2 pushed, 2 unknown, 1 not sent\. No response /,
			),
			next_step: expect.stringContaining('Do not repeat this request'),
			result: {
				totals: { pushed: 2, unknown: 2, not_sent: 1 },
				campaign_upload_ids: [501],
				rejected: ['unknown', 'unknown', 'not_sent'].map((status, nth) => ({
					phone: phone(nth + 2),
					push_status: status,
				})),
			},
		});
		expect(sent).toHaveLength(2);
	});

	test.each<[Reply, RegExp]>([
		[[429, rejection('Too many requests'), { 'Retry-After': '0' }], /Wait for a minute/],
		[[403, rejection('Forbidden')], /Request again only what you can/],
		[ARCHIVED, /Use another campaign/],
		[[401, rejection('Invalid API token')], /person who set up this tool/],
	])('what to do after a second request with response %j', async (reply, advice) => {
		scripted((numbers, request) => (request > 1 ? reply : accepting(numbers, request)));
		const answer = await push(list(0, 1, 2));
		expect(answer).toMatchObject({
			outcome: 'partly_done',
			what_happened: expect.stringMatching(/^3 rows: 2 pushed, 1 not sent\. The /),
			next_step: expect.stringMatching(advice),
			result: { rejected: [{ phone: phone(2), push_status: 'not_sent' }] },
		});
		expect(JSON.stringify(answer)).not.toMatch(/Nothing was (done|sent)|Do not ask for the same/);
	});

	const UNUSABLE = range(7).map((row) => ({ phone: `12${row}` }));
	test.each<[string, IDataObject, happened: string, next: RegExp]>([
		['that no contact was given', { contacts: [] }, '0 rows: 0 pushed.', /^Nothing was done\./],
		[
			'that it gave too many contacts',
			list(...range(1_001)),
			"'Contacts' has 1,001 contacts, but JSON input is limited to 1,000. Nothing was sent.",
			/^Send at most 1,000 at a time\. Nothing was done/,
		],
		[
			'the first five reasons with their contacts',
			{ contacts: UNUSABLE },
			'7 rows: 0 pushed, 7 rejected.',
			/\[row 1\] .*\[row 5\] (?!.*\[row 6\]).*, and 2 more/,
		],
	])('if nothing is sent: %s', async (_what, contacts, happened, next) => {
		const told = {
			outcome: 'not_sent',
			what_happened: happened,
			next_step: expect.stringMatching(next),
		};
		expect(await push(contacts)).toMatchObject(told);
	});
});

// Without a session, n8n can't know that two requests are from the same client.
describe.each(WITH_SESSION)('%s, a number is pushed once', (route, toolOf) => {
	test('in any list, also if two requests come at the same time', async () => {
		const call = toolOf();
		const sent = scripted();
		// n8n stores no record of a session.
		const isSession = route.includes('MCP');
		const [outcome, status] = isSession ? ['unknown', 'unknown'] : ['not_sent', 'sent_before'];
		expect(await Promise.all([call(list(0, 1)), call(list(0, 1))])).toMatchObject([
			{ outcome: 'done' },
			{ outcome },
		]);
		for (const other of [list(1, 0), list(1), list(0, 1, 1)]) {
			expect(await call(other)).toMatchObject({ outcome });
		}
		expect(await call(list(2, 1))).toMatchObject({
			outcome: isSession ? 'unknown' : 'done',
			result: { rejected: [{ phone: phone(1), push_status: status }] },
		});
		expect(sent).toEqual([phones(0, 1), phones(2)]);
	});

	test('also if its outcome is unknown', async () => {
		const call = toolOf();
		const sent = scripted(butRequest(1, BROKEN));
		for (const each of [list(0, 1), list(1, 0), list(1)]) {
			expect(await call(each)).toMatchObject({ outcome: 'unknown' });
		}
		expect(await call(list(0, 2))).toMatchObject({
			outcome: 'unknown',
			what_happened: expect.stringContaining('2 rows: 1 pushed, 1 unknown.'),
		});
		expect(sent).toEqual([phones(0, 1), phones(2)]);
	});
});

test('of the same contacts again, those that were not pushed are sent, and nobody twice', async () => {
	const push = engineTool(toolNode(inTwos));
	const listed = accepted(1, { dnd_skipped: [phone(1)] });
	const tooMany: Reply = [429, rejection('Too many requests'), { 'Retry-After': '3600' }];
	const replies: Reply[] = [[200, listed], tooMany];
	const sent = scripted((...request) => replies[request[1] - 1] ?? accepting(...request));
	const given = list(0, 1, 2);
	expect([await push(given), await push(given), await push(given)]).toMatchObject([
		{
			outcome: 'partly_done',
			result: {
				rejected: [{ push_status: 'do_not_disturb' }, { push_status: 'not_sent' }],
			},
		},
		{
			outcome: 'done',
			result: { rejected: [{ phone: phone(0), push_status: 'sent_before' }] },
		},
		{ outcome: 'not_sent' },
	]);
	expect(sent).toEqual([phones(0, 1), phones(2), phones(1, 2)]);
});

test.each<[Reply | Error, outcome: string, happened: string]>([
	[ARCHIVED, 'rejected', '4 rows: 0 pushed, 2 sent before, 2 not sent. The campaign'],
	[BROKEN, 'unknown', '4 rows: 0 pushed, 2 sent before, 2 unknown. No response'],
])(
	'of the same contacts again, the model learns which are in the campaign, if the others get %j',
	async (reply, outcome, happened) => {
		const push = engineTool(toolNode(inTwos));
		scripted((...request) => (request[1] > 1 ? reply : accepting(...request)));
		await push(list(0, 1));
		expect(await push(list(0, 1, 2, 3))).toMatchObject({
			outcome,
			what_happened: expect.stringContaining(happened),
		});
	},
);

test('of the same contacts again, those with an unknown outcome stay unknown, if the campaign is archived by then', async () => {
	const push = engineTool(toolNode(inTwos));
	scripted((...request) => (request[1] > 1 ? ARCHIVED : BROKEN));
	for (const given of [list(0, 1), list(0, 1, 2, 3)]) {
		expect(await push(given)).toMatchObject({
			outcome: 'unknown',
			next_step: expect.stringContaining('Do not repeat this request'),
		});
	}
});

test('pushes again to another campaign, in another agent run, and in another session', async () => {
	const sent = scripted();
	const ofModel = toolNode({ campaignId: "={{ $fromAI('campaign', '') }}" });
	const call = engineTool(ofModel);
	for (const campaign of ['42', '43']) {
		expect(await call({ ...list(0), campaign })).toMatchObject({ outcome: 'done' });
	}
	await engineTool(toolNode(), { run: 1 })(list(0));
	await mcpTool(toolNode(), 'another session')(list(0));
	expect(sent).toHaveLength(4);
});

describe('after a crash, a retry', () => {
	/** An execution, and a retry of it. */
	function attempts() {
		const startedAt = Date.now();
		return (mode: WorkflowExecuteMode) => {
			const runtimeData = { version: 1, establishedAt: startedAt, source: 'trigger' } as const;
			const data = createRunExecutionData({ executionData: { runtimeData } });
			return engineTool(toolNode(), { data, mode });
		};
	}

	test.each<[string, Reply]>([
		['rejected', [400, rejection('contacts[0].phone is invalid')]],
		['left out', [200, accepted(0, { contacts_received: 1, dnd_skipped: [phone(0)] })]],
	])('sends a contact again that the service %s', async (_what, reply) => {
		const sent = scripted(butRequest(1, reply));
		const attempt = attempts();
		expect(await attempt('trigger')(list(0))).toMatchObject({ outcome: 'rejected' });
		expect(await attempt('retry')(list(0))).toMatchObject({ outcome: 'done' });
		expect(sent).toHaveLength(2);
	});

	test('pushes only the contacts that no earlier list had', async () => {
		const sent = scripted();
		const attempt = attempts();
		const first = attempt('trigger');
		expect(await first({ contacts: [{ phone: '12' }] })).toMatchObject({ outcome: 'not_sent' });
		expect(await first(list(0, 1))).toMatchObject({ outcome: 'done' });
		expect(await attempt('retry')(list(0, 1, 2))).toMatchObject({
			outcome: 'unknown',
			result: { rejected: [{ push_status: 'unknown' }, { push_status: 'unknown' }] },
		});
		expect(sent).toEqual([phones(0, 1), phones(2)]);
	});
});
