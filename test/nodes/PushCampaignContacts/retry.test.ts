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
	rowsOf,
	type NodeParameters,
} from './pushHarness';

const harness = engineHarness();
const bySize: NodeParameters = { developerSettings: { contactsPerRequest: 2 } };
const OK: [number, JsonObject] = [200, accepted(2)];
const ONE: [number, JsonObject] = [200, accepted(1)];
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

	test('with the edited workflow, no number is pushed again', async () => {
		const bodies = respondWith(OK, ARCHIVED, OK);
		const failed = await run(pushNode(harness, bySize), manyRows(4));
		const changed = {
			enqueue: true,
			otherColumns: 'none',
			developerSettings: { contactsPerRequest: 10 },
		};
		await retry(failed, pushNode(harness, changed));
		expect(bodies.slice(2).map(phonesOf)).toEqual([[phone(2), phone(3)]]);
	});

	test('with edited contacts, pushes no number again', async () => {
		const bodies = respondWith(ONE);
		breaking('ECONNRESET', bodies);
		const developerSettings = { contactsPerRequest: 1 };
		const json = (...numbers: number[]) =>
			pushNode(harness, {
				contactsFrom: 'json',
				contacts: JSON.stringify(numbers.map((number) => ({ phone: phone(number) }))),
				developerSettings,
			});
		const failed = await run(json(0, 1, 2), [{ json: {} }]);
		respondInto(bodies, ONE);
		const again = await retry(failed, json(1, 0, 2));
		expect(bodies.flatMap(phonesOf)).toEqual([0, 1, 2].map(phone));
		expect(
			jsonOf(output(again, 'Node', 1)).map((row) => [row.phone, row.rejection_status]),
		).toEqual([
			[phone(1), 'unknown'],
			[phone(0), 'duplicate'],
		]);
	});

	describe('with another form, reports a row that was pushed as pushed, and nowhere else', () => {
		const oneEach = { contactsPerRequest: 1 };
		const rejectedIn = (done: IRun) =>
			jsonOf(output(done, 'Node', 1)).map((json) => [json.rejection_status, json.rejection_reason]);

		test('if it has no number in the new Phone Column', async () => {
			const bodies = respondWith(OK, ARCHIVED, ONE);
			const input = rowsOf(
				{ phone: phone(0), mobile: '' },
				{ phone: phone(1), mobile: 'n/a' },
				{ phone: phone(2), mobile: phone(12) },
			);
			const parameters = {
				options: { output: 'rows' },
				developerSettings: { contactsPerRequest: 2 },
			};
			const failed = await run(pushNode(harness, parameters), input);
			const again = await retry(
				failed,
				pushNode(harness, { ...parameters, phoneColumn: 'mobile' }),
			);
			expect(bodies.slice(2).map(phonesOf)).toEqual([[phone(12)]]);
			expect(rejectedIn(again)).toEqual([]);
			expect(
				jsonOf(output(again, 'Node')).map((json) => [json.push_status, json.phone_sent]),
			).toEqual([
				['pushed', phone(0)],
				['pushed', phone(1)],
				['pushed', phone(12)],
			]);
		});

		test('if the push now keeps the other row with its number', async () => {
			const bodies = respondWith(ONE, ARCHIVED, ONE);
			const input = rowsOf(
				{ phone: phone(0), person_name: 'Asha Rao', nickname: 'A' },
				{ phone: phone(0), person_name: 'Asha', nickname: 'Asha' },
				{ phone: phone(1) },
			);
			const failed = await run(pushNode(harness, { developerSettings: oneEach }), input);
			const other = { personNameColumn: 'nickname', developerSettings: oneEach };
			const again = await retry(failed, pushNode(harness, other));
			expect(bodies.map(phonesOf)).toEqual([[phone(0)], [phone(1)], [phone(1)]]);
			expect(output(again, 'Node').map(({ pairedItem }) => pairedItem)).toEqual([
				[{ item: 0 }],
				[{ item: 2 }],
			]);
			expect(rejectedIn(again)).toEqual([
				[
					'duplicate',
					'Row 1 has the same phone number, and an earlier attempt of this execution sent it.',
				],
			]);
		});

		test('if the service rejected it with the form of the first attempt', async () => {
			const bodies = respondWith(
				[400, rejection('contacts[0].city is invalid')],
				ARCHIVED,
				ONE,
				ARCHIVED,
				ONE,
			);
			const first = { developerSettings: oneEach };
			const failed = await run(pushNode(harness, first), manyRows(2));
			const second = await retry(failed, pushNode(harness, { ...first, otherColumns: 'none' }));
			const third = await retry(second, pushNode(harness, first));
			expect(bodies.map(phonesOf)).toEqual([0, 1, 0, 1, 1].map((index) => [phone(index)]));
			expect(rejectedIn(third)).toEqual([]);
			expect(output(third, 'Node').map(({ pairedItem }) => pairedItem)).toEqual([
				[{ item: 0 }],
				[{ item: 1 }],
			]);
		});

		test('once, if two attempts pushed it with different numbers', async () => {
			respondWith(ONE, ARCHIVED, ONE, ARCHIVED);
			const input = rowsOf(
				{ phone: phone(0), mobile: phone(10), other: '' },
				{ phone: phone(1), mobile: phone(11), other: phone(21) },
			);
			const form = { developerSettings: oneEach };
			const failed = await run(pushNode(harness, form), input);
			const second = await retry(failed, pushNode(harness, { ...form, phoneColumn: 'mobile' }));
			const third = await retry(second, pushNode(harness, { ...form, phoneColumn: 'other' }));
			expect(errorOf(third)).toHaveProperty('messages', ['2 rows: 1 pushed, 1 unknown.']);
		});
	});

	test('with an invalid setting, reports which rows are in the campaign', async () => {
		respondWith(OK, ARCHIVED);
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

	test("with an invalid setting, doesn't say that Release to Calling Queue is off", async () => {
		const released: NodeParameters = { ...bySize, enqueue: true };
		respondWith([200, accepted(2, { enqueued: true, queued_calls: 2 })], ARCHIVED);
		const failed = await run(pushNode(harness, released), manyRows(4));
		const again = await retry(failed, pushNode(harness, { ...released, campaignId: 'Spring' }));
		expect(errorOf(again)).toHaveProperty('messages', ['4 rows: 2 pushed, 2 not sent.']);
	});

	test('with an invalid setting, One Item per Row has the numbers that earlier attempts sent', async () => {
		breaking('ECONNRESET', respondWith(OK));
		const perRow: NodeParameters = {
			options: { output: 'rows' },
			developerSettings: { contactsPerRequest: 2 },
		};
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
		respondWith(OK, ARCHIVED);
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
