/** Skip Numbers Pushed Before. */
import nock from 'nock';
import type { INode, INodeExecutionData } from 'n8n-workflow';
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

const remembering = { options: { skipPushedBefore: true } };
const run = async (
	input: INodeExecutionData[],
	parameters: NodeParameters = {},
	node: Partial<INode> = {},
) => await runPush(input, { ...remembering, ...parameters }, node);
const statuses = ({ rejected }: PushRun) =>
	rejected.map(({ json }) =>
		[plainText(json.phone).slice(-1), plainText(json.rejection_status)].join(' '),
	);

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
	expect(statuses(second)).toEqual(['0 pushed_before', '1 pushed_before']);
	expect(second.pushed[0]?.json.totals).toMatchObject({
		received: 3,
		pushed: 1,
		pushed_before: 2,
	});
	expect(second.hints).toEqual([`3 rows: 1 pushed, 2 pushed before. ${WAITING}`]);
	expect(second.rejected[0]?.json.rejection_reason).toMatch(
		/An earlier execution of this workflow pushed this number to the campaign or began to push it, .* interrupted or reported the number as unknown, check whether/,
	);
});

test('remembers numbers by campaign, for all nodes of the workflow', async () => {
	respondWith(ok(1));
	await run(manyRows(1));
	const another = await run(manyRows(1), {}, { name: 'Node', id: 'another' });
	expect(statuses(another)).toEqual(['0 pushed_before']);
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
	// Before each request, its note (with the mark of the execution the first time), and its two numbers.
	expect(sizes).toEqual([0, 3, 5, 7]);
	// Numbers of rejected requests are released, and the notes of an execution that ended are removed.
	expect(store.size).toBe(2);
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
		expect(statuses(await run(manyRows(3)))).toEqual(['1 pushed_before', '2 pushed_before']);
		expect(phonesOf(bodies[1])).toEqual([phone(0)]);
	});
});

describe('rows that may have taken effect are never sent again', () => {
	test('an unknown outcome is unknown in its run, and pushed_before in the next', async () => {
		breaking('ECONNRESET');
		expect(statuses(await run(manyRows(2), {}, goOn))).toEqual(['0 unknown', '1 unknown']);
		expect(statuses(await run(manyRows(2)))).toEqual(['0 pushed_before', '1 pushed_before']);
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
		expect(statuses(next)).toEqual(['0 pushed_before', '1 pushed_before']);
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
		expect(statuses(next)).toEqual(['0 pushed_before']);
		expect(next.rejected[0]?.json.rejection_reason).toMatch(
			/To send it anyway, add DND List to this workflow, set 'Resource' to 'Remembered Number', and forget the number\.$/,
		);
	});
});

test('two simultaneous executions in one process send each number once', async () => {
	const bodies = respondWith(ok(3), ok(1));
	const [one, other] = await Promise.all([run(manyRows(3)), run(manyRows(4))]);
	expect(bodies.flatMap(phonesOf).sort()).toEqual([0, 1, 2, 3].map(phone));
	expect([...statuses(one), ...statuses(other)].sort()).toEqual(
		[0, 1, 2].map((row) => `${row} pushed_before`),
	);
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
		what_happened: '1 row: 0 pushed, 1 pushed before.',
		next_step: expect.stringMatching(
			/This number was pushed to the campaign before, or an earlier push of it began, so it/,
		),
	});
});

test('a retry after a kill does not report rows as unknown for which nothing was sent', async () => {
	const bodies = respondWith(ok(2));
	await run(manyRows(2));
	const { workflow, start } = oneNodeWorkflow(pushNode(remembering), ['Pushed', 'Rejected']);
	const begun = await runKilled(workflow, start, manyRows(2));
	const again = await resume(workflow, storedCopy(begun), 'retry');
	const rejected = output(again, 'Node', 1).map(({ json }) => json.rejection_status);
	expect(rejected).toEqual(['pushed_before', 'pushed_before']);
	expect(bodies).toHaveLength(1);
});
