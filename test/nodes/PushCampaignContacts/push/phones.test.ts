import fc from 'fast-check';
import { PhonesByRow, RowsByPhone } from '../../../../nodes/PushCampaignContacts/push/phones';
import { RowSet } from '../../../../nodes/PushCampaignContacts/push/rowSet';
import type { AcceptedPhone } from '../../../../nodes/shared/phone/campaignPhone';
import { MANY_RUNS } from '../../../fuzz/runs';

const accepted = fc
	.tuple(
		fc.oneof(
			fc.integer({ min: 0, max: 9_999_999_999 }),
			fc.integer({ min: 6_000_000_000, max: 6_000_000_040 }),
		),
		fc.boolean(),
	)
	.map(([number, international]): AcceptedPhone => {
		const digits = String(number).padStart(10, '0');
		return { phone: international ? `+91${digits}` : digits, phoneKey: `91${digits}` };
	});
const row = fc.oneof(fc.nat(50), fc.nat(200_000));

test('stores phones and keys by row like an array', () => {
	fc.assert(
		fc.property(fc.array(fc.tuple(row, accepted)), (settings) => {
			const phones = new PhonesByRow();
			const plain = new Map<number, AcceptedPhone>();
			for (const [at, phone] of settings) {
				phones.set(at, phone);
				plain.set(at, phone);
			}
			for (const [at, { phone, phoneKey }] of plain) {
				expect([phones.at(at), phones.keyAt(at)]).toEqual([phone, phoneKey]);
				for (const [, another] of settings) {
					expect(phones.has(at, another)).toBe(phone === another.phone);
				}
			}
			expect([phones.at(300_000), phones.keyAt(300_000)]).toEqual(['', '']);
			expect(phones.has(300_000, { phone: '0000000000', phoneKey: '910000000000' })).toBe(false);
		}),
		{ numRuns: MANY_RUNS },
	);
});

test('phones have the same fingerprint only with the same keys in the same order', async () => {
	const cases = fc.array(fc.array(accepted, { maxLength: 4 }), { minLength: 2, maxLength: 2 });
	await fc.assert(
		fc.asyncProperty(cases, async (lists) => {
			const fingerprints = lists.map(async (list) => {
				const phones = new PhonesByRow();
				for (const [at, phone] of list.entries()) phones.set(at, phone);
				return await phones.fingerprintOf(RowSet.of(list.keys()));
			});
			const [one, other] = await Promise.all(fingerprints);
			const [keys, otherKeys] = lists.map((list) => list.map(({ phoneKey }) => phoneKey).join());
			expect(one === other).toBe(keys === otherKeys);
		}),
		{ numRuns: MANY_RUNS },
	);
});

test('finds the latest row of each of many phones, and no other', () => {
	const phones = new PhonesByRow();
	const rows = new RowsByPhone(phones, 0);
	// Some of them have the same hash.
	const count = 60_000;
	const keyOf = (number: number) => String(916_000_000_000 + number);
	const add = (row: number, number: number) => {
		phones.set(row, { phone: keyOf(number).slice(2), phoneKey: keyOf(number) });
		rows.add(row);
	};
	for (let number = 0; number < count; number++) add(number, number);
	for (let number = 0; number < count; number += 2) {
		add(count + number, number);
		phones.clear(number);
	}
	const wrong = Array.from({ length: 2 * count }, (_, number) => {
		const latest = number % 2 === 0 ? count + number : number;
		return rows.get(keyOf(number)) === (number < count ? latest : undefined) ? [] : number;
	}).flat();
	expect(wrong).toEqual([]);
});
