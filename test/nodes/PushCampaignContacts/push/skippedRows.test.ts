import { readAccepted } from '../../../../nodes/PushCampaignContacts/push/response';
import type { JsonObject, JsonValue } from '../../../../nodes/shared/json';
import { countRows, hintsFor } from '../../../../nodes/PushCampaignContacts/push/report';
import { json, phone, push, scripted, statuses } from './scripted';

const rows = [4, 5, 6, 7];
const keys = Array.from({ length: 8 }, (_, index) => `91${phone(index)}`);
const skipped = (answer: JsonObject) => {
	const found = readAccepted(rows, answer, keys);
	return {
		rows: found.skipped.map(({ index, status }) => `${index} ${status}`),
		unmatched: found.request.unmatched,
	};
};

describe('dnd_skipped: finds the number anywhere in an entry', () => {
	const sixth = phone(6);
	test.each<[string, JsonValue]>([
		['in a field', { phone: `+91${sixth}`, reason: 'dnd' }],
		['under any name', { number: sixth, index: 4 }],
		['as a number', { msisdn: Number(`91${sixth}`) }],
		['written with spaces', { phone: `+91 ${sixth.slice(0, 5)} ${sixth.slice(5)}` }],
		['deeper', { contact: { details: { phone: `+91${sixth}` } }, entry: { id: 12 } }],
		[
			'beside an agent and a date',
			{ agent_uuid: 'agent_1', at: '2026-11-20T10:00:00+05:30', p: sixth },
		],
		['as a name', { [`+91${sixth}`]: { reason: 'opt-out' } }],
		['in a sentence', { message: `Skipped +91${sixth}: on the list` }],
		['in a sentence, without a plus', { message: `Skipped 91${sixth}: on the list` }],
		['as the entry itself', `+91${sixth}`],
		['twice, each in an object of its own', { was: { p: sixth }, is: { p: `+91${sixth}` } }],
		['twice in one entry', { phone: sixth, phone_e164: `+91${sixth}` }],
		['five levels down', { a: { b: { c: { d: { e: { phone: sixth } } } } } }],
		['behind many other values', { list: [...Array.from({ length: 150 }, (_, i) => i), sixth] }],
		['in one list of one', { reason: 'dnd', phones: [`+91${sixth}`] }],
	])('%s', (_name, entry) => {
		expect(skipped({ dnd_skipped: [entry] })).toEqual({
			rows: ['6 do_not_disturb'],
			unmatched: [],
		});
	});

	test('each number of a list is skipped', () => {
		const entry = { reason: 'dnd', phones: [phone(4), phone(7)] };
		expect(skipped({ dnd_skipped: [entry] }).rows).toEqual([
			'4 do_not_disturb',
			'7 do_not_disturb',
		]);
	});

	test.each<[string, JsonValue]>([
		['of another request', { phone: `+91${phone(3)}` }],
		['that is masked', { phone: '+9190000XXXX6' }],
		['that is not there', { index: 6 }],
		['of two rows, without a clear one', { phone: phone(4), kept: phone(5) }],
		['of two rows, each in an object of its own', { a: { p: phone(4) }, b: { p: phone(5) } }],
		['below any sensible depth', { a: { b: { c: { d: { e: { f: { g: phone(6) } } } } } } }],
		['of two rows, in a sentence', { message: `Skipped ${phone(4)}, kept ${phone(5)}` }],
		['null', null],
	])('returns a number %s as unmatched', (_name, entry) => {
		expect(skipped({ dnd_skipped: [entry] })).toEqual({ rows: [], unmatched: [entry] });
	});

	test('skips the rows of a number once', () => {
		const twice = [4, 5, 4].map((index) => `91${phone(index)}`);
		const answer = { dnd_skipped: [phone(4), phone(4)], engine_skipped_duplicates: [phone(4)] };
		expect(readAccepted([0, 1, 2], answer, twice)).toMatchObject({
			skipped: [
				{ index: 0, status: 'do_not_disturb' },
				{ index: 2, status: 'do_not_disturb' },
			],
			request: { unmatched: [] },
		});
	});
});

describe('engine_skipped_duplicates', () => {
	test.each([`+91${phone(5)}`, phone(5), `91${phone(5)}`, `0${phone(5)}`])(
		'%p matches the row in any format',
		(number) => {
			expect(skipped({ engine_skipped_duplicates: [number] })).toEqual({
				rows: ['5 skipped_duplicate'],
				unmatched: [],
			});
		},
	);

	test('a number on both lists is on the do-not-disturb list', () => {
		const answer = { engine_skipped_duplicates: [phone(5)], dnd_skipped: [{ phone: phone(5) }] };
		expect(skipped(answer).rows).toEqual(['5 do_not_disturb']);
	});

	test('ignores malformed lists', () => {
		expect(skipped({ engine_skipped_duplicates: null, dnd_skipped: {} })).toEqual({
			rows: [],
			unmatched: [],
		});
	});
});

test('moves skipped rows to Rejected with a reason, and the totals add up', async () => {
	const { options } = scripted(() =>
		json(200, {
			success: true,
			data: {
				campaign_upload_id: 501,
				dnd_skipped: [{ phone: `+91${phone(1)}`, since: '2026-01-05' }, { phone: 'hidden' }],
				engine_skipped_duplicates: [phone(3)],
			},
		}),
	);
	const outcome = await push(5, options);
	expect(outcome.pushed.map((request) => [...request.rows])).toEqual([[0, 2, 4]]);
	expect(statuses(outcome)).toEqual(['1 do_not_disturb', '3 skipped_duplicate']);
	expect(Array.from(outcome.notPushed, ({ reason }) => reason)).toEqual([
		`The service skipped this row, because its number is on the do-not-disturb list of the agent. The service returned phone: +91${phone(1)}, since: 2026-01-05.`,
		'The service skipped this row as a duplicate (engine_skipped_duplicates).',
	]);
	expect(countRows(outcome)).toMatchObject({ received: 5, pushed: 3, skipped_unmatched: 1 });
	expect(hintsFor(outcome)).toEqual([
		expect.stringMatching(/^5 rows: 3 pushed/),
		'The service skipped 1 more contact that doesn\'t match any row: {"phone":"hidden"}. The rows of skipped contacts count as pushed.',
	]);
});
