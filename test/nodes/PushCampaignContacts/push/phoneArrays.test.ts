import fc from 'fast-check';
import { PhonesByRow, RowsByPhone } from '../../../../nodes/PushCampaignContacts/push/phoneArrays';

/** Phone numbers, and whatever else may stand in their place when they are sent as written. */
const text = fc.oneof(
	fc.integer({ min: 6_000_000_000, max: 9_999_999_999 }).map(String),
	fc.integer({ min: 6_000_000_000, max: 6_000_000_040 }).map((number) => `+91${number}`),
	fc.stringMatching(/^[+-]?\d{0,18}$/),
	fc.constantFrom('0', '-0', '+0', '+', 'NaN', 'Infinity', '1e5', '0x1', '012', '+012', ' 1', '1 '),
	fc.string(),
);
const row = fc.oneof(fc.nat(50), fc.nat(100_000));

test('stores texts by row like an array', () => {
	fc.assert(
		fc.property(fc.array(fc.tuple(row, text)), (settings) => {
			const texts = new PhonesByRow();
			const plain = new Map<number, string>();
			for (const [at, value] of settings) {
				texts.set(at, value);
				plain.set(at, value);
			}
			for (const [at] of settings) {
				expect(texts.at(at)).toBe(plain.get(at));
				expect(texts.isSet(at)).toBe(plain.get(at) !== '');
				for (const [, other] of settings) {
					expect(texts.has(at, other)).toBe(plain.get(at) === other);
				}
			}
			expect(texts.at(200_000)).toBe('');
			expect(texts.isSet(200_000)).toBe(false);
		}),
		{ numRuns: 300 },
	);
});

test('finds rows like a Map', () => {
	fc.assert(
		fc.property(fc.array(fc.tuple(text, row, fc.boolean())), fc.array(text), (settings, others) => {
			const rows = new RowsByPhone();
			const plain = new Map<string, number>();
			for (const [value, at, isFirst] of settings) {
				if (value === '') continue;
				const earlier = plain.get(value);
				if (!isFirst) rows.set(value, at);
				else expect(rows.first(value, at)).toBe(earlier ?? at);
				if (!isFirst || earlier === undefined) plain.set(value, at);
			}
			for (const value of [...settings.map(([first]) => first), ...others]) {
				expect(rows.get(value)).toBe(plain.get(value));
			}
			expect(rows.size).toBe(plain.size);
		}),
		{ numRuns: 300 },
	);
});

test.each([1, 7, 1_024, 1_000_000])(
	'finds fifty thousand numbers with a distance of %d',
	(step) => {
		const rows = new RowsByPhone();
		const numbers = Array.from({ length: 50_000 }, (_, index) =>
			String(6_000_000_000 + step * index),
		);
		for (const [index, number] of numbers.entries()) rows.set(number, index);
		expect(numbers.filter((number, index) => rows.get(number) !== index)).toEqual([]);
		expect(rows.size).toBe(numbers.length);
		expect(rows.get('5999999999')).toBeUndefined();
	},
);
