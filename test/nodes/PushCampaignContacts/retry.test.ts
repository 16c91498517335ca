import type { INode, INodeExecutionData, IRun } from 'n8n-workflow';
import type { JsonObject } from '../../../nodes/shared/json';
import { engineHarness, oneNodeWorkflow, output, retryFailed, runWorkflow } from '../../engine';
import {
	accepted,
	answering,
	answeringInto,
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
const bySize: NodeParameters = { options: { contactsPerRequest: 2 } };
const OK: [number, JsonObject] = [200, accepted(2)];
const ARCHIVED: [number, JsonObject] = [409, rejection('Campaign is archived')];

async function run(node: INode, input: INodeExecutionData[]): Promise<IRun> {
	const { workflow, start } = oneNodeWorkflow(node, ['Pushed', 'Rejected']);
	return await runWorkflow(harness.credentials, workflow, start, input, 'trigger');
}

/** What *Retry* in the list of executions makes of it, with the node as it is then. */
async function retry(failed: IRun, node: INode): Promise<IRun> {
	const { workflow } = oneNodeWorkflow(node, ['Pushed', 'Rejected']);
	return await retryFailed(harness.credentials, failed, workflow);
}

const pushesOf = (done: IRun) =>
	output(done, 'Node').map(({ json, pairedItem }) => [json.totals, pairedItem]);
const errorOf = ({ data }: IRun) => data.resultData.error;

describe('Retry in the list of executions', () => {
	test('sends the remaining rows, and returns the requests of both executions', async () => {
		const bodies = answering(OK, ARCHIVED, OK, [200, accepted(1)]);
		const node = pushNode(harness, bySize);
		const failed = await run(node, manyRows(5));
		expect(errorOf(failed)).toHaveProperty(
			'description',
			expect.stringMatching(
				/\nTo send only the rows that were not sent, retry this execution.*\nPushed: 2 rows[^]*\nNot sent: 3 rows/,
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
		const bodies = answering(OK);
		breaking('ECONNRESET', bodies);
		answeringInto(bodies, [200, accepted(1)]);
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

	test('with the edited workflow, no number is pushed again', async () => {
		const bodies = answering(OK, ARCHIVED, OK);
		const failed = await run(pushNode(harness, bySize), manyRows(4));
		const changed = { enqueue: true, otherColumns: 'none', options: { contactsPerRequest: 10 } };
		await retry(failed, pushNode(harness, changed));
		expect(bodies.slice(2).map(phonesOf)).toEqual([[phone(2), phone(3)]]);
	});

	test('with an invalid setting, reports which rows are in the campaign', async () => {
		answering(OK, ARCHIVED);
		const failed = await run(pushNode(harness, bySize), manyRows(4));
		const broken = pushNode(harness, { ...bySize, campaignId: 'Spring' });
		const again = await retry(failed, { ...broken, onError: 'continueRegularOutput' });
		expect(jsonOf(output(again, 'Node'))).toMatchObject([
			{ campaign_upload_id: 501, totals: { received: 4, pushed: 2, not_sent: 2 } },
		]);
		expect(output(again, 'Node', 1).map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 2 },
			{ item: 3 },
		]);
	});

	test('with an invalid setting, One Item per Row has the numbers that earlier attempts sent', async () => {
		breaking('ECONNRESET', answering(OK));
		const perRow: NodeParameters = { options: { contactsPerRequest: 2, output: 'rows' } };
		const rows = ['+91 90000 00000', '9000000001', '90000-00002', '9000000003', '9000000004'];
		const input = rows.map((number) => ({ json: { phone: number } }));
		const failed = await run(pushNode(harness, perRow), input);
		const broken = pushNode(harness, { ...perRow, campaignId: 'Spring' });
		const again = await retry(failed, { ...broken, onError: 'continueRegularOutput' });
		const numbersIn = (items: INodeExecutionData[]) =>
			jsonOf(items).map((json) => [json.push_status, json.phone_sent, json.phone_key]);
		expect(numbersIn(output(again, 'Node'))).toEqual([
			['pushed', '+919000000000', '919000000000'],
			['pushed', '9000000001', '919000000001'],
		]);
		expect(numbersIn(output(again, 'Node', 1))).toEqual([
			['unknown', '9000000002', '919000000002'],
			['unknown', '9000000003', '919000000003'],
			['not_sent', null, null],
		]);
	});

	test('with an unreadable checkpoint, nothing is sent, and all rows are unknown', async () => {
		answering(OK, ARCHIVED);
		const node = pushNode(harness, bySize);
		const failed = await run(node, manyRows(4));
		const context = failed.data.executionData?.contextData['node:Node'];
		const shelf: unknown = context?.voiceChatAgent;
		expect(shelf).toHaveProperty(['push, run 0', 'sent']);
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
