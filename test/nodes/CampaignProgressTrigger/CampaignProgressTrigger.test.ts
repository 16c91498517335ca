import { randomUUID } from 'node:crypto';
import set from 'lodash/set';
import nock from 'nock';
import type { IDataObject, INode, INodeParameters, IPollFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { plainText } from '../../../nodes/core/values/values';
import {
	activate,
	engineHarness,
	holdTimeouts,
	makeWorkflow,
	mockTime,
	nodeTypes,
	pollContext,
	service,
	useNoWaits,
} from '../../engine';

const harness = engineHarness();
useNoWaits();
afterEach(() => jest.restoreAllMocks());

const TYPES = ['status_changed', 'queue_completed', 'call_counts_changed'];
const [STATUS = '', QUEUE = '', COUNTS = ''] = TYPES;
const BASE: INodeParameters = {
	campaignId: '42',
	events: TYPES,
	pollTimes: { item: [{ mode: 'everyMinute' }] },
};
const USUAL = {
	campaign: { id: 42, status: 'Active' },
	calls: { total: 10, by_status: { picked: 10 } },
	uploads: listOf('a5'),
};
const PAUSED = { campaign: { id: 42, status: 'Paused' } };

/** A contact list with a queue for each agent, such as `a5`: 5 contacts of agent a. In upper case, it's completed. */
function listOf(queues: string) {
	return [
		{
			campaign_upload_id: 1,
			file_name: 'list_1.csv',
			queues: queues.split(' ').map((queue) => ({
				agent_uuid: queue.charAt(0).toLowerCase(),
				total_queued: Number(queue.slice(1)),
				completed: /^[A-Z]/.test(queue),
			})),
		},
	];
}

/** A campaign status, by what differs from the usual one, or the queues. */
type State = string | object;
const bodyOf = (state: State = {}) => ({
	success: true,
	data: { ...USUAL, ...(typeof state === 'string' ? { uploads: listOf(state) } : state) },
});
const endpoint = (id = '42') => service().get(`/v1/campaigns/${id}/status`);

type Request = IPollFunctions['helpers']['httpRequestWithAuthentication'];
type Look = { mode?: 'trigger' | 'manual'; request?: Request; budgetMs?: number };

/** A trigger that follows a campaign, with what n8n has stored of it. */
function follower(
	parameters: INodeParameters = {},
	id: string = randomUUID(),
	stored: object = {},
) {
	const form = { ...BASE, ...parameters };
	const node = harness.node('campaignProgressTrigger', { id, parameters: form });
	const workflow = makeWorkflow([node]);
	Object.assign(workflow.staticData, structuredClone(stored));
	const look = async ({ mode = 'trigger', request, budgetMs }: Look = {}) => {
		const context = pollContext(workflow, node, mode, budgetMs);
		if (request) context.helpers.httpRequestWithAuthentication = request;
		const found = await nodeTypes.getByNameAndVersion(node.type).poll?.call(context);
		return found?.[0]?.map(({ json }) => json) ?? [];
	};
	return {
		look,
		/** Looks when the service responds with this. */
		see: async (state?: State, options: Look = {}) => {
			endpoint(plainText(form.campaignId)).reply(200, bodyOf(state));
			return await look(options);
		},
		stored: (): IDataObject => {
			const copy: unknown = JSON.parse(JSON.stringify(workflow.staticData));
			return z.custom<IDataObject>().parse(copy);
		},
	};
}
const events = (found: IDataObject[]) => found.map(({ event }) => plainText(event)).join(' ');
/** With durable cursors, n8n keeps of a publication what is stored for the workflow, not for the node. */
const ofWorkflow = ({ global }: IDataObject) => ({ global });

const noCalls = { calls: null };
const higher = { calls: { total: 12, by_status: { picked: 12 } } };
const redialed = { ...higher, uploads: listOf('A5') };
const otherList = { campaign_upload_id: 2, queues: [{ agent_uuid: 'a', completed: true }] };
const listWithoutQueues = [{ campaign_upload_id: 1, file_name: 'list_1.csv' }];

describe('the events of each check:', () => {
	test.each<[string, State[], string[]]>([
		['nothing', [{}, {}], ['', '']],
		['a status', [{}, PAUSED, PAUSED], ['', STATUS, '']],
		['a status that is missing once', [{}, { campaign: { id: 42 } }, {}], ['', '', '']],
		['a queue', ['a5', 'A5', 'A5'], ['', QUEUE, '']],
		['a queue that is completed at the first check', ['A5', 'A5'], ['', '']],
		[
			'a list that appears completed',
			[{}, { uploads: [...USUAL.uploads, otherList] }],
			['', QUEUE],
		],
		['one of two queues, then the other', ['a5 b5', 'A5 b5', 'A5 B5'], ['', QUEUE, QUEUE]],
		['three queues of one agent', ['a5 a5 a5', 'a5 A5 a5', 'a5 A5 A5'], ['', QUEUE, QUEUE]],
		['a queue that moves behind that of another agent', ['A5', 'b5 A5'], ['', '']],
		['a queue that moves behind one of its agent', ['A5 a5 a5', 'a5 A5 a5'], ['', '']],
		['a completed list that is missing once', ['A5', { uploads: [] }, 'A5'], ['', '', '']],
		[
			'its queues that are missing once',
			['A5', { uploads: listWithoutQueues }, 'A5'],
			['', '', ''],
		],
		['a higher count', ['A5', 'A9', 'A9'], ['', QUEUE, '']],
		['a queue in progress again', ['A5', 'a5', 'a5', 'A5', 'A5'], ['', '', '', QUEUE, '']],
		[
			'a queue that is completed again after redials',
			['A5', 'a5', redialed, 'a5', redialed],
			['', '', `${QUEUE} ${COUNTS}`, COUNTS, `${QUEUE} ${COUNTS}`],
		],
		[
			'a queue that is completed again, with a response without counts in between',
			['A5', { ...noCalls, uploads: listOf('A5') }, higher, redialed],
			['', '', COUNTS, QUEUE],
		],
		['a completed queue while others are in progress', ['A5', redialed], ['', COUNTS]],
		['the total alone', [{}, { calls: { total: 12, by_status: { picked: 10 } } }], ['', COUNTS]],
		[
			'a status of a call',
			[{}, { calls: { total: 10, by_status: { picked: 9, busy: 1 } } }],
			['', COUNTS],
		],
		[
			'a total that is missing once',
			[{}, { calls: { by_status: { picked: 10 } } }, {}],
			['', '', ''],
		],
		['counts by status that are missing once', [{}, { calls: { total: 10 } }, {}], ['', '', '']],
		[
			'what the first response lacks',
			[{ ...noCalls, campaign: { id: 42 }, uploads: null }, {}, PAUSED],
			['', '', STATUS],
		],
		[
			'a queue that is completed when the lists first appear',
			[{ uploads: null }, 'A5 b5', 'A5 B5'],
			['', '', QUEUE],
		],
		[
			'the first list, if the response has null for none',
			[
				{ calls: { total: 0 }, uploads: null },
				{ calls: { total: 0 }, uploads: listOf('A5') },
			],
			['', QUEUE],
		],
	])('%s', async (_what, states, expected) => {
		const { see } = follower();
		for (const [check, state] of states.entries()) {
			expect(events(await see(state))).toBe(expected[check]);
		}
	});

	test('they have the campaign, its counts, and the queue', async () => {
		const { see } = follower();
		await see('a5 b5');
		const { campaign } = USUAL;
		expect(await see({ ...higher, uploads: listOf('A5 b5') })).toEqual([
			{
				event: QUEUE,
				campaign_upload_id: 1,
				file_name: 'list_1.csv',
				list_completed: false,
				queue: { agent_uuid: 'a', total_queued: 5, completed: true },
				campaign,
				calls: higher.calls,
			},
			{
				event: COUNTS,
				total: { from: 10, to: 12 },
				by_status: { picked: { from: 10, to: 12 } },
				campaign,
				calls: higher.calls,
			},
		]);
		expect(await see({ ...higher, ...PAUSED, uploads: listOf('A5 B5') })).toMatchObject([
			{ event: STATUS, from: 'Active', to: 'Paused' },
			{ event: QUEUE, list_completed: true, queue: { agent_uuid: 'b' } },
		]);
	});

	test('only the selected ones', async () => {
		const { see } = follower({ events: [COUNTS] });
		await see();
		expect(events(await see({ ...PAUSED, ...higher }))).toBe(COUNTS);
	});
});

test('sends additional query parameters', async () => {
	const { look } = follower({ developerSettings: { additionalQueryParameters: '{ "x": "y" }' } });
	endpoint().query({ x: 'y' }).reply(200, bodyOf());
	expect(await look()).toEqual([]);
});

describe('a change is found by comparing with', () => {
	test('the publication, although n8n keeps nothing that the node wrote then', async () => {
		const before = follower({}, 'a');
		await before.see();
		const after = follower({}, 'a', ofWorkflow(before.stored()));
		expect(events(await after.see(PAUSED))).toBe(STATUS);
		expect(await after.see(PAUSED)).toEqual([]);
		expect(ofWorkflow(after.stored())).toEqual({ global: {} });
	});

	test('the publication with another campaign, although n8n keeps nothing that the node wrote then', async () => {
		let time = Date.now();
		mockTime(() => time);
		const former = follower({}, 'b');
		await former.see();
		await former.see();
		const other = { campaignId: '43' };
		const changed = follower(other, 'b', former.stored());
		expect(await changed.see({ campaign: { id: 43, status: 'Draft' } })).toEqual([]);
		// Until then, the trigger remembers it in the process, too.
		time += 61_000;
		const first = follower(other, 'b', { ...former.stored(), ...ofWorkflow(changed.stored()) });
		expect(await first.see({ campaign: { id: 43, status: 'Active' } })).toMatchObject([
			{ event: STATUS, from: 'Draft' },
		]);
	});

	test.each([
		['subject', 'x'],
		['byStatus', null],
		['completed', []],
	])('nothing, if n8n has stored the %s %j', async (name, value) => {
		const former = follower();
		await former.see();
		await former.see();
		const stored = set(former.stored(), ['node:Node', 'reading', name], value);
		const { see } = follower({}, randomUUID(), stored);
		expect(await see(PAUSED)).toEqual([]);
		expect(events(await see())).toBe(STATUS);
	});

	test('the last check, and not with a test in the editor, which returns the current state', async () => {
		const { see } = follower();
		await see();
		expect(await see(PAUSED, { mode: 'manual' })).toEqual([
			{ event: 'current_state', ...USUAL, ...PAUSED },
		]);
		expect(events(await see(PAUSED))).toBe(STATUS);
	});

	test('nothing, with another campaign', async () => {
		const former = follower();
		await former.see();
		const other = follower({ campaignId: '43' }, 'e', former.stored());
		expect(await other.see({ campaign: { id: 43, status: 'Draft' } })).toEqual([]);
	});

	test.each([503, 401])('the check before one that failed with %i', async (status) => {
		const { look, see } = follower();
		await see();
		endpoint().times(4).optionally().reply(status, '');
		await expect(look()).rejects.toThrow();
		nock.cleanAll();
		expect(events(await see(PAUSED))).toBe(STATUS);
	});
});

describe('if n8n runs two checks at the same time, each change is reported once:', () => {
	test('one that began before n8n stored what the other one found does nothing for a minute', async () => {
		let time = Date.now();
		mockTime(() => time);
		const former = follower({}, 'd');
		await former.see();
		const checks = [1, 2, 3].map(() => follower({}, 'd', former.stored()));
		expect(events((await checks[0]?.see(PAUSED)) ?? [])).toBe(STATUS);
		expect(await checks[1]?.look()).toEqual([]);
		// It couldn't store it.
		time += 60_000;
		expect(events((await checks[2]?.see(PAUSED)) ?? [])).toBe(STATUS);
	});
});

test('a check that takes longer than n8n waits says so, and the next one returns the change', async () => {
	let time = Date.now();
	mockTime(() => time);
	const timeIsUp = holdTimeouts();
	const onTime = { budgetMs: 36_000 };
	const { look, see } = follower();
	await see({}, onTime);
	const response = Promise.withResolvers<string>();
	const asked = Promise.withResolvers<undefined>();
	endpoint().reply(200, async () => {
		asked.resolve(undefined);
		return await response.promise;
	});
	const slow = look(onTime);
	await asked.promise;
	time += 36_000;
	timeIsUp(36_000);
	await expect(slow).rejects.toMatchObject({
		message: "The check wasn't complete after 36 seconds",
		description: expect.stringContaining('N8N_SCHEDULER_POLL_TIMEOUT'),
		failure: { cause: 'temporarily-unavailable' },
	});
	response.resolve(JSON.stringify(bodyOf(PAUSED)));
	expect(events(await see(PAUSED, onTime))).toBe(STATUS);
});

test.each<[string, number, Record<string, string>, object]>([
	['the credential', 401, {}, { cause: 'credential-invalid' }],
	[
		'the service, for as long as it asks',
		429,
		{ 'Retry-After': '120' },
		{ cause: 'rate-limited', retryAfterMs: 120_000 },
	],
	['the campaign', 404, {}, { cause: 'configuration-invalid' }],
	['the service', 503, {}, { cause: 'temporarily-unavailable' }],
])('tells n8n that the next check must wait for %s', async (_what, status, headers, failure) => {
	const body = { success: false, error: status === 404 ? "Couldn't find Campaign" : 'No' };
	endpoint().times(4).optionally().reply(status, body, headers);
	await expect(follower().look()).rejects.toMatchObject({ failure });
	nock.cleanAll();
});

test.each<[INodeParameters, Partial<INode>, string]>([
	[{ campaignId: 'spring' }, {}, `'Campaign' must be a whole number (got "spring")`],
	// n8n would drop all events but the first.
	[{}, { executeOnce: true }, "'Execute Once' in the settings of this trigger must be off"],
])('with %j and %j, it is not published', async (parameters, over, message) => {
	const form = { ...BASE, ...parameters };
	const node = harness.node('campaignProgressTrigger', { parameters: form, ...over });
	await expect(activate(makeWorkflow([node]))).rejects.toThrow(message);
});
