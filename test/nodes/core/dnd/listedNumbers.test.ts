import fc from 'fast-check';
import { ListedNumbers } from '../../../../nodes/core/dnd/listedNumbers';
import { InvalidInput } from '../../../../nodes/core/service/errors';
import { explainedBy } from '../values/explainedBy';

const WRITE_CODE = {
	resolutionOnScreen: 'Write the number with + and its country code.',
	resolutionForModel: 'Write the number with + and its country code.',
};
const CORRECT_ENTRY = {
	resolutionOnScreen: 'Correct this entry on the list.',
	resolutionForModel:
		'Treat the number as listed. Tell the user you are chatting with that this entry of the list must be corrected.',
};

const listOf = (...phones: unknown[]) =>
	new ListedNumbers(phones.map((phone, id) => ({ id, phone: String(phone) })));

test.each([
	['+919812345678', '9812345678'],
	['+919812345678', '+919812345678'],
	['+919812345678', '09812345678'],
	['+919812345678', '919812345678'],
	['9812345678', '+919812345678'],
	['+12025550143', '+12025550143'],
	['+12025550143', '12025550143'],
	['+442079460958', '00442079460958'],
	['٠٠٤٤٢٠٧٩٤٦٠٩٥٨', '+442079460958'],
	['+911123456789', '+911123456789'],
	// The zero of "+44 (0) 20 …" is only dialed at home.
	['+442079460958', '+4402079460958'],
	['+4402079460958', '+442079460958'],
	['+442079460958', '004402079460958'],
])('%s on the list is found by %s', (listed, phone) => {
	expect(listOf('+911909', listed).entryOf(phone)).toEqual({ id: 1, phone: listed });
});

test.each([
	['+919812345678', '9812345679'],
	['+919812345678', '+12345678'],
	['+919812345678', '+919912345678'],
	['+12025550143', '+442025550143'],
	['+12025550143', '00442025550143'],
	['+12025550143', '2025550144'],
	// Both have their country codes, although one ends like the other.
	['+919812345678', '+19812345678'],
	['+12025550143', '+4412025550143'],
	// Three digits are too few for a number.
	['+49301234', '234'],
	// Without the 8 that is dialed within Russia, too few digits are left.
	['+49301123', '8123'],
])('with %s on the list, %s is not listed', (listed, phone) => {
	expect(listOf(listed).entryOf(phone)).toBeUndefined();
});

test.each([
	['+12025550143', '2025550143'],
	['+442079460958', '02079460958'],
	['+442079460958', '(00)2079460958'],
	['+442079460958', '44 (0) 20 7946 0958'],
	['44 (0) 20 7946 0958', '+442079460958'],
	// Dialed from the United States.
	['+442079460958', '011442079460958'],
	['+919876543210', '011919876543210'],
	// Dialed from Australia, where 00 isn't the whole prefix.
	['+61412345678', '001161412345678'],
	['+6561234567', '00116561234567'],
	// Dialed within Russia and Lithuania.
	['+79123456789', '89123456789'],
	['+37061234567', '861234567'],
	['861234567', '+37061234567'],
	// Dialed within Belarus.
	['+375294911911', '80294911911'],
	['80294911911', '+375294911911'],
	// The list may have any format.
	['011442079460958', '+442079460958'],
	['001161412345678', '+61412345678'],
	// Kenya and Portugal, whose numbers have 15 where those of Argentina have a prefix.
	['254715123456', '011254715123456'],
	['0011351915123456', '351915123456'],
	// These ten digits could also be an Indian mobile number.
	['+16175550143', '6175550143'],
	// Contrary to the document, without its country code.
	['2025550143', '+12025550143'],
	['+912025550143', '2025550143'],
	// No number is shorter.
	['+49301234', '1234'],
	['1234', '+49301234'],
])('with %s on the list, %s is ambiguous', async (listed, phone) => {
	const asking = Promise.resolve().then(() => listOf(listed).entryOf(phone));
	await expect(asking).rejects.toBeInstanceOf(InvalidInput);
	await expect(asking).rejects.toMatchObject({
		message: `"${phone}" and "${listed}" on the list may be the same number, because one of them has no country code`,
		...(phone.startsWith('+') ? CORRECT_ENTRY : WRITE_CODE),
	});
});

const MEXICAN = ['+52 55 1234 5678', '+52 1 55 1234 5678'];
const ARGENTINE = ['+54 11 2345-6789', '+54 9 11 2345-6789'];
const ARGENTINE_WITH_BOTH = '+54 9 11 15 2345-6789';

test.each([
	MEXICAN,
	ARGENTINE,
	[...ARGENTINE].reverse(),
	[...MEXICAN].reverse(),
	['+250 720 123 456', '+250 0720 123 456'],
])('with %s on the list, %s may be the same number with another prefix', (listed, phone) => {
	expect(explainedBy(() => listOf(listed).entryOf(phone))).toMatchObject({
		message: `"${phone}" and "${listed}" on the list may be the same number, because one of them has a prefix that isn't always dialed`,
		resolutionOnScreen: "If it's the same person, write the number as it is on the list.",
		resolutionForModel: CORRECT_ENTRY.resolutionForModel,
	});
});

const MEXICAN_AT_HOME = ['55 1234 5678', '1 55 1234 5678', '01 55 1234 5678', '044 55 1234 5678'];
const MEXICAN_WITHOUT_PLUS = ['52 55 1234 5678', '52 1 55 1234 5678', '52 01 55 1234 5678'];
const ARGENTINE_AT_HOME = [
	...['11 2345-6789', '011 2345-6789', '9 11 2345-6789', '54 9 11 2345-6789'],
	...['011 15 2345-6789', '11 15 2345-6789', '15 2345-6789'],
	...['54 11 15 2345-6789', '54 011 15 2345-6789', '54 9 11 15 2345-6789'],
];

test.each([
	[MEXICAN, [...MEXICAN_AT_HOME, ...MEXICAN_WITHOUT_PLUS]],
	[[...ARGENTINE, ARGENTINE_WITH_BOTH], ARGENTINE_AT_HOME],
])('%j are never certainly others than %j', (international, national) => {
	const all = [...international, ...national];
	const isFree = (listed: string, phone: string) => {
		try {
			return listOf(listed).entryOf(phone) === undefined;
		} catch {
			return false;
		}
	};
	const free = all.flatMap((listed) =>
		all.filter((phone) => isFree(listed, phone)).map((phone) => [listed, phone]),
	);
	expect(free).toEqual([]);
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

test.each([[['12025550143', '+12025550143']], [['+12025550143', '12025550143']]])(
	'of the equal entries %j, the one without country code may equal more numbers',
	(phones) => {
		const list = listOf(...phones);
		expect(() => list.entryOf('+4412025550143')).toThrow('"12025550143" on the list');
	},
);

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
