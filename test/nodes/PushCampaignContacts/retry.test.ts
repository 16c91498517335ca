import type { INode, INodeExecutionData, IRun } from 'n8n-workflow';
import type { JsonObject } from '../../../nodes/shared/json';
import { engineHarness, oneNodeWorkflow, output, retryFailed, runWorkflow } from '../../engine';
import {
	accepted,
	respondWith,
	respondInto,
	breaking,
	pushNode,
	jsonOf,
	manyRows,
	phone,
	phonesOf,
	rejection,
	type NodeParameters,
} from './pushHarness';

const harness = engineHarness();
const bySize: NodeParameters = { developerSettings: { contactsPerRequest: 2 } };
const OK: [number, JsonObject] = [200, accepted(2)];
const ARCHIVED: [number, JsonObject] = [409, rejection('Campaign is archived')];

async function run(node: INode, input: INodeExecutionData[]): Promise<IRun> {
	const { workflow, start } = oneNodeWorkflow(node, ['Pushed', 'Rejected']);
	return await runWorkflow(harness.credentials, workflow, start, input, 'trigger');
}

/** *Retry* in the list of executions, with this version of the node. */
async function retry(failed: IRun, node: INode): Promise<IRun> {
	const { workflow } = oneNodeWorkflow(node, ['Pushed', 'Rejected']);
	return await retryFailed(harness.credentials, failed, workflow);
}

const pushesOf = (done: IRun) =>
	output(done, 'Node').map(({ json, pairedItem }) => [json.totals, pairedItem]);
const errorOf = ({ data }: IRun) => data.resultData.error;

describe('Retry in the list of executions', () => {
	test('sends the remaining rows, and returns the requests of both executions', async () => {
		const bodies = respondWith(OK, ARCHIVED, OK, [200, accepted(1)]);
		const node = pushNode(harness, bySize);
		const failed = await run(node, manyRows(5));
		expect(errorOf(failed)).toHaveProperty(
			'description',
			expect.stringMatching(
				/\nTo send only the rows that weren't sent, retry this execution.*\nPushed: 2 rows[^]*\nNot sent: 3 rows/,
			),
		);
		const again = await retry(failed, node);
		expect(errorOf(again)).toBeUndefined();
		expect(bodies.map(phonesOf)).toEqual([
			[phone(0), phone(1)],
			[phone(2), phone(3)],
			[phone(2), phone(3)],
			[phone(4)],
		]);
		const totals = expect.objectContaining({ received: 5, pushed: 5, requests: 3, not_sent: 0 });
		expect(pushesOf(again)).toEqual([
			[totals, [{ item: 0 }, { item: 1 }]],
			[totals, [{ item: 2 }, { item: 3 }]],
			[totals, [{ item: 4 }]],
		]);
	});

	test('never sends rows again that may have arrived', async () => {
		const bodies = respondWith(OK);
		breaking('ECONNRESET', bodies);
		respondInto(bodies, [200, accepted(1)]);
		const node = pushNode(harness, bySize);
		const failed = await run(node, manyRows(5));
		const again = await retry(failed, node);
		const third = await retry(again, node);
		for (const each of [failed, again, third]) {
			expect(errorOf(each)?.message).toContain('the outcome is unknown');
		}
		expect(errorOf(third)).toHaveProperty(
			'description',
			expect.stringMatching(/\nPushed: 3 rows .*\nUnknown: 2 rows/),
		);
		expect(bodies.flatMap(phonesOf)).toEqual([0, 1, 2, 3, 4].map(phone));
	});

	test('with other columns and the same numbers, sends the remaining rows', async () => {
		const bodies = respondWith(OK, ARCHIVED, OK);
		const failed = await run(pushNode(harness, bySize), manyRows(4));
		const again = await retry(
			failed,
			pushNode(harness, { ...bySize, enqueue: true, otherColumns: 'none' }),
		);
		expect(errorOf(again)).toBeUndefined();
		expect(bodies.slice(2).map(phonesOf)).toEqual([[phone(2), phone(3)]]);
		expect(bodies[2]).toMatchObject({ enqueue: true, contacts: [{ phone: phone(2) }, {}] });
	});

	const contacts = (...numbers: number[]): NodeParameters => ({
		contactsFrom: 'json',
		contacts: JSON.stringify(numbers.map((number) => ({ phone: phone(number) }))),
	});
	test.each<[string, NodeParameters, NodeParameters]>([
		['another size of requests', bySize, { developerSettings: { contactsPerRequest: 10 } }],
		['another Phone Column', bySize, { ...bySize, phoneColumn: 'mobile' }],
		[
			'other contacts',
			{ ...bySize, ...contacts(0, 1, 2, 3) },
			{ ...bySize, ...contacts(0, 1, 4, 3) },
		],
		['another campaign', bySize, { ...bySize, campaignId: '43' }],
	])('with %s, sends nothing, and reports all rows as unknown', async (_what, before, after) => {
		const bodies = respondWith(OK, ARCHIVED);
		const input = [0, 1, 2, 3].map((row) => ({
			json: { phone: phone(row), mobile: phone(row + 10) },
		}));
		const items = before.contactsFrom === 'json' ? [{ json: {} }] : input;
		const failed = await run(pushNode(harness, before), items);
		const again = await retry(failed, pushNode(harness, after));
		expect(bodies).toHaveLength(2);
		expect(errorOf(again)).toMatchObject({
			message: expect.stringMatching(/^The rows or the options changed since an earlier attempt/),
			description: expect.stringContaining('Unknown: 4 rows (rows 1 to 4)'),
		});
	});

	test('with an invalid setting, reports all rows as unknown, and how to go on', async () => {
		respondWith(OK, ARCHIVED);
		const failed = await run(pushNode(harness, bySize), manyRows(4));
		const broken = pushNode(harness, { ...bySize, campaignId: 'Spring' });
		const again = await retry(failed, { ...broken, onError: 'continueRegularOutput' });
		const rows = jsonOf(output(again, 'Node', 1));
		expect(rows.map((json) => json.rejection_status)).toEqual([
			'unknown',
			'unknown',
			'unknown',
			'unknown',
		]);
		expect(rows[0]?.rejection_reason).toContain(
			"Then retry the execution again. An earlier attempt may have pushed this row, so don't push it in a new execution.",
		);
	});

	test('with an unreadable record, nothing is sent, and all rows are unknown', async () => {
		respondWith(OK, ARCHIVED);
		const node = pushNode(harness, bySize);
		const failed = await run(node, manyRows(4));
		const context = failed.data.executionData?.contextData['node:Node'];
		const shelf: unknown = context?.voiceChatAgent;
		expect(shelf).toHaveProperty(['push, run 0']);
		Object.assign(Object(shelf), { 'push, run 0': 'damaged' });
		const again = await retry(failed, { ...node, onError: 'continueRegularOutput' });
		expect(jsonOf(output(again, 'Node', 1)).map((json) => json.rejection_status)).toEqual([
			'unknown',
			'unknown',
			'unknown',
			'unknown',
		]);
	});
});
