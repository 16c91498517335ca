import fc from 'fast-check';
import { MAX_REJECTED_ROWS } from '../../../../nodes/PushCampaignContacts/push/chunkSender';
import { plainText } from '../../../../nodes/shared/values';
import { clientOf } from '../../shared/api/clientOf';
import type { ServiceRequest, HttpResponse } from '../../../../nodes/shared/api/http';
import { accept, contactsIn, json, phone, push, reject, scripted, statuses } from './scripted';

type Manner = { firstIndex: 0 | 1; bad: ReadonlySet<number>; namesAll?: boolean };

/** A service that rejects the bad numbers, and counts contacts from 0 or from 1. */
function strict({ firstIndex, bad, namesAll = false }: Manner) {
	const taken: string[] = [];
	const isBad = (number: string) => bad.has(Number(number) - 9_000_000_000);
	const script = (phones: string[], request: number): HttpResponse => {
		const named = phones.flatMap((number, place) =>
			isBad(number) ? [`contacts[${place + firstIndex}].phone is not in service`] : [],
		);
		if (named.length > 0) {
			return json(400, { success: false, errors: namesAll ? named : named.slice(0, 1) });
		}
		taken.push(...phones);
		return accept(phones, request);
	};
	return { taken, ...scripted(script) };
}

const rest = (count: number, bad: ReadonlySet<number>) =>
	Array.from({ length: count }, (_, index) => index)
		.filter((index) => !bad.has(index))
		.map(phone);

test('shortens a text about thousands of rows', async () => {
	const text = Array.from({ length: 50 }, (_, row) => `contacts[${row}] ${'x'.repeat(50)}`).join(
		'; ',
	);
	const { options } = scripted(() => json(400, { success: false, error: text }));
	const { rejectedRows } = await push(50, options);
	expect(rejectedRows.size).toBe(50);
	for (const { reason } of rejectedRows) {
		expect(reason).toBe(`The service rejected this row: ${text.slice(0, 1_000)}...`);
	}
});

describe.each([0, 1] as const)('a service that counts from %i', (firstIndex) => {
	test.each([
		['in the middle', 10],
		['first', 0],
		['second', 1],
		['last', 24],
		['last but one', 23],
	])('rejects the bad row of 25 and pushes the others: %s', async (_place, row) => {
		const bad = new Set([row]);
		const { taken, sent, options } = strict({ firstIndex, bad });
		const outcome = await push(25, options);
		expect(statuses(outcome)).toEqual([`${row} rejected`]);
		expect([...taken].sort()).toEqual(rest(25, bad));
		expect(outcome.stopped).toBeUndefined();
		expect(sent.length).toBeLessThanOrEqual(4);
	});

	test('sends only the named rows alone', async () => {
		const bad = new Set([3, 5_000, 10_005, 20_000]);
		const { sent, options } = strict({ firstIndex, bad });
		const outcome = await push(20_010, options);
		expect(statuses(outcome)).toEqual([...bad].map((row) => `${row} rejected`));
		expect(sent.filter((phones) => phones.length === 1).length).toBeLessThanOrEqual(2 * bad.size);
		expect(sent.length).toBeLessThanOrEqual(3 + 3 * bad.size);
	});

	test('rejects all bad rows, and pushes each good one once', async () => {
		const rows = fc.uniqueArray(fc.nat(39), { maxLength: 8 });
		await fc.assert(
			fc.asyncProperty(
				rows,
				fc.boolean(),
				fc.integer({ min: 1, max: 40 }),
				async (list, all, size) => {
					const bad = new Set(list);
					const { taken, sent, options } = strict({ firstIndex, bad, namesAll: all });
					const outcome = await push(40, { ...options, contactsPerRequest: size });
					expect(statuses(outcome)).toEqual(
						[...bad].sort((a, b) => a - b).map((row) => `${row} rejected`),
					);
					expect([...taken].sort()).toEqual(rest(40, bad));
					expect(outcome.stopped).toBeUndefined();
					expect(sent.length).toBeLessThanOrEqual(Math.ceil(40 / size) + 3 * bad.size);
				},
			),
		);
	});
});

describe('the row that is sent alone', () => {
	const service = (alone: HttpResponse) =>
		scripted((phones, request) => {
			if (phones.length === 1) return alone;
			return phones.length === 3 ? reject('contacts[1] is invalid') : accept(phones, request);
		});

	test('stops the push if it is rejected for another reason', async () => {
		const { sent, options } = service(reject('Campaign is archived', 409));
		const outcome = await push(3, options);
		expect(statuses(outcome)).toEqual(['0 not_sent', '1 not_sent', '2 not_sent']);
		expect(sent).toHaveLength(2);
	});

	test('is unknown without a response, and the others are not sent', async () => {
		const { options } = service(json(503, {}));
		const outcome = await push(3, options);
		expect(statuses(outcome)).toEqual(['0 unknown', '1 not_sent', '2 not_sent']);
		expect(outcome.stopped?.outcome).toBe('unknown');
	});

	test('is rejected if the rejection names nothing, and the others are sent', async () => {
		const { sent, options } = scripted((phones, request) => {
			if (phones.length === 3) return reject('contacts[1] is invalid');
			return phones.includes(phone(0)) ? reject('phone is invalid') : accept(phones, request);
		});
		const outcome = await push(3, options);
		expect(statuses(outcome)).toEqual(['0 rejected']);
		expect(sent).toEqual([[0, 1, 2].map(phone), [phone(0)], [phone(1)], [phone(2)]]);
	});
});

describe('a cell that contains contacts[<index>]', () => {
	type Contact = { phone: string; note?: string };
	type Words = (index: number, note: string) => string;

	/** A service that rejects some rows, and quotes their cells. */
	function repeating(bad: ReadonlySet<string>, firstIndex: 0 | 1, words: Words, all = false) {
		const taken: string[] = [];
		let requests = 0;
		const { options } = scripted(accept);
		const transport = async (request: ServiceRequest): Promise<HttpResponse> => {
			requests++;
			const contacts = contactsIn(request);
			const named = contacts.flatMap(({ phone: number, note }, place) =>
				bad.has(plainText(number)) ? [words(place + firstIndex, plainText(note))] : [],
			);
			const phones = contacts.map((contact) => plainText(contact.phone));
			if (named.length > 0) {
				return json(400, { success: false, errors: all ? named : named.slice(0, 1) });
			}
			taken.push(...phones);
			return accept(phones, requests);
		};
		const client = clientOf(transport);
		return { taken, requests: () => requests, options: { ...options, client } };
	}

	const rowsWith = (notes: readonly string[]) =>
		notes.map((note, index): { json: Contact } => ({ json: { phone: phone(index), note } }));
	const after: Words = (index, note) => `contacts[${index}].phone is invalid (note "${note}")`;
	const before: Words = (index, note) => `"${note}": invalid contact, see contacts[${index}]`;
	const cut: Words = (index, note) => `contacts[${index}] is invalid: ${note.slice(0, 20)}…`;
	const loud: Words = (index, note) => `contacts[${index}] (${note.toUpperCase()})`;

	const EVERY_INDEX = Array.from({ length: 30 }, (_, index) => `contacts[${index}]`).join(' ');

	describe.each([0, 1] as const)('a service that counts from %i', (firstIndex) => {
		test.each<[string, Words, string]>([
			['after the name', after, 'contacts[0]'],
			['before the name', before, 'contacts[0]'],
			['cut short', cut, 'contacts[0] and contacts[1]'],
			['in capitals', loud, 'contacts[0]'],
			['after the name, with every index', after, EVERY_INDEX],
			['before the name, with every index', before, EVERY_INDEX],
			['cut short, with every index', cut, EVERY_INDEX],
			['in capitals, with every index', loud, EVERY_INDEX],
		])('quotes the cell %s: only the bad row is rejected', async (_how, words, note) => {
			const { taken, options } = repeating(new Set([phone(3)]), firstIndex, words);
			const outcome = await push(rowsWith(['', '', '', note, '', '']), options);
			expect(statuses(outcome)).toEqual(['3 rejected']);
			expect(outcome.stopped).toBeUndefined();
			expect([...taken].sort()).toEqual([0, 1, 2, 4, 5].map(phone));
		});

		test('names a row whose index is in another row', async () => {
			const { taken, options, requests } = repeating(new Set([phone(3)]), firstIndex, after);
			const outcome = await push(rowsWith(['contacts[3]', '', 'contacts[4]', '']), options);
			expect(statuses(outcome)).toEqual(['3 rejected']);
			expect([...taken].sort()).toEqual([0, 1, 2].map(phone));
			expect(requests()).toBeLessThanOrEqual(6);
		});

		test('rejects bad rows, and pushes each good one once, with any cells', async () => {
			const index = fc.nat(8);
			const note = fc.oneof(
				{ weight: 2, arbitrary: fc.constant('') },
				fc
					.array(index, { minLength: 1, maxLength: 3 })
					.map((all) => all.map((one) => `contacts[${one}]`).join(' or ')),
				index.map((one) => `see Contacts [ ${one} ]!`),
			);
			const notes = fc.array(note, { minLength: 1, maxLength: 8 });
			const manners = fc.constantFrom(after, before, cut, loud);
			const badRows = fc.uniqueArray(fc.nat(7), { maxLength: 3 });
			await fc.assert(
				fc.asyncProperty(notes, badRows, manners, fc.boolean(), async (cells, list, words, all) => {
					const bad = new Set(list.filter((row) => row < cells.length));
					const numbers = new Set([...bad].map(phone));
					const { taken, options, requests } = repeating(numbers, firstIndex, words, all);
					const outcome = await push(rowsWith(cells), options);
					const good = [...cells.keys()].filter((row) => !bad.has(row));
					expect(statuses(outcome)).toEqual(
						[...bad].sort((one, other) => one - other).map((row) => `${row} rejected`),
					);
					expect([...taken].sort()).toEqual(good.map(phone));
					expect(outcome.stopped).toBeUndefined();
					expect(requests()).toBeLessThanOrEqual(3 * cells.length + 2);
				}),
				{ numRuns: 400 },
			);
		});
	});

	test('is not confused with a field path', async () => {
		const { sent, options } = scripted((phones, request) =>
			phones.includes(phone(0))
				? reject('contacts[0].contacts[2] is not a text')
				: accept(phones, request),
		);
		expect(statuses(await push(3, options))).toEqual(['0 rejected']);
		expect(sent.at(-1)).toEqual([phone(1), phone(2)]);
	});

	test('with an impossible index is ignored', async () => {
		const names = Array.from({ length: 200_000 }, (_, index) => `contacts[${index + 10_001}]`);
		const { sent, options } = scripted(() => reject(names.join(' ')));
		const outcome = await push(3, options);
		expect(statuses(outcome)).toEqual(['0 not_sent', '1 not_sent', '2 not_sent']);
		expect(sent).toHaveLength(1);
	});

	test('needs a limited number of requests', async () => {
		const count = 2 * MAX_REJECTED_ROWS + 1;
		const notes = Array.from({ length: count }, (_, index) => `contacts[${index}]`);
		const { sent, options } = scripted(() => reject(notes.join(' ')));
		const outcome = await push(rowsWith(notes), options);
		expect(sent).toHaveLength(1);
		expect(outcome.stopped).toMatchObject({ outcome: 'rejected' });
		expect(outcome.rejectedRows.count('not_sent')).toBe(count);
	});
});
