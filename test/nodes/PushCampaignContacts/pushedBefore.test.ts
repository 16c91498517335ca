import nock from 'nock';
import type { INode, INodeExecutionData } from 'n8n-workflow';
import { engineHarness, engineTool, mcpTool, service } from '../../engine';

import {
	accepted,
	respondWith,
	respondInto,
	breaking,
	runPush,
	pushNode,
	manyRows,
	phone,
	phonesOf,
	rejection,
	rowsOf,
	type PushRun,
	type NodeParameters,
	WAITING,
} from './pushHarness';

const harness = engineHarness();
const { store } = harness;

beforeEach(() => {
	for (const id of [42, 43]) readable(id, 'Active');
});

function readable(id: number, status: string): void {
	service()
		.persist()
		.get(`/v1/campaigns/${id}/status`)
		.optionally()
		.reply(200, { success: true, data: { campaign: { id, status }, calls: {}, uploads: [] } });
}

const remembering = (developerSettings: NodeParameters = {}): NodeParameters => ({
	options: { skipPushedBefore: true },
	developerSettings,
});
const run = async (
	input: INodeExecutionData[],
	developerSettings: NodeParameters = {},
	node: Partial<INode> = {},
) => await runPush(harness, input, remembering(developerSettings), node);
const stopping = { onError: 'continueRegularOutput' } as const;
const statuses = ({ rejected }: PushRun) =>
	rejected.map(({ json, pairedItem }) => [
		typeof pairedItem === 'object' && 'item' in pairedItem ? pairedItem.item : undefined,
		json.rejection_status,
	]);
const ok = (count = 1): [number, ReturnType<typeof accepted>] => [200, accepted(count)];

/** Runs the node, whose process is killed while a request is in flight. */
async function killed(input: INodeExecutionData[], over: NodeParameters = {}): Promise<void> {
	const sent = breaking('ECONNRESET');
	store.beforeCall = () => {
		if (sent.length > 0) throw new Error('killed');
	};
	await run(input, over, stopping);
	store.beforeCall = () => {};
}

describe('Skip Numbers Pushed Before', () => {
	test('pushes a number once across all runs, in any format', async () => {
		const bodies = respondWith(ok(2), ok(1));
		await run(manyRows(2));
		const second = await run(
			rowsOf(
				{ phone: '90000 00000', person_name: 'A much longer name' },
				{ phone: '+919000000001' },
				{ phone: phone(2) },
			),
		);
		expect(bodies.map(phonesOf)).toEqual([[phone(0), phone(1)], [phone(2)]]);
		expect(statuses(second)).toEqual([
			[0, 'pushed_before'],
			[1, 'pushed_before'],
		]);
		expect(second.pushed[0]?.json.totals).toMatchObject({
			received: 3,
			pushed: 1,
			pushed_before: 2,
		});
		expect(second.hints).toEqual([
			`3 rows: 1 pushed, 2 pushed before. ${WAITING} The 'Rejected' output shows the reason for each row.`,
		]);
		expect(second.rejected[0]?.json.rejection_reason).toMatch(
			/An earlier execution of this workflow pushed this number to the campaign or began to/,
		);
	});

	test('stores nothing if it is off', async () => {
		respondWith(ok(1), ok(1));
		await runPush(harness, manyRows(1));
		await runPush(harness, manyRows(1));
		expect(store.size).toBe(0);
	});

	test('remembers numbers by campaign, for all nodes of the workflow', async () => {
		respondWith(ok(1));
		await run(manyRows(1));
		const another = await run(manyRows(1), {}, { name: 'Node', id: 'another' });
		expect(statuses(another)).toEqual([[0, 'pushed_before']]);
		service().post('/v1/campaigns/43/contacts').reply(200, accepted(1));
		const { pushed } = await runPush(harness, manyRows(1), { ...remembering(), campaignId: '43' });
		expect(pushed).toHaveLength(1);
	});

	test('reserves the numbers of a request before it is sent, but not those of later requests', async () => {
		const sizes: number[] = [];
		store.beforeCall = (call) => {
			if (call.startsWith('add')) sizes.push(store.size);
		};
		respondWith(ok(2), [409, rejection('archived')]);
		await run(manyRows(6), { contactsPerRequest: 2 }, stopping);
		// Before each request, its note (with the mark of the execution the first time), and its two numbers.
		expect(sizes).toEqual([0, 3, 5, 7]);
		// Numbers of rejected requests are released, and the notes of an execution that ended are removed.
		expect(store.size).toBe(2);
	});
});

describe('rows that certainly had no effect can be pushed later', () => {
	test.each([
		['a rejection of the whole request', [409, rejection('archived')]],
		['rows that the service names', [400, rejection('contacts[0] and contacts[2] are bad')]],
	] as const)('%s', async (_name, [status, body]) => {
		const bodies = respondWith([status, body]);
		// Rows 0, 1, and 2 may be named, so each is sent alone.
		if (status === 400) respondInto(bodies, [status, body], ok(1), [status, body]);
		await run(manyRows(3), {}, stopping);
		const pushed = status === 400 ? [phone(1)] : [];
		respondInto(bodies, ok(3 - pushed.length));
		const again = await run(manyRows(3));
		expect(phonesOf(bodies.at(-1))).toEqual(
			[0, 1, 2].map(phone).filter((one) => !pushed.includes(one)),
		);
		expect(statuses(again)).toEqual(pushed.map(() => [1, 'pushed_before']));
	});

	test('a request that was never sent', async () => {
		breaking('CERT_HAS_EXPIRED');
		const { error } = await run(manyRows(2));
		expect(error?.message).toMatch(/certificate couldn't be verified, so the request wasn't sent/);
		const bodies = respondWith(ok(2));
		expect((await run(manyRows(2))).rejected).toEqual([]);
		expect(bodies.map(phonesOf)).toEqual([[phone(0), phone(1)]]);
	});

	test('pushes a do-not-disturb number again, but not a queued one', async () => {
		const skips = { dnd_skipped: [phone(0)], engine_skipped_duplicates: [phone(1)] };
		const bodies = respondWith([200, accepted(3, skips)], ok(1));
		await run(manyRows(3));
		const again = await run(manyRows(3));
		expect(phonesOf(bodies[1])).toEqual([phone(0)]);
		expect(statuses(again)).toEqual([
			[1, 'pushed_before'],
			[2, 'pushed_before'],
		]);
	});
});

test('reserves nothing if the service would reject every request', async () => {
	nock.cleanAll();
	readable(42, 'Archived');
	const { error, rejected } = await run(manyRows(2));
	expect(error?.message).toMatch(/^The campaign is archived/);
	expect([rejected, store.calls]).toEqual([[], []]);
});

describe('rows that may have taken effect are never sent again', () => {
	test('an unknown outcome is unknown in its run, and pushed_before in the next', async () => {
		breaking('ECONNRESET');
		const first = await run(manyRows(2), {}, stopping);
		expect(statuses(first)).toEqual([
			[0, 'unknown'],
			[1, 'unknown'],
		]);
		expect(statuses(await run(manyRows(2)))).toEqual([
			[0, 'pushed_before'],
			[1, 'pushed_before'],
		]);
	});

	test('the run after a killed one sends only the others, and says that those may be unknown', async () => {
		await killed(manyRows(4), { contactsPerRequest: 2 });
		const bodies = respondWith(ok(3));
		const next = await run(manyRows(5));
		expect(phonesOf(bodies[0])).toEqual([2, 3, 4].map(phone));
		expect(statuses(next)).toEqual([
			[0, 'pushed_before'],
			[1, 'pushed_before'],
		]);
		expect(next.rejected[0]?.json.rejection_reason).toMatch(
			/or began to push it, .* interrupted or reported the number as unknown, check whether/,
		);
		expect(next.error).toBeUndefined();
		const last = await run(manyRows(5));
		expect(statuses(last).map(([, status]) => status)).toEqual(
			Array.from({ length: 5 }, () => 'pushed_before'),
		);
	});
});

describe('when the store of n8n fails', () => {
	test('before a request: it is not sent', async () => {
		store.beforeCall = (call) => {
			if (call === 'add 2') throw new Error('database is locked');
		};
		const { error } = await run(manyRows(2));
		expect(error).toMatchObject({
			message: expect.stringMatching(/^n8n can't read or write the list of numbers pushed before/),
			description: expect.stringMatching(
				/ Or turn off 'Skip Numbers Pushed Before' and push only new rows\. n8n said: database is locked/,
			),
		});
	});

	test('after a request: the pushed rows are reported, and the push stops', async () => {
		let adds = 0;
		respondWith(ok(2));
		store.beforeCall = (call) => {
			if (call === 'add 2' && ++adds === 2) throw new Error('disk full');
		};
		const { pushed, rejected } = await run(manyRows(4), { contactsPerRequest: 2 }, stopping);
		expect(pushed[0]?.json.totals).toMatchObject({ pushed: 2, not_sent: 2 });
		expect(rejected.map(({ json }) => json.rejection_status)).toEqual(['not_sent', 'not_sent']);
	});

	test('a row that could not be released says so', async () => {
		respondWith([409, rejection('archived')]);
		store.beforeCall = (call) => {
			if (call.startsWith('remove')) throw new Error('disk full');
		};
		const { rejected, error } = await run(manyRows(1), {}, stopping);
		expect(error).toBeUndefined();
		expect(rejected[0]?.json.rejection_reason).toMatch(
			/Before you push this row again, forget the number with DND List > Forget\.$/,
		);
	});
});

test('two simultaneous runs in one process send each number once', async () => {
	const bodies = respondWith(ok(3), ok(1));
	const [one, other] = await Promise.all([run(manyRows(3)), run(manyRows(4))]);
	expect(bodies.flatMap(phonesOf).sort()).toEqual([0, 1, 2, 3].map(phone));
	expect([...statuses(one), ...statuses(other)].map(([, status]) => status)).toEqual([
		'pushed_before',
		'pushed_before',
		'pushed_before',
	]);
});

describe('attempts of the same execution', () => {
	test('Retry On Fail sends only the released numbers', async () => {
		const bodies = respondWith(ok(1), [409, rejection('archived')], ok(1));
		const { error, pushed, rejected } = await run(
			manyRows(2),
			{ contactsPerRequest: 1 },
			{ retryOnFail: true, maxTries: 2, waitBetweenTries: 0 },
		);
		expect([error, rejected]).toEqual([undefined, []]);
		expect(bodies.map(phonesOf)).toEqual([[phone(0)], [phone(1)], [phone(1)]]);
		expect(pushed).toHaveLength(2);
	});
});

describe('as a tool', () => {
	test.each([
		['an agent', engineTool],
		['an MCP client', mcpTool],
	])('%s does not push numbers of earlier runs', async (_name, toolOf) => {
		respondWith(ok(1));
		await run(manyRows(1));
		const tool = toolOf(harness.credentials, pushNode(harness, remembering()));
		expect(await tool({ phone: phone(0) })).toMatchObject({
			outcome: 'not_sent',
			what_happened: '1 row: 0 pushed, 1 pushed before.',
			next_step: expect.stringMatching(
				/This number was pushed to the campaign before, or an earlier push of it began, so it/,
			),
		});
	});
});
