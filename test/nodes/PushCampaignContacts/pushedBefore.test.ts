/** Skip Numbers Pushed Before. */
import nock from 'nock';
import type { INode, INodeExecutionData } from 'n8n-workflow';
import type { JsonObject } from '../../../nodes/core/values/json';
import { pushFields } from '../../../nodes/PushCampaignContacts/properties';
import { engineTool, oneNodeWorkflow, resume, runKilled, storedCopy } from '../../engine';
import {
	accepted,
	ARCHIVED,
	BROKEN,
	inTwos,
	jsonOf,
	manyRows,
	ok,
	OUTPUTS,
	outputsOf,
	phone,
	push,
	pushNode,
	rejection,
	respondWith,
	rowsOf,
	runPush,
	scripted,
	type NodeParameters,
	type PushRun,
	type Reply,
	WAITING_ONCE,
	campaign,
	phones,
	pushHarness,
} from './pushHarness';

const { store } = pushHarness();

beforeEach(() => {
	campaign();
	campaign('Active', 43);
});

const SKIP = { options: { skipPushedBefore: true } };
const release = { whatToDo: 'release' };
const check = { whatToDo: 'check' };
const released = (count: number, over: JsonObject = {}): Reply => [
	200,
	accepted(count, { enqueued: true, ...over }),
];
/** A new execution. */
const run = async (
	rows: number | INodeExecutionData[],
	parameters: NodeParameters = {},
	over: Partial<INode> = {},
): Promise<PushRun> => await push(rows, { ...SKIP, ...parameters }, over);
const databaseFails = (isFailing: (call: string) => boolean) => {
	store.beforeCall = (call) => {
		if (isFailing(call)) throw new Error('database is locked');
	};
};
const databaseWorks = () => (store.beforeCall = () => {});

/** Row 0 was released, row 1 waits, and with three rows, the outcome of row 2 is unknown. Later ones are released. */
async function pushEarlier(rows: 2 | 3): Promise<string[][]> {
	nock.cleanAll();
	campaign();
	const sent = scripted((_numbers, request) =>
		request === 2 ? ok(1) : request === 3 && rows === 3 ? BROKEN : released(1),
	);
	await run(1, release);
	await run(2);
	if (rows === 3) await run(3);
	return sent;
}
const THREE = ['0 pushed_before', '1 waiting_before', '2 unknown_before'];

test('pushes a number once across all executions, in any format', async () => {
	const sent = scripted();
	await run(2);
	const second = await run(
		rowsOf(
			{ phone: '90000 00000', person_name: 'A much longer name' },
			{ phone: '+919000000001' },
			{ phone: phone(2) },
		),
	);
	expect(sent).toEqual([phones(0, 1), phones(2)]);
	expect(second.rejected).toEqual([]);
	expect(second.statuses).toEqual(['0 waiting_before', '1 waiting_before']);
	expect(second.pushed[0]?.json.totals).toMatchObject({
		received: 3,
		pushed: 1,
		waiting_before: 2,
	});
	expect(second.hints[0]).toBe(
		`3 rows: 1 pushed, 2 waiting since an earlier push. ${WAITING_ONCE}`,
	);
});

test('remembers numbers by campaign, for all nodes of the workflow', async () => {
	scripted();
	await run(1);
	expect((await run(1, {}, { id: 'another' })).statuses).toEqual(['0 waiting_before']);
	expect((await run(1, { campaignId: '43' })).pushed).toHaveLength(1);
});

test('pushes again what a push without the option pushed, as the notices of the form say', async () => {
	const sent = scripted();
	await push(1);
	await run(1, release);
	expect(sent).toEqual([phones(0), phones(0)]);
	const notices = pushFields.filter(({ name }) => ['callNotice', 'waitNotice'].includes(name));
	expect(notices.map(({ displayName }) => displayName)).toEqual(
		Array(2).fill(
			expect.stringContaining(
				'unless <b>Skip Numbers Pushed Before</b> in Options is on each time.',
			),
		),
	);
});

describe('what is known of the earlier push', () => {
	test('is said of each row, and looking it up adds nothing', async () => {
		await pushEarlier(3);
		const { size } = store;
		for (const again of [release, {}]) {
			const { statuses, pushedBefore } = await run(3, again);
			expect(statuses).toEqual(THREE);
			expect(pushedBefore.map(({ json }) => json.rejection_reason)).toEqual([
				expect.stringMatching(
					/^An earlier push of this workflow released this number to the calling queue .* add DND List to this workflow, set 'Resource' to 'Remembered Number', 'Phone' to the number, and 'Campaign ID' to this campaign\.$/,
				),
				expect.stringMatching(/waits in the campaign\. It wasn't sent again, because that may add/),
				expect.stringMatching(
					/sent this number, or began to, and the outcome is unknown, .* and 'Campaign ID' to this campaign\.$/,
				),
			]);
		}
		expect(store.size).toBe(size);
	});

	test('is what n8n remembers of it, not what the row says', async () => {
		const sent = await pushEarlier(3);
		const marked = [2, 3].map((row) => ({
			phone: phone(row),
			person_name: 'A',
			push_status: 'unknown_before',
		}));
		expect((await run(rowsOf(...marked), release)).statuses).toEqual(['0 unknown_before']);
		expect(sent.at(-1)).toEqual(phones(3));
	});

	test('is only a reason to do something if rows wait', async () => {
		await pushEarlier(3);
		expect((await run(1, release)).hints).toEqual(['1 row: 0 pushed, 1 pushed before.']);
		expect((await run(2, release)).hints[1]).toMatch(
			/^1 row waits in the campaign since an earlier/,
		);
	});

	test.each<[string, JsonObject, string]>([
		['another one than', { enqueued: false }, 'waiting_before'],
		['nothing of', { enqueued: null }, 'unknown_before'],
	])('if the service reported %s the requested release', async (_what, over, status) => {
		respondWith(released(1, over));
		await run(1, release);
		expect((await run(1, release)).statuses).toEqual([`0 ${status}`]);
	});

	test('is unknown if n8n was killed before it stored the result, and other rows are pushed', async () => {
		const sent = scripted();
		databaseFails(() => sent.length > 0);
		await run(4, inTwos);
		databaseWorks();
		expect((await run(5)).statuses).toEqual(['0 unknown_before', '1 unknown_before']);
		expect(sent).toEqual([phones(0, 1), phones(2, 3, 4)]);
	});

	test('is unknown only as long as n8n cannot read it', async () => {
		await pushEarlier(3);
		const before = store.calls.length;
		// The push and its request are noted, the numbers are reserved, then what is known of them is looked up.
		databaseFails(() => store.calls.length > before + 3);
		const unknown = [0, 1, 2].map((row) => `${row} unknown_before`);
		expect((await run(3, release)).statuses).toEqual(unknown);
		databaseWorks();
		expect((await run(3, release)).statuses).toEqual(THREE);
	});

	test.each([
		['no columns', {}],
		['the columns of the push that added it', { phone_sent: phone(0), campaign_upload_id: 7 }],
	])('is in the columns of a row with %s', async (_title, earlier) => {
		await pushEarlier(3);
		const options = { ...SKIP.options, output: 'rows' };
		const rows = rowsOf({ ...manyRows(1)[0]?.json, ...earlier });
		expect((await run(rows, { options })).pushedBefore).toEqual([
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
					...earlier,
				},
				pairedItem: { item: 0 },
			},
		]);
	});
});

test.each<[string, NodeParameters, failures: number]>([
	['n8n is killed in a push', release, Infinity],
	// The look-up tries to remove its texts seven times.
	['the database fails for more than a minute in a push', release, 7],
	['n8n is killed in a check', check, Infinity],
])(
	'wherever a look-up is interrupted, nothing is known that is not, and no row is lost: %s',
	async (...given) => {
		const [, parameters, failures] = given;
		let isInterrupted = true;
		for (let nth = 1; isInterrupted; nth++) {
			store.clear();
			const sent = await pushEarlier(2);
			const before = store.calls.length;
			databaseFails(() => {
				const call = store.calls.length - before;
				return call >= nth && call < nth + failures;
			});
			await run(2, parameters);
			isInterrupted = store.calls.length - before >= nth;
			databaseWorks();
			expect((await run(3, release)).statuses).toEqual([
				expect.stringMatching(/^0 (pushed|unknown)_before$/),
				expect.stringMatching(/^1 (waiting|unknown)_before$/),
			]);
			expect(sent).toEqual([phones(0), phones(1), phones(2)]);
		}
	},
);

describe('Check Only', () => {
	test('leaves out numbers whose push ended, counts them, and remembers nothing', async () => {
		await pushEarlier(3);
		const { size } = store;
		const options = { ...SKIP.options, output: 'rows' };
		const { pushed, statuses, hints } = await run([...manyRows(4), ...rowsOf({ phone: 'none' })], {
			...check,
			options,
		});
		expect(pushed.map(({ json }) => json.phone)).toEqual(phones(2, 3));
		expect(statuses).toEqual(['0 pushed_before', '1 waiting_before', '4 rejected']);
		expect(hints[0]).toMatch(
			/^'What to Do' is 'Check Only', so nothing was sent\. 5 rows: 2 ready, 1 rejected, 1 pushed before, 1 waiting since an earlier push\. The ready rows may include numbers whose earlier push has an unknown outcome\. A push leaves them out\. The agent is active/,
		);
		expect(store.size).toBe(size);
		expect((await run(1, check)).hints[0]).not.toContain('may include');
	});

	test('does not change the database if nothing was pushed yet', async () => {
		expect((await run(1, check)).pushed[0]?.json.totals).toMatchObject({ ready: 1 });
		expect(store.calls).toEqual(['count']);
	});

	test('says that it may not have left out all of them if looking for them takes long', async () => {
		scripted();
		await run(1);
		const options = { ...SKIP.options, output: 'summary' };
		const { pushed } = await run(10_000, { ...check, options });
		expect(pushed[0]?.json.summary).toMatch(
			/^10,000 rows: 10,000 ready\. The ready rows may include numbers that were pushed before\. A push leaves them out\./,
		);
		expect(store.size).toBe(2);
	});

	test.each(['count', 'add'])(
		'stops as a push would if n8n cannot use the list: %s',
		async (call) => {
			await pushEarlier(3);
			databaseFails((each) => each.startsWith(call));
			const { error, pushed } = await runPush(manyRows(1), { ...SKIP, ...check });
			expect(error?.message).toMatch(/^n8n can't read or write the list of numbers pushed before/);
			expect(pushed).toEqual([]);
			databaseWorks();
			expect((await run(1, check)).statuses).toEqual(['0 pushed_before']);
		},
	);

	test('after an interrupted look-up, says that ready rows may have been pushed before', async () => {
		await pushEarlier(3);
		const before = store.calls.length;
		databaseFails(() => store.calls.length > before + 2);
		await run(2, check);
		databaseWorks();
		expect((await run(2, check)).hints[0]).toContain(
			'The ready rows may include numbers that were pushed before.',
		);
	});
});

test('reads and writes the numbers once for each request, and once after the last one', async () => {
	const sent = scripted();
	await run(6, inTwos);
	const notes = 'add 2';
	expect(store.calls.filter((call) => call.startsWith('add'))).toEqual([
		...['add 3', notes, 'add 2'],
		// With what the service reported of the numbers before.
		...[notes, 'add 4', notes, 'add 4'],
		'add 2',
	]);
	expect(sent).toHaveLength(3);
	expect((await run(6)).statuses).toEqual([0, 1, 2, 3, 4, 5].map((row) => `${row} waiting_before`));
});

test('reserves nothing if the service would reject every request', async () => {
	nock.cleanAll();
	campaign('Archived');
	expect((await runPush(manyRows(2), SKIP)).error).toMatchObject({
		message: 'The campaign is archived, so nothing was sent',
		description: "Choose another campaign in 'Campaign'.",
	});
	expect(store.calls).toEqual([]);
});

test('rows of a rejected request, and of the do-not-disturb list, can be pushed later, but no queued one', async () => {
	const skips = { dnd_skipped: [phone(0)], engine_skipped_duplicates: [phone(1)] };
	const sent = scripted((_numbers, request) =>
		request === 1 ? ARCHIVED : [200, accepted(request === 2 ? 3 : 1, request === 2 ? skips : {})],
	);
	await run(3);
	await run(3);
	expect((await run(3)).statuses).toEqual(['1 unknown_before', '2 waiting_before']);
	expect(sent).toEqual([phones(0, 1, 2), phones(0, 1, 2), phones(0)]);
});

test('a number that was pushed before stays so if the push stops at other rows of its request', async () => {
	const sent = scripted((_numbers, request) =>
		request === 1 ? BROKEN : request === 2 ? [400, rejection('contacts[1]')] : ARCHIVED,
	);
	await run(1);
	expect((await run(3)).statuses).toEqual(['0 unknown_before', '1 not_sent', '2 not_sent']);
	expect(sent).toEqual([phones(0), phones(1, 2), phones(1)]);
});

describe('when the database of n8n fails', () => {
	test('before a request: it is not sent', async () => {
		databaseFails((call) => call === 'add 4');
		const { error } = await runPush(manyRows(4), SKIP);
		expect(error).toMatchObject({
			message: expect.stringMatching(/^n8n can't read or write the list of numbers pushed before/),
			description: expect.stringMatching(
				/ Or turn off 'Skip Numbers Pushed Before' and push only new rows\. n8n said: database is locked/,
			),
		});
	});

	test('after a rejection: the rows were not sent, and later executions cannot know that', async () => {
		respondWith(ARCHIVED);
		databaseFails((call) => call.startsWith('remove'));
		expect((await run(1)).statuses).toEqual(['0 not_sent']);
		expect((await run(1)).statuses).toEqual(['0 unknown_before']);
	});
});

test('two executions at the same time send each number once', async () => {
	const sent = scripted();
	const both = await Promise.all([run(3), run(4)]);
	expect(sent.flat().sort()).toEqual(phones(0, 1, 2, 3));
	// It depends on the moment whether the other one has ended.
	const known = both.flatMap(({ statuses }) =>
		statuses.map((status) => status.replace(/(unknown|waiting)_before$/, 'before')),
	);
	expect(known.sort()).toEqual(['0 before', '1 before', '2 before']);
});

test('as a tool, does not push numbers of earlier executions', async () => {
	scripted();
	await run(1);
	const contacts = "={{ $fromAI('contacts', '', 'json') }}";
	const tool = engineTool(pushNode({ ...SKIP, contactsFrom: 'json', contacts }));
	expect(await tool({ contacts: [{ phone: phone(0) }] })).toMatchObject({
		outcome: 'not_sent',
		what_happened: '1 row: 0 pushed, 1 waiting since an earlier push.',
		next_step: expect.stringMatching(
			/This number was pushed to the campaign before and waits there, so it/,
		),
	});
});

test.each<[string, earlier: Reply | Error, Reply | Error, count: number, string[]]>([
	['before the response', released(1), BROKEN, 2, ['0 pushed_before', '1 unknown']],
	['after it', released(1), ok(1), 2, ['0 pushed_before', '1 waiting_before']],
	['of a push that had nothing to send', BROKEN, ok(1), 1, ['0 unknown_before']],
])('a retry after a kill %s says of each number what is known', async (...given) => {
	const [, earlier, reply, count, statuses] = given;
	const sent = scripted((_numbers, request) => (request === 1 ? earlier : reply));
	await run(1, release);
	const { workflow, start } = oneNodeWorkflow(pushNode(SKIP), OUTPUTS);
	const killed = await runKilled(workflow, start, manyRows(count));
	const again = outputsOf(await resume(workflow, storedCopy(killed), 'retry'));
	expect(again.statuses).toEqual(statuses);
	expect(sent).toHaveLength(count);
	expect(jsonOf(again.pushed)).toEqual([]);
});

const tryAgain = {
	onError: 'continueErrorOutput',
	retryOnFail: true,
	maxTries: 2,
	waitBetweenTries: 1,
} as const;

test('with Retry On Fail, a push with an unknown outcome says of each number what is known', async () => {
	const sent = scripted((_numbers, request) => (request === 1 ? released(1) : BROKEN));
	await run(1, release);
	const { statuses } = await run(3, {}, tryAgain);
	expect(statuses).toEqual(['0 pushed_before', '1 unknown', '2 unknown']);
	expect(sent).toEqual([phones(0), phones(1, 2)]);
});

test('with Retry On Fail, looks up no numbers that were sent, which would take long', async () => {
	scripted(() => BROKEN);
	expect((await run(3, {}, tryAgain)).statuses).toHaveLength(3);
	const notes = 'add 2';
	const calls = store.calls.filter((call) => call.startsWith('add'));
	// Of the push and of its numbers, and then of the push again.
	expect(calls).toEqual([...['add 3', notes, 'add 3'], 'add 3']);
});
