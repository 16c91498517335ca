import fc from 'fast-check';
import Papa from 'papaparse';
import { FileRows } from '../../../../nodes/PushCampaignContacts/file/fileRows';
import {
	ItemRows,
	type RowSource,
	type YieldToEventLoop,
} from '../../../../nodes/PushCampaignContacts/push/rows';
import {
	accept,
	contactItems,
	json,
	push,
	reject,
	reset,
	columns,
	scripted,
	statuses,
	stored,
	type Script,
} from '../push/scripted';
import { prepareRows } from '../../../../nodes/PushCampaignContacts/push/prepareRows';
import { pushToCampaign } from '../../../../nodes/PushCampaignContacts/push/pushToCampaign';

const noYield = async () => {};

/** What a service may do with a request. */
const SCRIPTS: Record<string, Script> = {
	accepted: accept,
	'reset after it': () => reset,
	archived: () => reject('Campaign is archived', 409),
	'too large': (phones, request) =>
		phones.length > 2 ? json(413, { success: false, error: 'too large' }) : accept(phones, request),
	'first rejected': () => reject('contacts[0] is invalid'),
	'last rejected': (phones) => reject(`contacts[${phones.length}] is invalid`),
	skipped: (phones) =>
		json(200, { success: true, data: { campaign_upload_id: 1, dnd_skipped: phones.slice(0, 1) } }),
};

const row = fc.record({
	phone: fc.oneof(
		{ weight: 6, arbitrary: fc.integer({ min: 9_000_000_000, max: 9_000_000_012 }).map(String) },
		{ weight: 1, arbitrary: fc.constantFrom('', 'x', '12', '+91 9000000001', '91 12345') },
	),
	person_name: fc.constantFrom('', 'A', 'Asha', 'Asha, "Rao"', 'a\nb'),
	city: fc.constantFrom('', 'Pune', ' ', '"'),
});

/** Pushes the rows, and again after the first attempt was stored. Returns what was sent, and the result of each row. */
async function twoAttempts(source: () => Promise<RowSource>, scripts: string[], size: number) {
	const { options, sent } = scripted((phones, request) =>
		(SCRIPTS[scripts[request - 1] ?? 'accepted'] ?? accept)(phones, request),
	);
	const own = { ...columns, personName: { name: 'person_name' } };
	const settings = { ...options, contactsPerRequest: size };
	const record = {};
	const outcomes = [];
	for (const current of [record, undefined]) {
		const rows = await source();
		const { pushed, rejectedRows, stopped, received } = await push(
			rows,
			settings,
			current ?? stored(record),
			own,
		);
		outcomes.push({
			received,
			stopped: stopped?.message,
			pushed,
			unsent: Array.from(rejectedRows, ({ index, status, reason }) => [
				index,
				status,
				// Only items are in memory, so only they name the person.
				reason.replace(/^(Item \d+|Row \d+|[^]* \(row \d+\))/, ''),
			]),
		});
	}
	return { sent, outcomes };
}

test('pushes a file like the same rows as items, in each attempt', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(row, { maxLength: 14 }),
			fc.array(fc.constantFrom(...Object.keys(SCRIPTS)), { maxLength: 6 }),
			fc.integer({ min: 1, max: 5 }),
			async (rows, scripts, size) => {
				// A blank row of a file is ignored, so each row has an ID.
				const people = rows.map((one) => ({ ...one, id: 'x' }));
				const text = Papa.unparse([
					['phone', 'person_name', 'city', 'id'],
					...people.map(({ phone, person_name, city, id }) => [phone, person_name, city, id]),
				]);
				const items = people.map((one) => ({ json: one }));
				const source = { name: 'a.csv', open: async () => [Buffer.from(text)] };
				const writing = { delimiter: ',', encoding: '' };
				const ofItems = async () => new ItemRows(items, noYield);
				const ofFile = async () => await FileRows.open([source], writing, noYield);
				expect(await twoAttempts(ofFile, scripts, size)).toEqual(
					await twoAttempts(ofItems, scripts, size),
				);
			},
		),
		{ numRuns: 300 },
	);
});

test('yields every 2,000 rows when reading again', async () => {
	const people = contactItems(4_001);
	const text = Papa.unparse(people.map(({ json }) => json));
	const source = { name: 'a.csv', open: async () => [Buffer.from(text)] };
	for (const rowsWith of [
		async (yieldNow: YieldToEventLoop) => new ItemRows(people, yieldNow),
		async (yieldNow: YieldToEventLoop) =>
			await FileRows.open([source], { delimiter: ',', encoding: '' }, yieldNow),
	]) {
		let yields = 0;
		const rows = await rowsWith(async () => {
			yields++;
		});
		await rows.each(() => {});
		const places: number[] = [];
		yields = 0;
		await rows.pick([...people.keys()], () => places.push(yields));
		expect([0, 1_999, 2_000, 3_999, 4_000].map((place) => places[place])).toEqual([1, 1, 2, 2, 3]);
	}
});

test('stops the push if a number changed before it is sent', async () => {
	let content = 'phone\n9000000001\n9000000002\n9000000003\n';
	const source = { name: 'a.csv', open: async () => [Buffer.from(content)] };
	const rows = await FileRows.open([source], { delimiter: '', encoding: '' }, noYield);
	const { options, sent } = scripted(accept);
	const prepared = await prepareRows(rows, columns, options);
	content = content.replace('9000000002', '9000000009');
	const outcome = await pushToCampaign(rows, prepared, { ...options, contactsPerRequest: 1 });
	expect(sent).toEqual([['9000000001']]);
	expect(outcome.stopped?.message).toMatch(/^The file changed after its rows were checked/);
	expect(statuses(outcome)).toEqual(['1 not_sent', '2 not_sent']);
});
