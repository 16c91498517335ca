/** *Consent*: which rows are pushed, what is said about the others, and that no model can change that. */
import type { IDataObject } from 'n8n-workflow';
import { clock } from '../../../nodes/host/clock';
import { engineTool } from '../../engine';
import {
	campaign,
	goOn,
	jsonOf,
	type NodeParameters,
	phone,
	push,
	pushHarness,
	pushNode,
	rowsOf,
	runPush,
	scripted,
} from './pushHarness';

pushHarness();
beforeEach(() => {
	// In India, the 20th has begun.
	jest.spyOn(clock, 'now').mockReturnValue(Date.parse('2026-11-19T20:00:00Z'));
});

const rule = (over: IDataObject = {}) => ({ rule: { column: 'agreed_on', maxDays: 30, ...over } });
const withConsent = (over: IDataObject = {}, more: IDataObject = {}): NodeParameters => ({
	options: { consent: rule(over), ...more },
});
const agreed = (index: number, agreed_on: string) => ({ phone: phone(index), agreed_on });
const rows = rowsOf(
	agreed(0, '2026-11-20'),
	agreed(1, ''),
	agreed(2, '2026-10-19'),
	agreed(3, '03/04/2026'),
	agreed(4, '2026-10-21'),
);

const inIndia = async (parameters: NodeParameters) =>
	await runPush(rows, parameters, goOn, { timezone: 'Asia/Kolkata' });

test('pushes rows with a recent date, and rejects the others with what was found', async () => {
	const sent = scripted();
	const { rejected } = await inIndia(withConsent());
	expect(sent).toEqual([[phone(0), phone(4)]]);
	expect(jsonOf(rejected).map((row) => [row.rejection_status, row.rejection_reason])).toEqual([
		['rejected', 'no_consent: Column "agreed_on" has no date.'],
		[
			'rejected',
			'no_consent: Column "agreed_on" has "2026-10-19", which is more than 30 days before 2026-11-20.',
		],
		[
			'rejected',
			'no_consent: Column "agreed_on" has "03/04/2026", which isn\'t a date such as 2026-11-25.',
		],
	]);
});

test('reads the number of a spreadsheet also from pasted rows and CSV files', async () => {
	const sent = scripted();
	// 2026-11-19, and a day that's too long ago.
	const pastedRows = `phone,agreed_on\n${phone(0)},46345\n${phone(1)},46300\n`;
	const parameters = { ...withConsent(), contactsFrom: 'pasted', pastedRows, personNameColumn: '' };
	const { statuses } = await push(1, parameters);
	expect([sent, statuses]).toEqual([[[phone(0)]], ['0 rejected']]);
});

test('Check Only says how many are rejected, and how many of them without consent', async () => {
	campaign();
	const list = [...rows, ...rowsOf({ phone: 'none', agreed_on: '2026-11-20' })];
	const inIndia = { timezone: 'Asia/Kolkata' };
	const { hints } = await runPush(list, { ...withConsent(), whatToDo: 'check' }, goOn, inIndia);
	expect(hints[0]).toContain('6 rows: 2 ready, 4 rejected.');
	expect(hints).toContain("3 of the rejected rows have no consent. 'Rejected' shows why.");
});

test('of two rows with the same number, pushes the one with a consent', async () => {
	const sent = scripted();
	const same = rowsOf(
		{ ...agreed(0, ''), person_name: 'Asha Devi Rao' },
		{ ...agreed(0, '2026-11-19'), person_name: 'Asha' },
	);
	const { statuses } = await push(same, withConsent());
	expect([sent.length, statuses]).toEqual([1, ['0 rejected']]);
});

test('finds the column in any spelling, and stops without it', async () => {
	const sent = scripted();
	await push(rowsOf({ phone: phone(0), 'Agreed On': '2026-11-19' }), withConsent());
	expect(sent).toHaveLength(1);
	const { rejected } = await push(rowsOf({ phone: phone(1), agreed: '2026-11-19' }), withConsent());
	expect(sent).toHaveLength(1);
	expect(jsonOf(rejected)).toMatchObject([
		{
			rejection_status: 'not_sent',
			rejection_reason: expect.stringContaining('no column "agreed_on"'),
		},
	]);
});

describe('as a tool', () => {
	const ofRows = () => pushNode({ ...withConsent(), contactsFrom: 'items' });

	test('pushes the row of the agent if it has a consent', async () => {
		const sent = scripted();
		await engineTool(ofRows(), { row: agreed(0, '2026-11-19') })();
		expect(sent).toHaveLength(1);
	});

	test('a consent that the model gives is none', async () => {
		const sent = scripted();
		const tool = engineTool(ofRows(), { row: agreed(0, '') });
		expect(await tool({ agreed_on: '2026-11-19' })).toMatchObject({
			outcome: 'not_sent',
			next_step: expect.stringContaining('Column "agreed_on" has no date.'),
		});
		expect(sent).toEqual([]);
	});

	test('contacts that the model writes are not pushed', async () => {
		const sent = scripted();
		const contacts = "={{ $fromAI('contacts', '', 'json') }}";
		const tool = engineTool(pushNode({ ...withConsent(), contactsFrom: 'json', contacts }));
		expect(await tool({ contacts: [agreed(0, '2026-11-19')] })).toMatchObject({
			outcome: 'not_sent',
			what_happened: expect.stringContaining("a model can't give the contacts"),
		});
		expect(sent).toEqual([]);
	});
});
