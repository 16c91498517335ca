import fc from 'fast-check';
import { KeysByRow, PhonesByRow } from '../../../../nodes/PushCampaignContacts/push/phonesByRow';
import { RowsByPhone } from '../../../../nodes/PushCampaignContacts/push/rowsByPhone';
import { RowSet } from '../../../../nodes/PushCampaignContacts/push/rowSet';

/** Phone numbers, and other texts. */
const text = fc.oneof(
	fc.integer({ min: 6_000_000_000, max: 9_999_999_999 }).map(String),
	fc.integer({ min: 6_000_000_000, max: 6_000_000_040 }).map((number) => `+91${number}`),
	fc.stringMatching(/^[+-]?\d{0,18}$/),
	fc.stringMatching(/^\+?91[016]\d{9}$/),
	fc.constantFrom('0', '-0', '+0', '+', 'NaN', 'Infinity', '1e5', '0x1', '012', '+012', ' 1', '1 '),
	fc.string(),
);
const row = fc.oneof(fc.nat(50), fc.nat(200_000));

test('stores phones and keys by row like an array', () => {
	fc.assert(
		fc.property(fc.array(fc.tuple(row, text, fc.option(text))), (settings) => {
			const phones = new PhonesByRow();
			const keys = new KeysByRow(phones);
			const plain = new Map<number, [phone: string, key: string]>();
			for (const [at, phone, other] of settings) {
				const key = other ?? phone.replace(/^\+91/, '');
				phones.set(at, phone);
				keys.set(at, key);
				plain.set(at, [phone, key]);
			}
			for (const [at, [phone, key]] of plain) {
				expect([phones.at(at), keys.at(at)]).toEqual([phone, key]);
				expect(phones.isSet(at)).toBe(phone !== '');
				for (const [, another] of settings) expect(phones.has(at, another)).toBe(phone === another);
			}
			expect([phones.at(300_000), keys.at(300_000)]).toEqual(['', '']);
			expect(phones.isSet(300_000)).toBe(false);
		}),
		{ numRuns: 300 },
	);
});

test('phones have the same fingerprint only with the same keys in the same order', async () => {
	const cases = fc.array(fc.array(text, { maxLength: 4 }), { minLength: 2, maxLength: 2 });
	await fc.assert(
		fc.asyncProperty(cases, async (lists) => {
			const fingerprints = lists.map(async (list) => {
				const keys = new KeysByRow(new PhonesByRow());
				for (const [at, key] of list.entries()) keys.set(at, key);
				return await keys.fingerprintOf(RowSet.of(list.keys()), async () => {});
			});
			const [one, other] = await Promise.all(fingerprints);
			expect(one === other).toBe(JSON.stringify(lists[0]) === JSON.stringify(lists[1]));
		}),
		{ numRuns: 500 },
	);
});

test('finds the row of each phone like a Map', () => {
	fc.assert(
		fc.property(fc.array(text), fc.array(text), (list, others) => {
			const phones = new PhonesByRow();
			const rows = new RowsByPhone(phones);
			const plain = new Map<string, number>();
			for (const [at, phone] of list.entries()) {
				if (phone === '') continue;
				phones.set(at, phone);
				rows.set(phone, at);
				plain.set(phone, at);
			}
			for (const phone of [...list, ...others]) expect(rows.get(phone)).toBe(plain.get(phone));
			expect(rows.size).toBe(plain.size);
		}),
		{ numRuns: 300 },
	);
});

test.each([1, 7, 1_024, 1_000_000])(
	'finds fifty thousand numbers with a distance of %d',
	(step) => {
		const phones = new PhonesByRow();
		const rows = new RowsByPhone(phones);
		const numbers = Array.from({ length: 50_000 }, (_, index) =>
			String(6_000_000_000 + step * index),
		);
		for (const [index, number] of numbers.entries()) {
			phones.set(index, number);
			rows.set(number, index);
		}
		expect(numbers.filter((number, index) => rows.get(number) !== index)).toEqual([]);
		expect(rows.size).toBe(numbers.length);
		expect(rows.get('5999999999')).toBeUndefined();
	},
);
