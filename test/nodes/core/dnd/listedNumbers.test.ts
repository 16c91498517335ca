import fc from 'fast-check';
import { ListedNumbers } from '../../../../nodes/core/dnd/listedNumbers';
import { InvalidInput } from '../../../../nodes/core/service/errors';

const CORRECT_ENTRY = {
	resolution: 'Treat the number as listed, and correct this entry of the list.',
};

const listOf = (...phones: unknown[]) =>
	new ListedNumbers(phones.map((phone, id) => ({ id, phone: String(phone) })));

test.each([
	['+919812345678', '9812345678'],
	['+919812345678', '09812345678'],
	['9812345678', '+919812345678'],
	['+12025550143', '2025550143'],
	['2025550143', '+12025550143'],
	['+442079460958', '00442079460958'],
	['٠٠٤٤٢٠٧٩٤٦٠٩٥٨', '+442079460958'],
	['+442079460958', '02079460958'],
	// The zero of "+44 (0) 20 …" is only dialed at home.
	['+4402079460958', '+442079460958'],
	['44 (0) 20 7946 0958', '+442079460958'],
	// Dialed from the United States and Australia.
	['+442079460958', '011442079460958'],
	// Fewer than ten digits at home.
	['+6561234567', '61234567'],
	['61234567', '+6561234567'],
	['+49301234', '030 1234'],
	// Dialed within Russia, Lithuania, Belarus, and Hungary.
	['+79123456789', '89123456789'],
	['861234567', '+37061234567'],
	['06 20 123 4567', '+36201234567'],
	// With and without the prefixes of mobile numbers.
	['+52 1 55 1234 5678', '044 55 1234 5678'],
	['+54 11 2345-6789', '011 2345-6789'],
	// No number is shorter.
	['+49301234', '1234'],
	['1234', '+49301234'],
	// Perhaps of another country.
	['+12025550143', '+442025550143'],
])('%s on the list is found by %s', (listed, phone) => {
	expect(listOf('+911909', listed).entryOf(phone)).toEqual({ id: 1, phone: listed });
});

test.each([
	['+919812345678', '9812345679'],
	['+12025550143', '2025550144'],
	// Three digits are too few for a number.
	['234', '+49301234'],
])('with %s on the list, %s is not listed', (listed, phone) => {
	expect(listOf(listed).entryOf(phone)).toBeUndefined();
});

test.each(['9876543210/9876543211', '+91 98765 43210 ext. 12', '+91XXXXXX3210', 'n/a', ''])(
	"with %s on the list, which isn't a single number, only equal numbers are certain",
	async (listed) => {
		const list = listOf(listed, '+911909');
		expect(list.entryOf('+911909')).toEqual({ id: 1, phone: '+911909' });
		const asking = Promise.resolve().then(() => list.entryOf('+14155553211'));
		await expect(asking).rejects.toBeInstanceOf(InvalidInput);
		await expect(asking).rejects.toMatchObject({
			message: `"+14155553211" may be listed, because the entry "${listed}" on the list isn't a single phone number`,
			...CORRECT_ENTRY,
		});
	},
);

test('of entries with the same last digits, the first one is returned', () => {
	expect(listOf('12025550143', '+12025550143').entryOf('2025550143')).toMatchObject({ id: 0 });
});

test('a long list gives the same results as single entries', () => {
	const part = fc.constantFrom(
		...['+', '00', '0', '91', '9812345678', '202', '5550143', '44', '1', '12'],
	);
	const number = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
	const answerOf = (list: ListedNumbers, phone: string) => {
		try {
			return list.entryOf(phone) === undefined ? 'not listed' : 'listed';
		} catch (error) {
			return error instanceof InvalidInput ? 'doubtful' : error;
		}
	};
	fc.assert(
		fc.property(fc.array(number, { minLength: 1 }), number, (phones, phone) => {
			const alone = phones.map((one) => answerOf(listOf(one), phone));
			const expected = ['listed', 'doubtful'].find((answer) => alone.includes(answer));
			expect(answerOf(listOf(...phones), phone)).toBe(expected ?? 'not listed');
		}),
	);
});
