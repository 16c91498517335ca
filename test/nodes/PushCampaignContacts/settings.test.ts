/** What stops a push before anything is sent: a setting that is invalid or differs between rows, and an input without rows. */
import type { INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { engineHarness, output, service, skipSleeps } from '../../engine';
import {
	accepted,
	goOn,
	jsonOf,
	manyRows,
	ok,
	phone,
	phonesOf,
	respondWith,
	rowsOf,
	runPush,
	type NodeParameters,
} from './pushHarness';

engineHarness();
const rows = rowsOf(
	{ phone: '9876543210', person_name: 'Asha' },
	{ phone: '9123456789', person_name: 'Ravi' },
);
const byRow = { options: { output: 'rows' } };
const NO_CAMPAIGN = { campaignId: 'Spring' };
const CAMPAIGN = '/v1/campaigns/42/status';
const toErrors = { onError: 'continueErrorOutput' } as const;
afterEach(() => jest.restoreAllMocks());

describe('invalid settings: nothing is sent', () => {
	test.each<[NodeParameters, message: RegExp, advice: RegExp]>([
		[NO_CAMPAIGN, /must be a whole number \(got "Spring"\)/, /42/],
		[{ phoneColumn: '={{ "" }}' }, /^'Phone Column' is empty/, /Enter the name/],
		...[0, 10_001].map((contactsPerRequest): [NodeParameters, RegExp, RegExp] => [
			{ options: { contactsPerRequest } },
			/^'Contacts per Request' must be a whole number from 1 to 10,000/,
			/^Enter a whole number from 1 to 10,000\.$/,
		]),
	])('%j', async (parameters, message, advice) => {
		const { error } = await runPush(rows, parameters);
		expect(error).toMatchObject({
			name: 'NodeOperationError',
			message: expect.stringMatching(message),
			description: expect.stringMatching(advice),
			context: { itemIndex: undefined },
		});
	});

	const errorOf = (item: number) => ({
		error: expect.stringMatching(/must be a whole number \(got "Spring"\)$/),
		message: expect.stringMatching(/^Enter the ID of a campaign/),
		details: { item, outcome: 'not_sent' },
	});

	test("with Continue, Rejected has each item with the reason, and doesn't replace its other columns", async () => {
		const own = { message: 'Please call', error: 'none', details: 'of the lead' };
		const leads = rows.map(({ json }) => ({ json: { ...json, ...own } }));
		const { error, pushed, rejected } = await runPush(leads, NO_CAMPAIGN, goOn);
		expect([error, pushed]).toEqual([undefined, []]);
		expect(rejected).toEqual(
			leads.map(({ json }, item) => ({
				json: {
					...json,
					push_status: 'not_sent',
					rejection_reason: expect.stringMatching(/must be .* \(got "Spring"\)\. Enter the ID/),
				},
				pairedItem: { item },
			})),
		);
	});

	test('with the error output, it has each item with its error', async () => {
		const { pushed, rejected, run } = await runPush(rows, NO_CAMPAIGN, toErrors);
		expect([pushed, rejected]).toEqual([[], []]);
		expect(jsonOf(output(run, 'Node', 3))).toEqual(
			rows.map(({ json }, item) => ({ ...json, ...errorOf(item) })),
		);
	});

	test('with the error output, Retry On Fail runs the node again', async () => {
		const active = { success: true, data: { campaign: { id: 42, status: 'Active' } } };
		service().get(CAMPAIGN).reply(404).get(CAMPAIGN).reply(200, active);
		service().get('/v1/active_agents').reply(404);
		const over = { ...toErrors, retryOnFail: true, waitBetweenTries: 1 };
		const { pushed, run } = await runPush(rows, { whatToDo: 'check' }, over);
		expect([pushed.length, output(run, 'Node', 3)]).toEqual([1, []]);
	});

	test('if the campaign cannot be read, nothing was sent', async () => {
		service().get(CAMPAIGN).times(4).reply(503);
		skipSleeps();
		const { rejected } = await runPush(rows.slice(1), { whatToDo: 'check' }, goOn);
		expect(jsonOf(rejected)).toMatchObject([
			{ push_status: 'not_sent', rejection_reason: expect.stringMatching(/503/) },
		]);
	});
});

/** A push reads each field once. Otherwise, a field would silently have the value of the first row. */
describe('a setting that differs between rows', () => {
	const differing = rowsOf(
		{ phone: phone(0), text: 'phone', json: { a: 1 } },
		{ phone: phone(1), text: 'phone', json: { a: 1 } },
		{ phone: phone(2), text: 'id', json: { a: 2 } },
	);
	test.each<[string, NodeParameters, row?: number]>([
		['Campaign', { campaignId: '=4{{ $itemIndex }}' }, 2],
		['Phone Column', { phoneColumn: '={{ $json.text }}' }],
		['Options', { options: { additionalBodyFields: '={{ JSON.stringify($json.json) }}' } }],
	])('%s: nothing is sent', async (label, parameters, row = 3) => {
		const { error } = await runPush(differing, parameters);
		expect(error).toMatchObject({
			message: `'${label}' differs between rows (row 1 and row ${row}), so nothing was sent`,
			description: expect.stringMatching(
				`^A push has one value of '${label}' for all rows\\. Enter`,
			),
		});
	});

	test('is used if its value is the same for all', async () => {
		const bodies = respondWith(ok(2));
		const input = manyRows(2).map(({ json }) => ({ json: { ...json, sheet: 'leads' } }));
		const options = { additionalBodyFields: '={ "source": "{{ $json.sheet }}" }' };
		expect((await runPush(input, { options })).error).toBeUndefined();
		expect(bodies).toMatchObject([{ source: 'leads' }]);
	});
});

describe('an input without rows that can be pushed', () => {
	test('is no error if it is empty, and a hint says so', async () => {
		const pushed = await runPush(rowsOf({}), byRow);
		expect(pushed).toMatchObject({ pushed: [], rejected: [], error: undefined });
		expect(pushed.hints).toEqual(['No rows to push. Nothing was sent.']);
	});

	test('is an error if it has files', async () => {
		const file = { data: '', mimeType: 'text/csv', fileName: 'leads.csv' };
		const { error } = await runPush([{ json: {}, binary: { data: file } }]);
		expect(error).toMatchObject({
			message: 'The input has files, but no rows, so nothing was sent',
			description: expect.stringMatching(/CSV File.*Extract from File/),
		});
	});

	test('is in Rejected, also a row with a column named error', async () => {
		const input = rowsOf({ phone: '123', error: 'bounced' }, { phone: '' });
		const { pushed, rejected, error, hints } = await runPush(input, byRow, toErrors);
		expect([error, pushed]).toEqual([undefined, []]);
		expect(jsonOf(rejected)).toMatchObject([{ phone: '123', error: 'bounced' }, { phone: '' }]);
		expect(hints).toEqual(['2 rows: 0 pushed, 2 rejected.']);
	});

	test('does not stop the others: an item without JSON is rejected', async () => {
		const bodies = respondWith([200, accepted(1)]);
		const file = z.custom<INodeExecutionData>().parse({ binary: {} });
		const { rejected } = await runPush([...rowsOf({ phone: '9876543210' }), file]);
		expect(jsonOf(rejected)).toMatchObject([
			{ push_status: 'rejected', rejection_reason: 'The phone column of this row is empty.' },
		]);
		expect(bodies.map(phonesOf)).toEqual([['9876543210']]);
	});
});
