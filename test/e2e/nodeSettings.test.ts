import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import mapValues from 'lodash/mapValues';
import once from 'lodash/once';
import range from 'lodash/range';
import zipObject from 'lodash/zipObject';
import type { INode, INodeParameters } from 'n8n-workflow';
import { isN8n1 } from '../n8n/driver';
import { until } from '../n8n/until';
import { byId, chain, node, type Arrow } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { REPORTED, useAccount } from './account';
import { PACKAGE, post } from './calls';
import { executeFlow, flowOnRows, runOnRows } from './rowRun';

const account = useAccount({ isMapped: true });
const { n8n, simulator, ours } = account;
const { agents, calls, campaigns } = fixtures;

afterEach(() => simulator.reset());

const [FIRST, SECOND] = ['9000000001', '9000000002'];
const PEOPLE = [{ phone: FIRST }, { phone: SECOND }];
const SAME = [{ phone: FIRST }, { phone: FIRST }];

const ALWAYS = { alwaysOutputData: true };
const ONCE = { executeOnce: true };
const RETRY = { retryOnFail: true, maxTries: 2, waitBetweenTries: 10 };
const CONTINUE = { onError: 'continueRegularOutput' } as const;
const ERROR_OUTPUT = { onError: 'continueErrorOutput' } as const;

const place = (rest: Partial<INode>, parameters: INodeParameters = {}) => ({
	...account.placeCall(parameters),
	...rest,
});
const push = (rest: Partial<INode>, parameters: INodeParameters = {}) =>
	ours(
		'Push',
		'pushCampaignContacts',
		{
			campaignId: byId(campaigns.active),
			agentUuid: byId(agents.full),
			whatToDo: 'wait',
			options: { contactsPerRequest: 1 },
			...parameters,
		},
		rest,
	);
const list = (rest: Partial<INode>, parameters: INodeParameters = {}) =>
	ours(
		'List',
		'dnd',
		{ operation: 'getMany', agentUuid: byId(agents.full), limit: 1, ...parameters },
		rest,
	);

const ONLY_FIRST = "'Execute Once' is on, so this node would only use the first of 2 items";

const run = async (last: INode, rows = PEOPLE) => await runOnRows(account, last, rows);
const pushed = () => simulator.contactsOf(campaigns.active).map(({ phone }) => phone.slice(-10));
const called = () => PEOPLE.map(({ phone }) => simulator.callsTo(phone));
const reads = () => simulator.requests.filter(({ path }) => path === '/v1/dnd_numbers').length;

const CALL = { method: 'POST', path: '/v1/call' };
const CONTACTS = { method: 'POST', path: /contacts$/ };
const failFirstRead = (path: string) => {
	simulator.faults.respond(path, 401, { times: 1 });
};
const rejectSecond = (match: { method: string; path: string | RegExp }, status: number) => {
	const body = { success: false, error: 'no' };
	simulator.faults.inject({ kind: 'status', status, body, match, skip: 1, times: 1 });
};

/** Rounds of one item each, and all outputs of the node lead back to the loop. */
async function loop(looped: INode, rows: typeof PEOPLE, outputs = 1) {
	const loopNode = node('Loop', 'n8n-nodes-base.splitInBatches', 3, { options: {} });
	const back = range(outputs).map((output): Arrow => [looped.name, 'Loop', 'main', output]);
	const arrows: Arrow[] = [['Rows', 'Loop'], ['Loop', looped.name, 'main', 1], ...back];
	return await executeFlow(account, flowOnRows(rows, [loopNode, looped], arrows));
}

const POLL = { campaignId: byId(campaigns.active), pollTimes: { item: [{ mode: 'everyMinute' }] } };

/** Publishes a trigger. Returns why n8n doesn't, or an empty text. */
async function refusal(type: string, rest: Partial<INode>, parameters: INodeParameters = {}) {
	const trigger = ours('Trigger', type, parameters, { webhookId: randomUUID(), ...rest });
	const workflow = await account.create(chain('trigger', trigger));
	const message = await n8n.activate(workflow).then(() => undefined, String);
	// n8n 1 tells it immediately.
	if (message !== undefined || isN8n1) return message ?? '';
	const errors = await until('the publication', async () => await n8n.publicationErrors(workflow), {
		timeout: 120_000,
		every: 500,
	});
	return errors.join(' ');
}

/** What n8n says about the publication of triggers with each setting. All at the same time, because it takes long. */
const refusals = once(async () => {
	const missing = { ...POLL, campaignId: byId(999) };
	const [alwaysCompleted, alwaysDelivery, alwaysCalls, onceCalls, ...ofMissing] = await Promise.all(
		[
			refusal('callCompletedTrigger', ALWAYS),
			refusal('chatDeliveryTrigger', { ...ALWAYS, credentials: {} }),
			refusal('campaignCallsTrigger', ALWAYS, POLL),
			refusal('campaignCallsTrigger', ONCE, POLL),
			...[{ ...RETRY, ...CONTINUE }, ERROR_OUTPUT].map(
				async (rest) => await refusal('campaignCallsTrigger', rest, missing),
			),
		],
	);
	return { alwaysCompleted, alwaysDelivery, alwaysCalls, onceCalls, ofMissing };
});

/** n8n doesn't use these settings when it polls: a failed first check keeps the workflow from being published. */
async function expectNoEffectOnPolls(): Promise<void> {
	const { ofMissing } = await refusals();
	expect(ofMissing).toHaveLength(2);
	for (const message of ofMissing) expect(message).toContain('campaign');
}

/** Publishes Call Completed Trigger with an output for errors. Reports calls to it, and returns what its execution returns. */
async function reported(callIds: string[], rest: Partial<INode>) {
	const { workflow, url } = await account.publishReported(rest);
	await post(
		url,
		callIds.map((call_id) => ({ call_id })),
	);
	const { id } = await n8n.finished(await account.executionOf(workflow));
	const { runData } = await n8n.runData(id);
	const outputs = runData[REPORTED]?.at(-1)?.data?.main ?? [];
	return outputs.map((items) => (items ?? []).map(({ json }) => json));
}

const ITEM = 'One request per item, such as Place Call';
const PUSH = 'Push Campaign Contacts';
const LIST = 'Lists, such as Get Many';
const TRIGGER = 'Triggers';

/** What a cell of the table in docs/calls.md says, and how it is shown. */
type Cell = [text: string, show: () => Promise<void>];

const cells: { [setting: string]: { [column: string]: Cell } } = {
	'**Always Output Data**': {
		[ITEM]: [
			'No effect. With an error output, an empty item if all failed',
			async () => {
				expect((await run(place(ALWAYS))).outputs[0]).toMatchObject([
					{ placed: true },
					{ placed: true },
				]);
				const failed = await run(place({ ...ALWAYS, ...ERROR_OUTPUT }), [{ phone: 'later' }]);
				expect(failed.outputs).toEqual([[{}], [expect.objectContaining({ phone: 'later' })]]);
			},
		],
		[PUSH]: [
			'**Pushed** returns an empty item if no row was pushed',
			async () => {
				const { outputs } = await run(push(ALWAYS), [{ phone: 'call me' }]);
				expect(outputs).toMatchObject([[{}], [{ phone: 'call me', push_status: 'rejected' }], []]);
				expect(outputs[0]).toEqual([{}]);
			},
		],
		[LIST]: [
			'An empty list returns an empty item',
			async () => {
				const { outputs } = await run(list(ALWAYS, { phoneContains: '555000555' }));
				expect(outputs).toEqual([[{}]]);
			},
		],
		[TRIGGER]: [
			'Must be off in Call Completed and Chat Delivery',
			async () => {
				const { alwaysCompleted, alwaysDelivery, alwaysCalls } = await refusals();
				expect(alwaysCompleted).toContain(
					"'Always Output Data' in the settings of this trigger must be off",
				);
				expect(alwaysDelivery).toContain(
					"'Always Output Data' in the settings of this trigger must be off",
				);
				expect(alwaysCalls).toBe('');
			},
		],
	},
	'**Execute Once**': {
		[ITEM]: [
			'Only if no field depends on the item',
			async () => {
				const stopped = await run(place(ONCE));
				expect(stopped.error?.message).toBe(ONLY_FIRST);
				expect(called()).toEqual([0, 0]);
				const { outputs } = await run(place(ONCE, { phoneNumber: SECOND }));
				expect(outputs[0]).toHaveLength(1);
				expect(called()).toEqual([0, 1]);
			},
		],
		[PUSH]: [
			'Only if the input has one item',
			async () => {
				expect((await run(push(ONCE))).error?.message).toBe(ONLY_FIRST);
				const files = node('Files', 'n8n-nodes-base.convertToFile', 1.1, {
					operation: 'toText',
					sourceProperty: 'phone',
				});
				const csv = push(ONCE, { contactsFrom: 'csv' });
				const stopped = await runOnRows(account, csv, PEOPLE, files);
				expect(stopped.error?.message).toBe(ONLY_FIRST);
				expect(pushed()).toEqual([]);
				// As the message advises.
				const limit = node('Limit', 'n8n-nodes-base.limit', 1);
				await runOnRows(account, push(ONCE), PEOPLE, limit);
				expect(pushed()).toEqual([FIRST]);
			},
		],
		[LIST]: [
			'Only if no field depends on the item',
			async () => {
				const stopped = await run(list(ONCE, { limit: '={{ $json.phone.length }}' }));
				expect(stopped.error?.message).toBe(ONLY_FIRST);
				const withIt = await run(list(ONCE));
				const without = await run(list({}));
				expect([withIt, without].map(({ outputs }) => outputs[0]?.length)).toEqual([1, 1]);
			},
		],
		[TRIGGER]: [
			'Must be off in Campaign Calls',
			async () => {
				const { onceCalls } = await refusals();
				expect(onceCalls).toContain("'Execute Once' in the settings of this trigger must be off");
				const ids = [calls.finished, calls.notPicked];
				const [items] = await reported(ids, ONCE);
				expect(items?.map(({ call_id }) => call_id)).toEqual(ids);
			},
		],
	},
	'**Retry On Fail**': {
		[ITEM]: [
			'Sends [nothing twice](retries.md)',
			async () => {
				rejectSecond(CALL, 400);
				const { status, outputs } = await run(place(RETRY));
				expect([status, outputs[0]?.length, called()]).toEqual(['success', 2, [1, 1]]);
			},
		],
		[PUSH]: [
			'Pushes nothing twice',
			async () => {
				rejectSecond(CONTACTS, 409);
				const { status, outputs } = await run(push(RETRY));
				expect([status, outputs[0]?.length, pushed()]).toEqual(['success', 1, [FIRST, SECOND]]);
			},
		],
		[LIST]: [
			'Reads again',
			async () => {
				failFirstRead('/v1/dnd_numbers');
				const { status, outputs } = await run(list(RETRY));
				expect([status, outputs[0]?.length]).toEqual(['success', 1]);
			},
		],
		[TRIGGER]: [
			'Call Completed reads the calls again',
			async () => {
				failFirstRead(`/v1/call/${calls.finished}`);
				expect(await reported([calls.finished], RETRY)).toMatchObject([
					[{ call_id: calls.finished }],
				]);
				await expectNoEffectOnPolls();
			},
		],
	},
	'**On Error > Continue**': {
		[ITEM]: [
			'A failed item returns its `error`',
			async () => {
				rejectSecond(CALL, 400);
				const { outputs } = await run(place(CONTINUE));
				expect(outputs).toMatchObject([[{ placed: true }, { error: expect.any(String) }]]);
			},
		],
		[PUSH]: [
			"**Rejected** returns the rows that weren't pushed",
			async () => {
				rejectSecond(CONTACTS, 409);
				const { status, outputs } = await run(push(CONTINUE));
				expect(status).toBe('success');
				expect(outputs).toMatchObject([
					[{ phone: FIRST, push_status: 'pushed' }],
					[{ phone: SECOND, push_status: 'not_sent' }],
					[],
				]);
			},
		],
		[LIST]: [
			'Each item returns the `error`',
			async () => {
				failFirstRead('/v1/dnd_numbers');
				const { outputs } = await run(list(CONTINUE));
				expect(outputs).toMatchObject([
					[{ error: expect.any(String) }, { error: expect.any(String) }],
				]);
			},
		],
		[TRIGGER]: [
			'Call Completed returns an item with the `error`',
			async () => {
				failFirstRead(`/v1/call/${calls.finished}`);
				const ids = [calls.finished, calls.notPicked];
				expect(await reported(ids, CONTINUE)).toMatchObject([
					[{ call_id: calls.notPicked }, { error: expect.any(String) }],
				]);
				await expectNoEffectOnPolls();
			},
		],
	},
	'**On Error > Continue (using error output)**': {
		[ITEM]: [
			'A failed item goes to the error output, with its columns',
			async () => {
				rejectSecond(CALL, 400);
				const { outputs } = await run(place(ERROR_OUTPUT));
				const failed = { phone: SECOND, error: expect.any(String) };
				expect(outputs).toMatchObject([[{ placed: true }], [failed]]);
			},
		],
		[PUSH]: [
			"The same, and the error output returns the reason, or all items if the push can't begin",
			async () => {
				rejectSecond(CONTACTS, 409);
				const { outputs } = await run(push(ERROR_OUTPUT));
				expect(outputs).toMatchObject([
					[{ phone: FIRST, push_status: 'pushed' }],
					[{ phone: SECOND, push_status: 'not_sent' }],
					[],
					[{ error: expect.stringContaining('archived') }],
				]);
				const notBegun = await run(push(ERROR_OUTPUT, { phoneColumn: 'mobile' }));
				expect(notBegun.outputs).toMatchObject([[], [], [], [{ phone: FIRST }, { phone: SECOND }]]);
			},
		],
		[LIST]: [
			'Each item goes to the error output',
			async () => {
				failFirstRead('/v1/dnd_numbers');
				const { outputs } = await run(list(ERROR_OUTPUT));
				expect(outputs).toMatchObject([[], [{ phone: FIRST }, { phone: SECOND }]]);
			},
		],
		[TRIGGER]: [
			'Call Completed uses the error output',
			async () => {
				failFirstRead(`/v1/call/${calls.finished}`);
				const ids = [calls.finished, calls.notPicked];
				expect(await reported(ids, ERROR_OUTPUT)).toMatchObject([
					[{ call_id: calls.notPicked }],
					[{ error: expect.any(String) }],
				]);
				await expectNoEffectOnPolls();
			},
		],
	},
	'A batch of **Loop Over Items**': {
		[ITEM]: [
			'Only with **Call Again in Loops**',
			async () => {
				expect((await loop(place({}), SAME)).status).toBe('success');
				expect(called()).toEqual([1, 0]);
				const again = place({}, { options: { callAgainInLoops: true } });
				expect((await loop(again, SAME)).status).toBe('success');
				expect(called()).toEqual([3, 0]);
			},
		],
		[PUSH]: [
			'Not needed',
			async () => {
				expect((await loop(push({}), [...SAME, { phone: SECOND }], 3)).status).toBe('success');
				expect(pushed()).toEqual([FIRST, SECOND]);
			},
		],
		[LIST]: [
			'Each round reads the list again',
			async () => {
				expect((await loop(list({}), PEOPLE)).status).toBe('success');
				expect(reads()).toBe(2);
			},
		],
		[TRIGGER]: ['Not possible', async () => await expectNoInputs()],
	},
};

beforeAll(() => void refusals());

/** A trigger has no input, so no node can lead to it. */
async function expectNoInputs(): Promise<void> {
	const types = await n8n.types('nodes');
	const triggers = types.filter(({ name }) => new RegExp(`^${PACKAGE}\\..*Trigger$`).test(name));
	expect(triggers.map(({ inputs }) => inputs)).toEqual([[], [], [], []]);
}

const table = () => {
	const [, text = ''] = readFileSync(join(__dirname, '../../docs/calls.md'), 'utf8').split(
		'## Node settings',
	);
	const lines = text.split('\n').filter((line) => line.startsWith('|'));
	const [header = [], , ...rows] = lines.map((line) =>
		line.split(' | ').map((cell) => cell.replace(/^\||\|$/g, '').trim()),
	);
	return rows.map(([setting, ...texts]) => [setting, zipObject(header.slice(1), texts)]);
};

test('the table in the docs has these cells', () => {
	const own = Object.entries(cells).map(([setting, columns]) => [
		setting,
		mapValues(columns, ([text]) => text),
	]);
	expect(table()).toEqual(own);
});

// Triggers last, because n8n tries for half a minute to publish one that fails. `refusals` begins before all tests.
describe.each([ITEM, PUSH, LIST, TRIGGER])('%s', (column) => {
	const ofColumn = Object.entries(cells).flatMap(([setting, { [column]: cell }]) =>
		cell === undefined ? [] : [[setting, ...cell] as const],
	);

	test.each(ofColumn)('%s: %s', async (_setting, _text, show) => {
		expect.hasAssertions();
		await show();
	});
});
