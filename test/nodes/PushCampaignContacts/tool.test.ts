/** A push by a model: what it gets back, and that no number is pushed twice. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { createRunExecutionData, type WorkflowExecuteMode } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { MAX_NUMBERS_KEPT } from '../../../nodes/PushCampaignContacts/push/numbersOfExecution';
import type { JsonObject } from '../../../nodes/shared/json';
import { quoted } from '../../../nodes/shared/values';
import { engineHarness, engineTool, inlineTool, mcpTool, service } from '../../engine';
import { skipSleeps } from '../../engine/time';
import {
	accepted,
	respondWith,
	breaking,
	contactsOf,
	inTwos,
	ok,
	pushNode,
	PATH,
	phone,
	phonesOf,
	rejection,
	remembering,
	type NodeParameters,
} from './pushHarness';

engineHarness();
beforeEach(() => skipSleeps());
afterEach(() => jest.restoreAllMocks());

const toolNode = (parameters: NodeParameters = {}) =>
	pushNode({
		contactsFrom: 'json',
		contacts: "={{ $fromAI('contacts', '', 'json') }}",
		...parameters,
	});

const ROUTES = [
	['run by the engine', (node = toolNode()) => engineTool(node)],
	['run by the agent', (node = toolNode()) => inlineTool(node)],
	['run for an MCP client', (node = toolNode()) => mcpTool(node, randomUUID())],
	['run for an MCP client without a session', (node = toolNode()) => mcpTool(node)],
] as const;

let next = 100_000;
const contacts = (count: number) => Array.from({ length: count }, () => ({ phone: phone(next++) }));
/** As the hint for a person says. */
const NO_NAMES = 'The input has no column "person_name", so the contacts have no names.';
const UNKNOWN = /^5 rows: 2 pushed, 2 unknown, 1 not sent\. No response /;

describe.each(ROUTES)('%s', (_name, toolOf) => {
	const start = (parameters: NodeParameters = inTwos) => toolOf(toolNode(parameters));

	test('pushes the contacts, without the fields that n8n adds, and returns rejected ones', async () => {
		const bodies = respondWith(ok(2));
		const [one, other] = contacts(2);
		const given = [
			{ ...one, person_name: 'Asha' },
			{ ...other, action: 'renew', sessionId: 'of Ravi' },
		];
		const request = { contacts: [...given, { phone: '12' }], chatInput: 'call', sessionId: 'x' };
		expect(await start({})(request)).toMatchObject({
			outcome: 'partly_done',
			what_happened: '3 rows: 2 pushed, 1 rejected.',
			next_step: expect.stringMatching(
				/^Only a part was completed\. The rest is in 'rejected'.*Request again only what you can correct/,
			),
			result: {
				campaign_upload_id: 501,
				totals: { received: 3, pushed: 2, rejected: 1 },
				rejected: [{ phone: '12' }],
			},
		});
		expect(contactsOf(bodies[0])).toEqual(given);
	});

	test.each(['Dr. Rao NULL', 'Asha "A. NULL'])('is told that %j was not sent', async (name) => {
		respondWith(ok(1));
		const [one] = contacts(1);
		const given = [{ ...one, person_name: name }];
		expect(await start({})({ contacts: given })).toMatchObject({
			outcome: 'done',
			what_happened: expect.stringContaining(
				`1 cell has a word that stands for no value, such as ${quoted(name)}.`,
			),
		});
	});

	test('returns the response to each request', async () => {
		respondWith(ok(2), [200, accepted(1, { campaign_upload_id: 502 })]);
		expect(await start()({ contacts: contacts(3) })).toMatchObject({
			outcome: 'done',
			result: { campaign_upload_id: 501, further_requests: [{ campaign_upload_id: 502 }] },
		});
	});

	test('unknown outcome of the second request: the pushed contacts are reported', async () => {
		const bodies = breaking('ECONNRESET', respondWith(ok(2)));
		const given = contacts(5);
		expect(await start()({ contacts: given })).toMatchObject({
			outcome: 'unknown',
			what_happened: expect.stringMatching(UNKNOWN),
			next_step: expect.stringContaining('Do not repeat this request'),
			result: {
				totals: { pushed: 2, unknown: 2, not_sent: 1 },
				campaign_upload_id: 501,
				rejected: [
					{ phone: given[2]?.phone, rejection_status: 'unknown' },
					{ phone: given[3]?.phone, rejection_status: 'unknown' },
					{ phone: given[4]?.phone, rejection_status: 'not_sent' },
				],
			},
		});
		expect(bodies).toHaveLength(2);
	});

	test.each([
		['too many requests', 429, 'Too many requests', /Wait for a minute/],
		['an archived campaign', 409, 'Campaign is archived', /Request again only what you can/],
		['a wrong token', 401, 'Invalid API token', /person who set up this tool/],
	])('%s at the second request: partly done', async (_what, status, error, advice) => {
		respondWith(ok(2));
		service()
			.post(PATH)
			.times(status === 429 ? 4 : 1)
			.reply(status, rejection(error));
		const given = contacts(3);
		const answer = await start()({ contacts: given });
		expect(answer).toMatchObject({
			outcome: 'partly_done',
			what_happened: expect.stringMatching(/^3 rows: 2 pushed, 1 not sent\. The /),
			next_step: expect.stringMatching(advice),
			result: { rejected: [{ phone: given[2]?.phone, rejection_status: 'not_sent' }] },
		});
		expect(JSON.stringify(answer)).not.toMatch(/Nothing was (done|sent)|Do not ask for the same/);
	});

	test('timeout during the second request: the pushed contacts are reported', async () => {
		const over = new AbortController();
		// The push has three seconds to report what it has done.
		jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => await setTimeout(ms));
		jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(over.signal);
		respondWith(ok(2));
		service()
			.post(PATH)
			// The service accepts it, but its response doesn't arrive in time.
			.reply(200, async () => await new Promise(() => over.abort()));
		expect(await start()({ contacts: contacts(5) })).toMatchObject({
			outcome: 'unknown',
			what_happened: expect.stringMatching(UNKNOWN),
			result: { totals: { pushed: 2, unknown: 2, not_sent: 1 } },
		});
	});

	test('the service rejects each contact: outcome rejected', async () => {
		const invalid: [number, JsonObject] = [400, rejection('contacts[0].phone is invalid')];
		respondWith(invalid, invalid, invalid);
		expect(await start({})({ contacts: contacts(2) })).toMatchObject({
			outcome: 'rejected',
			what_happened: `2 rows: 0 pushed, 2 rejected. ${NO_NAMES}`,
			next_step: expect.stringMatching(/contacts\[0\]\.phone is invalid.*Nothing was done/),
		});
	});

	test.each([
		[[{ phone: '12' }], '1 row: 0 pushed, 1 rejected.'],
		[[], 'No contact was given, so nothing was sent.'],
	])('no usable contact (%j): nothing is sent', async (given, happened) => {
		const result = await start({})({ contacts: given });
		expect(result).toMatchObject({ outcome: 'not_sent', what_happened: happened });
	});
});

test('after too many requests, the remaining contacts can be pushed, and nobody twice', async () => {
	const push = engineTool(toolNode(inTwos));
	const bodies = respondWith(ok(2));
	service().post(PATH).times(4).reply(429, rejection('Too many requests'));
	const given = contacts(3);
	expect(await push({ contacts: given })).toMatchObject({ outcome: 'partly_done' });
	const later = respondWith(ok(1));
	expect(await push({ contacts: given })).toMatchObject({
		outcome: 'done',
		result: { totals: { pushed: 1, duplicate: 2 } },
	});
	expect([...bodies, ...later].flatMap(phonesOf)).toEqual(given.map((contact) => contact.phone));
});

test('the model is told what the response leaves open, as a person is', async () => {
	const push = engineTool(toolNode({ whatToDo: 'release' }));
	const more = { duplicates_removed: 1, enqueued: false, warnings: ['The campaign is paused.'] };
	respondWith([200, accepted(1, { contacts_received: 2, ...more })]);
	const { what_happened: happened } = await push({ contacts: contacts(2) });
	expect(happened).toContain("The service removed 1 duplicate and doesn't say which.");
	expect(happened).toContain("The service didn't confirm the release of 2 rows");
	expect(happened).toContain('Warning from the service: The campaign is paused.');
	expect(happened).not.toMatch(/'[A-Z]/);
});

test('the same contacts again: those that were skipped are sent again, and nobody twice', async () => {
	const push = engineTool(toolNode());
	const [one = { phone: '' }, listed = { phone: '' }] = contacts(2);
	const skipped = accepted(1, { dnd_skipped: [{ phone: `+91${listed.phone}` }] });
	const bodies = respondWith([200, skipped], ok(1));
	const given = { contacts: [one, listed] };
	expect(await push(given)).toMatchObject({
		outcome: 'partly_done',
		what_happened: `2 rows: 1 pushed, 1 on the do-not-disturb list. ${NO_NAMES}`,
		result: { rejected: [{ phone: listed.phone, rejection_status: 'do_not_disturb' }] },
	});
	expect(await push(given)).toMatchObject({
		outcome: 'done',
		result: { rejected: [{ phone: one.phone, rejection_status: 'duplicate' }] },
	});
	expect(await push(given)).toMatchObject({ outcome: 'already_done' });
	expect(bodies.map(phonesOf)).toEqual([[one.phone, listed.phone], [listed.phone]]);
});

test('if nobody is pushed, a model gets the first five reasons with their contacts', async () => {
	const push = engineTool(toolNode());
	const given = Array.from({ length: 7 }, (_, index) => ({ phone: `12${index}` }));
	const { outcome, next_step: next } = await push({ contacts: given });
	expect(outcome).toBe('not_sent');
	expect(next).toContain('[row 5]');
	expect(next).not.toContain('[row 6]');
	expect(next).toContain('And 2 more rows.');
});

// Without a session, n8n can't know that two requests are from the same client.
describe.each(ROUTES.slice(0, -1))('%s, a number is pushed once', (_name, toolOf) => {
	const list = (...indexes: number[]) => ({
		contacts: indexes.map((index) => ({ phone: phone(index) })),
	});

	test('in any list', async () => {
		const call = toolOf();
		const bodies = respondWith(ok(2), ok(1));
		expect(await call(list(0, 1))).toMatchObject({ outcome: 'done' });
		for (const other of [list(0, 1), list(1, 0), list(1), list(0), list(0, 1, 1)]) {
			const again = { outcome: 'already_done', result: { totals: { pushed: 0 } } };
			expect(await call(other)).toMatchObject(again);
		}
		expect(await call(list(2, 1))).toMatchObject({
			outcome: 'done',
			result: {
				rejected: [
					{
						phone: phone(1),
						rejection_status: 'duplicate',
						rejection_reason:
							"This number was pushed to the campaign earlier in this execution or session, so it wasn't pushed again.",
					},
				],
			},
		});
		expect(bodies.map(phonesOf)).toEqual([[phone(0), phone(1)], [phone(2)]]);
	});

	test('also if two requests come at the same time', async () => {
		const call = toolOf();
		const bodies = respondWith(ok(2));
		const results = await Promise.all([call(list(0, 1)), call(list(0, 1))]);
		expect(results).toMatchObject([{ outcome: 'done' }, { outcome: 'already_done' }]);
		expect(bodies).toHaveLength(1);
	});

	test('also if its outcome is unknown', async () => {
		const call = toolOf();
		breaking('ECONNRESET');
		for (const each of [list(0, 1), list(0, 1), list(1, 0), list(1), list(0)]) {
			expect(await call(each)).toMatchObject({ outcome: 'unknown' });
		}
		const bodies = respondWith(ok(1));
		expect(await call(list(0, 2))).toMatchObject({ outcome: 'partly_done' });
		expect(bodies.map(phonesOf)).toEqual([[phone(2)]]);
	});
});

test('if an agent run has pushed as many numbers as it can remember, nothing more is pushed', async () => {
	const data = createRunExecutionData({});
	const push = engineTool(toolNode(), { data });
	const bodies = respondWith(ok(1));
	await push({ contacts: contacts(1) });
	const stored = JSON.stringify(data.executionData?.contextData);
	const full = stored.replace('"count":1', `"count":${MAX_NUMBERS_KEPT}`);
	Object.assign(data.executionData?.contextData ?? {}, JSON.parse(full));
	expect(await push({ contacts: contacts(1) })).toMatchObject({
		outcome: 'not_sent',
		next_step: expect.stringContaining('which contacts were not pushed'),
	});
	expect(bodies).toHaveLength(1);
});

test('pushes again to another campaign, in another agent run, and in another session', async () => {
	const given = { contacts: contacts(1) };
	const bodies = respondWith(ok(1), ok(1), ok(1));
	service().post('/v1/campaigns/43/contacts').reply(200, accepted(1));
	const ofModel = toolNode({ campaignId: "={{ $fromAI('campaign', '') }}" });
	const call = engineTool(ofModel);
	for (const campaign of ['42', '43']) {
		expect(await call({ ...given, campaign })).toMatchObject({ outcome: 'done' });
	}
	await engineTool(toolNode(), { run: 1 })(given);
	await mcpTool(toolNode(), 'another session')(given);
	expect(bodies).toHaveLength(3);
});

/** An execution, and a retry of it after a crash. */
function attempts() {
	const startedAt = Date.now();
	return (mode: WorkflowExecuteMode) => {
		const runtimeData = { version: 1, establishedAt: startedAt, source: 'trigger' } as const;
		const data = createRunExecutionData({ executionData: { runtimeData } });
		return engineTool(toolNode(), { data, mode });
	};
}

test.each<[string, number, JsonObject]>([
	['rejected', 400, rejection('contacts[0].phone is invalid')],
	['left out', 200, accepted(0, { contacts_received: 1, dnd_skipped: [{ phone: phone(700) }] })],
])(
	'after a crash, a contact of a model that the service %s is sent again',
	async (_what, ...response) => {
		const attempt = attempts();
		const bodies = respondWith(response, ok(1));
		const given = { contacts: [{ phone: phone(700) }] };
		expect(await attempt('trigger')(given)).toMatchObject({ outcome: 'rejected' });
		expect(await attempt('retry')(given)).toMatchObject({ outcome: 'done' });
		expect(bodies).toHaveLength(2);
	},
);

test('after a crash, contacts that a model moved to its first list of unusable numbers are not pushed again', async () => {
	const bodies: JsonObject[] = [];
	service().post(PATH, remembering(bodies)).optionally().times(2).reply(200, accepted(2));
	const attempt = attempts();
	const [one, other, third] = contacts(3);
	const first = attempt('trigger');
	expect(await first({ contacts: [{ phone: '12' }] })).toMatchObject({ outcome: 'not_sent' });
	expect(await first({ contacts: [one, other] })).toMatchObject({ outcome: 'done' });
	const again = await attempt('retry')({ contacts: [one, other, third] });
	expect(again).toMatchObject({ outcome: 'unknown' });
	expect(bodies).toHaveLength(1);
});
