/** Skip Numbers Pushed Before. */
import nock from 'nock';
import type { INode, INodeExecutionData } from 'n8n-workflow';
import type { JsonObject } from '../../../nodes/shared/json';
import { plainText } from '../../../nodes/shared/values';
import {
	engineHarness,
	engineTool,
	mcpTool,
	oneNodeWorkflow,
	output,
	resume,
	runKilled,
	service,
	storedCopy,
	useNoWaits,
} from '../../engine';
import {
	accepted,
	respondWith,
	breaking,
	goOn,
	inTwos,
	ok,
	runPush,
	pushNode,
	manyRows,
	phone,
	phonesOf,
	rejection,
	rowsOf,
	type PushRun,
	type Reply,
	type NodeParameters,
	WAITING,
} from './pushHarness';

const harness = engineHarness();
const { store } = harness;
useNoWaits();

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

const ROWS = { skipPushedBefore: true, output: 'rows' };
const remembering = { options: { skipPushedBefore: true } };
const run = async (
	input: INodeExecutionData[],
	parameters: NodeParameters = {},
	node: Partial<INode> = {},
) => await runPush(input, { ...remembering, ...parameters }, node);
const statusOf = ({ json }: INodeExecutionData) =>
	[plainText(json.phone).slice(-1), plainText(json.rejection_status)].join(' ');
/** Those of *Rejected*, and of *Pushed Before*. */
const statuses = ({ rejected, pushedBefore }: PushRun) =>
	[...rejected, ...pushedBefore].map(statusOf);

test('pushes a number once across all executions, in any format', async () => {
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
	expect(second.rejected).toEqual([]);
	expect(second.pushedBefore.map(statusOf)).toEqual(['0 waiting_before', '1 waiting_before']);
	expect(second.pushed[0]?.json.totals).toMatchObject({
		received: 3,
		pushed: 1,
		waiting_before: 2,
	});
	expect(second.hints[0]).toBe(`3 rows: 1 pushed, 2 waiting since an earlier push. ${WAITING}`);
});

describe('what is known of the earlier push', () => {
	const released = (count: number, over: JsonObject = {}): Reply => [
		200,
		accepted(count, { enqueued: true, ...over }),
	];
	const release = { whatToDo: 'release' };

	test('it was released', async () => {
		respondWith(released(1));
		await run(manyRows(1), release);
		const { pushedBefore, hints } = await run(manyRows(1), release);
		expect(pushedBefore.map(statusOf)).toEqual(['0 pushed_before']);
		expect(pushedBefore[0]?.json.rejection_reason).toMatch(
			/^An earlier execution of this workflow released this number to the calling queue .* forget the number\.$/,
		);
		// Nothing is wrong with such rows, so nobody must read them.
		expect(hints).toEqual(['1 row: 0 pushed, 1 pushed before.']);
	});

	test('it waits, also if it would be released now', async () => {
		respondWith(ok(1));
		await run(manyRows(1));
		for (let time = 0; time < 2; time++) {
			const { pushedBefore, hints } = await run(manyRows(1), release);
			expect(pushedBefore.map(statusOf)).toEqual(['0 waiting_before']);
			expect(pushedBefore[0]?.json.rejection_reason).toMatch(
				/waits in the campaign\. It wasn't sent again, because that may add the person twice\./,
			);
			expect(hints[1]).toMatch(/^1 row waits in the campaign since an earlier push\./);
		}
	});

	test.each<[string, JsonObject]>([
		['another one', { enqueued: false }],
		['none', { enqueued: null }],
	])('the service reported %s than the release that was requested', async (_what, over) => {
		respondWith(released(1, over));
		await run(manyRows(1), release);
		const status = over.enqueued === false ? 'waiting_before' : 'unknown_before';
		expect(statuses(await run(manyRows(1), release))).toEqual([`0 ${status}`]);
	});

	test('n8n was killed before it stored the result', async () => {
		const sent = respondWith(released(2));
		store.beforeCall = () => {
			if (sent.length > 0) throw new Error('killed');
		};
		await run(manyRows(2), release);
		store.beforeCall = () => {};
		const { pushedBefore } = await run(manyRows(2), release);
		expect(pushedBefore.map(statusOf)).toEqual(['0 unknown_before', '1 unknown_before']);
		expect(pushedBefore[0]?.json.rejection_reason).toMatch(
			/began to push it, and the outcome is unknown, .* Look for it in the campaign\./,
		);
	});

	test('n8n cannot read it', async () => {
		respondWith(released(1));
		await run(manyRows(1), release);
		const before = store.calls.length;
		store.beforeCall = () => {
			// The number is reserved, then its result is looked up.
			if (store.calls.length > before + 2) throw new Error('database is locked');
		};
		expect(statuses(await run(manyRows(1), release))).toEqual(['0 unknown_before']);
		store.beforeCall = () => {};
		expect(statuses(await run(manyRows(1), release))).toEqual(['0 pushed_before']);
	});

	test('looking it up adds nothing', async () => {
		respondWith(released(1), ok(1), [500, 'broken']);
		await run(manyRows(1), release);
		await run(manyRows(2));
		await run(manyRows(3), {}, goOn);
		const { size } = store;
		expect(statuses(await run(manyRows(3), release))).toEqual([
			...['0 pushed_before', '1 waiting_before', '2 unknown_before'],
		]);
		expect(store.size).toBe(size);
	});

	test.each([
		['n8n is killed', Infinity],
		// The look-up tries to remove its texts seven times.
		['the database fails for more than a minute', 7],
	])('an interrupted look-up makes nothing known that is not: %s', async (_what, failures) => {
		let isInterrupted = true;
		for (let nth = 1; isInterrupted; nth++) {
			store.clear();
			respondWith(released(1), ok(1), [500, 'broken']);
			await run(manyRows(1), release);
			await run(manyRows(2));
			await run(manyRows(3), {}, goOn);
			const before = store.calls.length;
			store.beforeCall = () => {
				const call = store.calls.length - before;
				if (call >= nth && call < nth + failures) throw new Error('killed');
			};
			await run(manyRows(3), release);
			isInterrupted = store.calls.length - before >= nth;
			store.beforeCall = () => {};
			for (let time = 0; time < 2; time++) {
				const { pushedBefore } = await run(manyRows(3), release);
				expect(pushedBefore.map(statusOf)).toEqual([
					expect.stringMatching(/^0 (pushed|unknown)_before$/),
					expect.stringMatching(/^1 (waiting|unknown)_before$/),
					'2 unknown_before',
				]);
			}
		}
	});

	test('the columns of a row in Pushed Before', async () => {
		respondWith(released(1));
		await run(manyRows(1), release);
		const { pushedBefore } = await run(manyRows(1), { ...release, options: ROWS });
		expect(pushedBefore).toEqual([
			{
				json: {
					...manyRows(1)[0]?.json,
					push_status: 'pushed_before',
					rejection_status: 'pushed_before',
					rejection_reason: expect.any(String),
					phone_sent: null,
					phone_key: `91${phone(0)}`,
					campaign_upload_id: null,
					push_warnings: null,
				},
				pairedItem: { item: 0 },
			},
		]);
	});
});

describe('Check Only', () => {
	const check = { whatToDo: 'check' };
	const agents = () =>
		service()
			.get('/v1/active_agents')
			.optionally()
			.reply(200, { success: true, data: [{ agent_uuid: 'agent_5f2c' }] });

	test('leaves out numbers whose push ended, and counts them', async () => {
		agents();
		respondWith([200, accepted(1, { enqueued: true })], ok(1));
		await run(manyRows(1), { whatToDo: 'release' });
		await run(manyRows(2));
		const { size } = store;
		const rows = [...manyRows(4), ...rowsOf({ phone: 'none' })];
		const { pushed, rejected, pushedBefore, hints } = await run(rows, { ...check, options: ROWS });
		expect(pushed.map(({ json }) => json.phone)).toEqual([phone(2), phone(3)]);
		expect(rejected.map(statusOf)).toEqual(['e rejected']);
		expect(pushedBefore.map(statusOf)).toEqual(['0 pushed_before', '1 waiting_before']);
		expect(hints[0]).toMatch(
			/^'What to Do' is 'Check Only', so nothing was sent\. 5 rows: 2 ready, 1 rejected, 1 pushed before, 1 waiting since an earlier push\. The ready rows may include numbers whose earlier push has an unknown outcome\. A push leaves them out\. The agent is active/,
		);
		expect(store.size).toBe(size);
	});

	test('says nothing about ready rows if there are none', async () => {
		agents();
		respondWith([200, accepted(1, { enqueued: true })]);
		await run(manyRows(1), { whatToDo: 'release' });
		const { hints } = await run(manyRows(1), check);
		expect(hints[0]).not.toContain('may include');
	});

	test('remembers nothing, so that a push sends what was checked', async () => {
		agents();
		agents();
		const bodies = respondWith(ok(1), ok(1));
		expect((await run(manyRows(1), check)).pushed[0]?.json.totals).toMatchObject({ ready: 1 });
		// n8n's database isn't even changed if nothing was pushed yet.
		expect(store.calls).toEqual(['count']);
		await run(manyRows(1));
		await run(manyRows(2), check);
		expect(statuses(await run(manyRows(2)))).toEqual(['0 waiting_before']);
		expect(bodies.map(phonesOf)).toEqual([[phone(0)], [phone(1)]]);
	});

	test('wherever n8n is killed in it, a push sends the same rows afterwards', async () => {
		let isInterrupted = true;
		for (let nth = 1; isInterrupted; nth++) {
			store.clear();
			agents();
			const bodies = respondWith(ok(1), ok(2));
			await run(manyRows(1));
			const before = store.calls.length;
			store.beforeCall = () => {
				if (store.calls.length - before >= nth) throw new Error('killed');
			};
			await run(manyRows(3), check);
			isInterrupted = store.calls.length - before >= nth;
			store.beforeCall = () => {};
			expect((await run(manyRows(3))).pushedBefore).toHaveLength(1);
			expect(bodies.map(phonesOf)).toEqual([[phone(0)], [phone(1), phone(2)]]);
		}
	});

	test('says that it may not have left out all of them if looking for them takes long', async () => {
		agents();
		respondWith(ok(1));
		await run(manyRows(1));
		const options = { skipPushedBefore: true, output: 'summary' };
		const { pushed } = await run(manyRows(32_000), { ...check, options });
		expect(pushed[0]?.json).toMatchObject({
			summary: expect.stringMatching(
				/^32,000 rows: 32,000 ready\. The ready rows may include numbers that were pushed before\. A push leaves them out\./,
			),
		});
		expect(store.size).toBe(2);
	});

	test.each(['count', 'add'])(
		'stops as a push would if n8n cannot use the list (%s), and then knows nothing of it that is not certain',
		async (failing) => {
			agents();
			respondWith([200, accepted(1, { enqueued: true })]);
			await run(manyRows(1), { whatToDo: 'release' });
			store.beforeCall = (call) => {
				if (call.startsWith(failing)) throw new Error('database is locked');
			};
			const { error, pushed } = await run(manyRows(1), check);
			expect(error?.message).toMatch(/^n8n can't read or write the list of numbers pushed before/);
			expect(pushed).toEqual([]);
			store.beforeCall = () => {};
			expect((await run(manyRows(1), check)).pushedBefore).toHaveLength(1);
		},
	);

	test('after an interrupted look-up, says that ready rows may have been pushed before', async () => {
		agents();
		agents();
		respondWith([200, accepted(1, { enqueued: true })]);
		await run(manyRows(1), { whatToDo: 'release' });
		const before = store.calls.length;
		store.beforeCall = () => {
			if (store.calls.length > before + 2) throw new Error('killed');
		};
		await run(manyRows(2), check);
		store.beforeCall = () => {};
		const { hints } = await run(manyRows(2), check);
		expect(hints[0]).toContain('The ready rows may include numbers that were pushed before.');
	});
});

test('remembers numbers by campaign, for all nodes of the workflow', async () => {
	respondWith(ok(1));
	await run(manyRows(1));
	const another = await run(manyRows(1), {}, { name: 'Node', id: 'another' });
	expect(statuses(another)).toEqual(['0 waiting_before']);
	service().post('/v1/campaigns/43/contacts').reply(200, accepted(1));
	const { pushed } = await run(manyRows(1), { campaignId: '43' });
	expect(pushed).toHaveLength(1);
});

test('reserves the numbers of a request before it is sent, but not those of later requests', async () => {
	const sizes: number[] = [];
	store.beforeCall = (call) => {
		if (call.startsWith('add')) sizes.push(store.size);
	};
	respondWith(ok(2), [409, rejection('archived')]);
	await run(manyRows(6), inTwos, goOn);
	// Before each request, its note (with the mark of the execution the first time), and its two numbers. After the first
	// one, what the service reported of them.
	expect(sizes).toEqual([0, 3, 5, 7, 9]);
	// Numbers of rejected requests are released, and the notes of an execution that ended are removed.
	expect(store.size).toBe(4);
});

test('reserves nothing if the service would reject every request', async () => {
	nock.cleanAll();
	readable(42, 'Archived');
	const { error, rejected } = await run(manyRows(2));
	expect(error).toMatchObject({
		message: 'The campaign is archived, so nothing was sent',
		description: "Choose another campaign in 'Campaign'.",
	});
	expect([rejected, store.calls]).toEqual([[], []]);
});

describe('rows that certainly had no effect can be pushed later', () => {
	test('a rejection of the whole request', async () => {
		const bodies = respondWith([409, rejection('archived')], ok(2));
		await run(manyRows(2), {}, goOn);
		expect(statuses(await run(manyRows(2)))).toEqual([]);
		expect(bodies.flatMap(phonesOf)).toEqual([0, 1, 0, 1].map(phone));
	});

	test('a number on the do-not-disturb list, but not a queued one', async () => {
		const skips = { dnd_skipped: [phone(0)], engine_skipped_duplicates: [phone(1)] };
		const bodies = respondWith([200, accepted(3, skips)], ok(1));
		await run(manyRows(3));
		expect(statuses(await run(manyRows(3)))).toEqual(['1 unknown_before', '2 waiting_before']);
		expect(phonesOf(bodies[1])).toEqual([phone(0)]);
	});
});

describe('rows that may have taken effect are never sent again', () => {
	test('an unknown outcome is unknown in its run, and unknown_before in the next', async () => {
		breaking('ECONNRESET');
		expect(statuses(await run(manyRows(2), {}, goOn))).toEqual(['0 unknown', '1 unknown']);
		expect(statuses(await run(manyRows(2)))).toEqual(['0 unknown_before', '1 unknown_before']);
	});

	test('the execution after a killed one sends only the others', async () => {
		const sent = breaking('ECONNRESET');
		store.beforeCall = () => {
			if (sent.length > 0) throw new Error('killed');
		};
		await run(manyRows(4), inTwos, goOn);
		store.beforeCall = () => {};
		const bodies = respondWith(ok(3));
		const next = await run(manyRows(5));
		expect(phonesOf(bodies[0])).toEqual([2, 3, 4].map(phone));
		expect(statuses(next)).toEqual(['0 unknown_before', '1 unknown_before']);
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

	test('after a rejection: the rows were not sent, and the next execution says how to send them', async () => {
		respondWith([409, rejection('archived')]);
		store.beforeCall = (call) => {
			if (call.startsWith('remove')) throw new Error('disk full');
		};
		expect(statuses(await run(manyRows(1), {}, goOn))).toEqual(['0 not_sent']);
		const next = await run(manyRows(1));
		expect(statuses(next)).toEqual(['0 unknown_before']);
		expect(next.pushedBefore[0]?.json.rejection_reason).toMatch(
			/To send it anyway, add DND List to this workflow, set 'Resource' to 'Remembered Number', and forget the number\.$/,
		);
	});
});

test('two simultaneous executions in one process send each number once', async () => {
	const bodies = respondWith(ok(3), ok(1));
	const [one, other] = await Promise.all([run(manyRows(3)), run(manyRows(4))]);
	expect(bodies.flatMap(phonesOf).sort()).toEqual([0, 1, 2, 3].map(phone));
	// It depends on the moment whether the other one has ended.
	const known = [...statuses(one), ...statuses(other)].map((status) =>
		status.replace(/(unknown|waiting)_before$/, 'before'),
	);
	expect(known.sort()).toEqual(['0 before', '1 before', '2 before']);
});

test.each([
	['an agent', engineTool],
	['an MCP client', mcpTool],
])('as a tool of %s, does not push numbers of earlier executions', async (_name, toolOf) => {
	respondWith(ok(1));
	await run(manyRows(1));
	const contacts = "={{ $fromAI('contacts', '', 'json') }}";
	const tool = toolOf(pushNode({ ...remembering, contactsFrom: 'json', contacts }));
	expect(await tool({ contacts: [{ phone: phone(0) }] })).toMatchObject({
		outcome: 'not_sent',
		what_happened: '1 row: 0 pushed, 1 waiting since an earlier push.',
		next_step: expect.stringMatching(
			/This number was pushed to the campaign before and waits there, so it/,
		),
	});
});

test.each<[string, () => unknown, string[], string[]]>([
	['before the response', () => breaking('ECONNRESET'), ['1 unknown'], ['0 pushed_before']],
	['after it', () => respondWith(ok(1)), [], ['0 pushed_before', '1 waiting_before']],
])('a retry after a kill %s reports no number as unknown that is known', async (...when) => {
	const [, respond, rejected, before] = when;
	respondWith([200, accepted(1, { enqueued: true })]);
	await run(manyRows(1), { whatToDo: 'release' });
	respond();
	const node = pushNode(remembering);
	const { workflow, start } = oneNodeWorkflow(node, ['Pushed', 'Rejected', 'Pushed Before']);
	const begun = await runKilled(workflow, start, manyRows(2));
	const again = await resume(workflow, storedCopy(begun), 'retry');
	const outputs = [1, 2].map((index) => output(again, 'Node', index).map(statusOf));
	expect(outputs).toEqual([rejected, before]);
});

test('a retry after a kill does not report rows as unknown for which nothing was sent', async () => {
	const bodies = respondWith(ok(2));
	await run(manyRows(2));
	const { workflow, start } = oneNodeWorkflow(pushNode(remembering), [
		'Pushed',
		'Rejected',
		'Pushed Before',
	]);
	const begun = await runKilled(workflow, start, manyRows(2));
	const again = await resume(workflow, storedCopy(begun), 'retry');
	const before = output(again, 'Node', 2).map(({ json }) => json.rejection_status);
	expect(before).toEqual(['waiting_before', 'waiting_before']);
	expect(bodies).toHaveLength(1);
});
