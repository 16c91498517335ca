import {
	collectColumns,
	resolveColumns,
	type ColumnChoice,
} from '../../../../nodes/PushCampaignContacts/feed/columns';
import { ROWS_PER_BREATH } from '../../../../nodes/PushCampaignContacts/feed/feed';
import { InvalidInput } from '../../../../nodes/shared/api/errors';

const defaults: ColumnChoice = { phone: 'phone', personName: 'person_name', others: 'all' };
const resolve = (columns: string[], choice: Partial<ColumnChoice> = {}) =>
	resolveColumns(new Set(columns), { ...defaults, ...choice });

const invalid = (columns: string[], choice: Partial<ColumnChoice> = {}): InvalidInput => {
	try {
		resolve(columns, choice);
	} catch (error) {
		if (error instanceof InvalidInput) return error;
		throw error;
	}
	throw new Error('The columns were accepted');
};

test('the columns of all rows are found, in the order in which they appear', async () => {
	let breaths = 0;
	const items = Array.from({ length: 2 * ROWS_PER_BREATH + 1 }, (_, i) => ({
		json: { a: 1, [`b${i % 2}`]: 2 },
	}));
	const found = await collectColumns(items, async () => {
		breaths++;
	});
	expect([...found]).toEqual(['a', 'b0', 'b1']);
	expect(breaths).toBe(2);
});

describe('the phone column', () => {
	test.each<[string, string[], string]>([
		['exactly the default', ['phone', 'Phone', 'Mobile'], 'phone'],
		['in another case', ['Name', 'Phone'], 'Phone'],
		['with spaces and a byte order mark', ['\ufeff PHONE ', 'x'], '\ufeff PHONE '],
		['before any synonym', ['Mobile', 'PHONE'], 'PHONE'],
		['by a synonym', ['Mobile Number', 'city'], 'Mobile Number'],
		['by a synonym in another writing', ['mobile_no', 'city'], 'mobile_no'],
	])('%s', (_name, columns, phone) => {
		expect(resolve(columns).phone).toBe(phone);
	});

	test('one that was entered is found in another case, but not by synonyms', () => {
		expect(resolve(['WhatsApp', 'Mobile'], { phone: 'whatsapp' }).phone).toBe('WhatsApp');
		expect(invalid(['Mobile'], { phone: 'whatsapp' }).message).toBe(
			'The input has no column "whatsapp"',
		);
	});

	test('one of several is not guessed', () => {
		const error = invalid(['Mobile', 'Phone Number']);
		expect(error.message).toBe('More than one column could be "phone": "Mobile", "Phone Number"');
		expect(error.resolution).toMatch(/right one in Phone Column.*Nothing was sent/);
	});

	test('a missing one names the columns that are there, not all of a hundred', () => {
		const many = Array.from({ length: 25 }, (_, i) => `c${i}`);
		expect(invalid(['city', 'plan']).resolution).toBe(
			'Enter in Phone Column the name of the column that holds phone numbers. The input has: "city", "plan". Nothing was sent.',
		);
		expect(invalid(many).resolution).toMatch(/"c19" and 5 more\. Nothing was sent\.$/);
	});
});

describe('the person name column', () => {
	test.each<[string, string[], string, string | undefined]>([
		['the default', ['phone', 'person_name'], 'person_name', 'person_name'],
		['in another writing', ['phone', 'Person Name'], 'person_name', 'Person Name'],
		['by a synonym', ['phone', 'Full Name'], 'person_name', 'Full Name'],
		['none, when there is none', ['phone'], 'person_name', undefined],
		['none, when none is wanted', ['phone', 'person_name'], ' ', undefined],
		['one that was entered', ['phone', 'Lead'], 'lead', 'Lead'],
	])('%s', (_name, columns, personName, expected) => {
		expect(resolve(columns, { personName }).personName).toBe(expected);
	});

	test('one of several is not guessed', () => {
		const error = invalid(['phone', 'Full Name', 'Lead Name']);
		expect(error.message).toBe(
			'More than one column could be "person_name": "Full Name", "Lead Name"',
		);
		expect(error.resolution).toMatch(/right one in Person Name Column,/);
	});

	test('one that was entered must exist', () => {
		expect(invalid(['phone'], { personName: 'lead' })).toMatchObject({
			message: 'The input has no column "lead"',
			resolution: expect.stringMatching(
				/^Enter in Person Name Column the name of the column that holds names\./,
			),
		});
	});
});

describe('the other columns', () => {
	test('those that are listed must exist, in any case', () => {
		expect(resolve(['phone', 'City'], { others: ['city'] }).others).toEqual(['City']);
		expect(invalid(['phone'], { others: ['city'] }).resolution).toMatch(
			/^Enter in Columns to Send the name of the column that holds the values to send\./,
		);
	});

	test('one that is listed and could be two is not guessed', () => {
		expect(invalid(['phone', 'City', 'CITY'], { others: ['city'] }).resolution).toMatch(
			/right one in Columns to Send,/,
		);
	});

	test('phone, name, what this node adds to rejected rows and a column without heading never ride along', () => {
		expect([...resolve(['Mobile', 'Name']).reserved].sort()).toEqual([
			'',
			'Mobile',
			'Name',
			'person_name',
			'phone',
			'rejection_reason',
			'rejection_status',
		]);
	});
});
