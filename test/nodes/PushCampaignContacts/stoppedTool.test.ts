/** The tool result of a push that stops early, or that pushes nobody. */
import { randomUUID } from 'node:crypto';
import { createRunExecutionData, type WorkflowExecuteMode } from 'n8n-workflow';
import type { JsonObject } from '../../../nodes/shared/json';
import { engineHarness, engineTool, inlineTool, mcpTool, service } from '../../engine';
import { skipSleeps } from '../../engine/time';
import {
	accepted,
	respondWith,
	breaking,
	pushNode,
	PATH,
	phone,
	phonesOf,
	rejection,
	remembering,
	type NodeParameters,
} from './pushHarness';

const harness = engineHarness();
beforeEach(() => skipSleeps());
afterEach(() => jest.restoreAllMocks());

const toolNode = (parameters: NodeParameters = {}) =>
	pushNode(harness, {
		contactsFrom: 'json',
		contacts: "={{ $fromAI('contacts', '', 'json') }}",
		...parameters,
	});

const ROUTES = [
	['run by the engine', (node = toolNode()) => engineTool(harness.credentials, node)],
	['run by the agent', (node = toolNode()) => inlineTool(harness.credentials, node)],
	[
		'run for an MCP client',
		(node = toolNode()) => mcpTool(harness.credentials, node, randomUUID()),
	],
	[
		'run for an MCP client without a session',
		(node = toolNode()) => mcpTool(harness.credentials, node),
	],
] as const;

let next = 100_000;
const contacts = (count: number) => Array.from({ length: count }, () => ({ phone: phone(next++) }));
const inTwos = { developerSettings: { contactsPerRequest: 2 } };

describe.each(ROUTES)('%s', (_name, toolOf) => {
	const start = (parameters: NodeParameters = inTwos) => toolOf(toolNode(parameters));

	test('unknown outcome of the second request: the pushed contacts are reported', async () => {
		const bodies = breaking('ECONNRESET', respondWith([200, accepted(2)]));
		const given = contacts(5);
		const answer = await start()({ contacts: given });
		expect(bodies).toHaveLength(2);
		expect(answer).toMatchObject({
			outcome: 'unknown',
			what_happened: expect.stringMatching(
				/^5 rows: 2 pushed, 2 unknown, 1 not sent\. The connection/,
			),
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
	});

	test.each([
		['too many requests', 429, rejection('Too many requests'), /Wait for a minute/],
		[
			'an archived campaign',
			409,
			rejection('Campaign is archived'),
			/Request again only what you can/,
		],
		['a wrong token', 401, rejection('Invalid API token'), /person who set up this tool/],
	])('%s at the second request: partly done', async (_what, status, body, advice) => {
		respondWith([200, accepted(2)]);
		service()
			.post(PATH)
			.times(status === 429 ? 4 : 1)
			.reply(status, body);
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
		jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(over.signal);
		respondWith([200, accepted(2)]);
		service()
			.post(PATH)
			.reply(200, () => {
				over.abort();
				return accepted(2);
			});
		expect(await start()({ contacts: contacts(5) })).toMatchObject({
			outcome: 'unknown',
			what_happened: expect.stringMatching(
				/^5 rows: 2 pushed, 2 unknown, 1 not sent\. The service/,
			),
			result: { totals: { pushed: 2, unknown: 2, not_sent: 1 } },
		});
	});

	test('the service rejects each contact: outcome rejected', async () => {
		const [one, other] = contacts(2);
		respondWith(
			[400, rejection('contacts[0].phone is invalid')],
			[400, rejection('contacts[0].phone is invalid')],
			[400, rejection('contacts[0].phone is invalid')],
		);
		expect(await start({})({ contacts: [one, other] })).toMatchObject({
			outcome: 'rejected',
			what_happened: '2 rows: 0 pushed, 2 rejected.',
			next_step: expect.stringMatching(/contacts\[0\]\.phone is invalid.*Nothing was done/),
		});
	});

	test('no usable contact: nothing is sent', async () => {
		expect(await start({})({ contacts: [{ phone: '12' }] })).toMatchObject({
			outcome: 'not_sent',
			what_happened: '1 row: 0 pushed, 1 rejected.',
		});
	});
});

test('the same request after an unknown outcome sends nothing and reports the same', async () => {
	const push = engineTool(harness.credentials, toolNode(inTwos));
	const bodies = breaking('ECONNRESET', respondWith([200, accepted(2)]));
	const given = contacts(4);
	await push({ contacts: given });
	expect(await push({ contacts: given })).toMatchObject({
		outcome: 'unknown',
		what_happened: expect.stringMatching(/^4 rows: 2 pushed, 2 unknown\. The connection/),
	});
	expect(bodies).toHaveLength(2);
});

test('after too many requests, the remaining contacts can be pushed, and nobody twice', async () => {
	const push = engineTool(harness.credentials, toolNode(inTwos));
	const bodies = respondWith([200, accepted(2)]);
	service().post(PATH).times(4).reply(429, rejection('Too many requests'));
	const given = contacts(3);
	expect(await push({ contacts: given })).toMatchObject({ outcome: 'partly_done' });
	const later = respondWith([200, accepted(1)]);
	expect(await push({ contacts: given })).toMatchObject({
		outcome: 'done',
		result: { totals: { pushed: 3 } },
	});
	expect([...bodies, ...later].flatMap(phonesOf)).toEqual(given.map((contact) => contact.phone));
});

test('after a crash, contacts that a model moved to its first list of unusable numbers are not pushed again', async () => {
	const bodies: JsonObject[] = [];
	service().post(PATH, remembering(bodies)).optionally().times(2).reply(200, accepted(2));
	const startedAt = Date.now();
	const attempt = (mode: WorkflowExecuteMode) => {
		const runtimeData = { version: 1, establishedAt: startedAt, source: 'trigger' } as const;
		const data = createRunExecutionData({ executionData: { runtimeData } });
		return engineTool(harness.credentials, toolNode(), { data, mode });
	};
	const [one, other, third] = contacts(3);
	const first = attempt('trigger');
	expect(await first({ contacts: [{ phone: '12' }] })).toMatchObject({ outcome: 'not_sent' });
	expect(await first({ contacts: [one, other] })).toMatchObject({ outcome: 'done' });
	const again = await attempt('retry')({ contacts: [one, other, third] });
	expect(again).toMatchObject({ outcome: 'unknown' });
	expect(bodies).toHaveLength(1);
});
