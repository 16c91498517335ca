/** Numbers Pushed Before. */
import type { INode, INodeExecutionData } from 'n8n-workflow';
import { engineTool, oneNodeWorkflow, resume, runKilled, storedCopy } from '../../engine';
import {
	accepted,
	ARCHIVED,
	BROKEN,
	goOn,
	inTwos,
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

const SKIP = { numbersPushedBefore: 'skipNumbers' };
const release = { whatToDo: 'release' };
const check = { whatToDo: 'check' };
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
	expect(second.statuses).toEqual(['0 sent_before', '1 sent_before']);
	expect(second.skipped[0]?.json.rejection_reason).toBe(
		"An earlier run of this workflow sent this number, or may have, so it wasn't sent again. In n8n, to send it anyway, use DND List > Forget with this number and campaign in this workflow, and empty its push_status.",
	);
	expect(second.pushed[0]?.json.totals).toMatchObject({ received: 3, pushed: 1, sent_before: 2 });
	expect(second.hints).toEqual([
		`3 rows: 1 pushed, 2 sent before. ${WAITING_ONCE}`,
		expect.stringContaining("'Push Again' in 'Numbers Pushed Before' pushes all rows"),
	]);
});

test('remembers numbers by campaign, for all nodes of the workflow', async () => {
	scripted();
	await run(1);
	expect((await run(1, {}, { id: 'another' })).statuses).toEqual(['0 sent_before']);
	expect((await run(1, { campaignId: '43' })).pushed).toHaveLength(1);
});

test('pushes again with Push Again, and does not remember these numbers', async () => {
	const sent = scripted();
	await push(1);
	await run(1, release);
	expect(sent).toEqual([phones(0), phones(0)]);
	await push(1);
	expect(sent).toHaveLength(3);
});

test('says of a check that a push skips them, and looks up none', async () => {
	scripted();
	await run(1);
	const calls = store.calls.length;
	const { hints, pushed } = await run(2, check);
	expect(pushed[0]?.json.totals).toMatchObject({ ready: 2 });
	expect(hints[0]).toMatch(
		/2 rows: 2 ready\. A push skips the numbers that this workflow pushed to the campaign before\./,
	);
	expect(store.calls).toHaveLength(calls);
});

test('claims the rows of each request, for the execution and the campaign', async () => {
	scripted();
	await run(6, inTwos);
	// With the marks of the execution, and of its push.
	expect(store.calls.filter((call) => call.startsWith('add'))).toEqual([
		...['add 4', 'add 2', 'add 4', 'add 2', 'add 4', 'add 2'],
	]);
	// Those of the execution are removed.
	expect(store.size).toBe(6);
});

test('remembers nothing if the service rejects every request', async () => {
	respondWith(ARCHIVED);
	expect((await run(2)).statuses).toEqual(['0 not_sent', '1 not_sent']);
	expect(store.size).toBe(0);
});

test('rows of a rejected request, and of the do-not-disturb list, can be pushed later, but no queued one', async () => {
	const skips = { dnd_skipped: [phone(0)], engine_skipped_duplicates: [phone(1)] };
	const sent = scripted((_numbers, request) =>
		request === 1 ? ARCHIVED : [200, accepted(request === 2 ? 3 : 1, request === 2 ? skips : {})],
	);
	await run(3);
	await run(3);
	expect((await run(3)).statuses).toEqual(['1 sent_before', '2 sent_before']);
	expect(sent).toEqual([phones(0, 1, 2), phones(0, 1, 2), phones(0)]);
});

test('a number that was sent before stays so if the push stops at other rows of its request', async () => {
	const sent = scripted((_numbers, request) =>
		request === 1 ? BROKEN : request === 2 ? [400, rejection('contacts[1]')] : ARCHIVED,
	);
	await run(1);
	expect((await run(3)).statuses).toEqual(['0 sent_before', '1 not_sent', '2 not_sent']);
	expect(sent).toEqual([phones(0), phones(1, 2), phones(1)]);
});

describe('when the database of n8n fails', () => {
	test('before a request: it is not sent', async () => {
		databaseFails((call) => call === 'add 3');
		const { error } = await runPush(manyRows(3), SKIP);
		expect(error).toMatchObject({
			message: expect.stringMatching(/^n8n can't read or write the list of numbers pushed before/),
			description: expect.stringMatching(
				/ Or set 'Numbers Pushed Before' to 'Push Again', and push only new rows\. n8n said: database is locked/,
			),
		});
	});

	test('after a rejection: the rows were not sent, and later executions cannot know that', async () => {
		respondWith(ARCHIVED);
		databaseFails((call) => call.startsWith('remove'));
		expect((await run(1)).statuses).toEqual(['0 not_sent']);
		databaseWorks();
		expect((await run(1)).statuses).toEqual(['0 sent_before']);
	});
});

test('two executions at the same time send each number once', async () => {
	const sent = scripted();
	const both = await Promise.all([run(3), run(4)]);
	expect(sent.flat().sort()).toEqual(phones(0, 1, 2, 3));
	expect(both.flatMap(({ statuses }) => statuses).sort()).toEqual(
		[0, 1, 2].map((row) => `${row} sent_before`),
	);
});

test('as a tool, does not push numbers of earlier executions', async () => {
	scripted();
	await run(1);
	const contacts = "={{ $fromAI('contacts', '', 'json') }}";
	const tool = engineTool(pushNode({ ...SKIP, contactsFrom: 'json', contacts }));
	expect(await tool({ contacts: [{ phone: phone(0) }] })).toMatchObject({
		outcome: 'not_sent',
		what_happened: '1 row: 0 pushed, 1 sent before.',
		next_step: expect.stringContaining(
			"An earlier run of this workflow sent this number, or may have, so it wasn't sent again.",
		),
	});
});

test('a retry after a kill says of each number what is known', async () => {
	const sent = scripted();
	await run(1);
	const { workflow, start } = oneNodeWorkflow(pushNode(SKIP, goOn), OUTPUTS);
	const killed = await runKilled(workflow, start, manyRows(2));
	const again = outputsOf(await resume(workflow, storedCopy(killed), 'retry'));
	expect(again.statuses).toEqual(['0 sent_before', '1 unknown']);
	expect(sent).toHaveLength(2);
});

test('with Retry On Fail, a push with an unknown outcome says of each number what is known', async () => {
	const sent = scripted((_numbers, request) => (request === 1 ? ok(1) : BROKEN));
	await run(1);
	const { statuses } = await run(
		3,
		{},
		{ onError: 'continueErrorOutput', retryOnFail: true, maxTries: 2, waitBetweenTries: 1 },
	);
	expect(statuses).toEqual(['0 sent_before', '1 unknown', '2 unknown']);
	expect(sent).toEqual([phones(0), phones(1, 2)]);
});
