/** Files as people and programs write them: nobody is lost, and no other number is called. */
import fc from 'fast-check';
import omit from 'lodash/omit';
import Papa from 'papaparse';
import { rowsOfFiles } from '../../../../nodes/PushCampaignContacts/push/csv';
import { contactsOf, resolveColumns } from '../../../../nodes/PushCampaignContacts/push/columns';
import { prepareRows } from '../../../../nodes/PushCampaignContacts/push/prepareRows';
import { InvalidInput } from '../../../../nodes/core/service/errors';
import { isJsonObject, parseJson } from '../../../../nodes/core/values/json';
import { MANY_RUNS } from '../../../fuzz/runs';
import { defaultChoice } from './scripted';

/** The people of a file, or why it isn't read. */
async function pushed(bytes: Uint8Array) {
	try {
		const input = await rowsOfFiles([{ label: 'a file', item: 0, open: () => Buffer.from(bytes) }]);
		const columns = resolveColumns(input.tables, defaultChoice);
		const { rows } = await prepareRows(input, columns);
		const sent = parseJson(`[${await contactsOf(rows, columns)}]`);
		const reported = input.rows.flatMap(({ status, reason }) => (status ? [[status, reason]] : []));
		return {
			sent: Array.isArray(sent) ? sent.filter(isJsonObject) : [],
			reported,
			notes: input.hints,
		};
	} catch (error) {
		if (error instanceof InvalidInput) return error.message;
		throw error;
	}
}

const LATIN_NAMES = ['Asha Rao', 'Renée', 'Zoë', 'Rao, Asha', 'a "b" c', 'x;y', 'p|q', 'ÿ'];
const NAMES = [...LATIN_NAMES, 'आशा राव', 'रवि', 'ज़ोया', 'நா'];
const NOTES = ['', 'a\nb', '12, MG Road', '500', 'é', 'tab\there'];
/** How people or programs write a number, and how it's sent. */
const FORMATS: Array<(digits: string) => [written: string, sent: string]> = [
	(digits) => [digits, digits],
	(digits) => [`+91${digits}`, `+91${digits}`],
	(digits) => [`91${digits}`, `+91${digits}`],
	(digits) => [`0${digits}`, digits],
	(digits) => [`+91 ${digits.slice(0, 5)} ${digits.slice(5)}`, `+91${digits}`],
	(digits) => [`${digits}.0`, digits],
];
const PHONES = ['phone', 'Phone', 'Mobile No'];
const PERSON_NAMES = ['person_name', 'Person Name', 'Name'];
const ENCODINGS = ['utf-8', 'utf-8 with mark', 'utf-16le', 'windows-1252'] as const;

const digits = fc
	.tuple(fc.constantFrom('6', '7', '91', '98'), fc.integer({ min: 1, max: 99_999_998 }))
	.map(([start, rest]) => start + String(rest).padStart(10 - start.length, '0'))
	.filter((number) => !number.endsWith('000000'));

/** A list of people, each with their own number and ID, and the bytes of its file. */
const written = fc
	.record({
		encoding: fc.constantFrom(...ENCODINGS),
		phone: fc.constantFrom(...PHONES),
		name: fc.constantFrom(...PERSON_NAMES),
		isPhoneLast: fc.boolean(),
		delimiter: fc.constantFrom(',', ';', '\t', '|'),
		newline: fc.constantFrom('\n', '\r\n', '\r'),
		isEnded: fc.boolean(),
		people: fc.uniqueArray(
			fc.record({
				number: digits,
				format: fc.constantFrom(...FORMATS),
				name: fc.constantFrom(...NAMES),
				note: fc.constantFrom(...NOTES),
			}),
			{ minLength: 1, maxLength: 6, selector: ({ number }) => number },
		),
	})
	.map(({ encoding, phone, name, isPhoneLast, delimiter, newline, isEnded, people }) => {
		const isLatin = encoding === 'windows-1252';
		const rows = people.map(({ number, format, note, ...person }, index) => {
			const [cell, sent] = format(number);
			const called = isLatin && !LATIN_NAMES.includes(person.name) ? 'Zoë' : person.name;
			const contact = { phone: sent, person_name: called, id: String(index), note };
			const others = [contact.id, called, note];
			return { contact, cells: isPhoneLast ? [...others, cell] : [cell, ...others] };
		});
		const header = isPhoneLast ? ['id', name, 'note', phone] : [phone, 'id', name, 'note'];
		const table = [header, ...rows.map(({ cells }) => cells)];
		const text = Papa.unparse(table, { delimiter, newline }) + (isEnded ? newline : '');
		const mark = encoding === 'utf-8' ? '' : '\ufeff';
		const bytes = isLatin
			? Buffer.from(text, 'latin1')
			: Buffer.from(mark + text, encoding === 'utf-16le' ? encoding : 'utf-8');
		const isGuessed = isLatin && bytes.some((byte) => byte > 0x7f);
		const lastCell = isPhoneLast ? 'phone' : 'note';
		return { bytes, contacts: rows.map(({ contact }) => contact), isGuessed, lastCell };
	});

test('sends or reports every person of a list in any format', async () => {
	await fc.assert(
		fc.asyncProperty(written, async ({ bytes, contacts, isGuessed }) => {
			const found = await pushed(bytes);
			expect(found).toMatchObject({ sent: contacts, reported: [] });
			expect(found).toHaveProperty('notes.length', isGuessed ? 1 : 0);
		}),
		{ numRuns: MANY_RUNS },
	);
});

/** A position in a file, equally likely everywhere. */
const place = fc.noBias(fc.nat({ max: 5_000 }));

test('sends no incomplete row of a file that is cut off, and nothing wrong before its last cell', async () => {
	await fc.assert(
		fc.asyncProperty(written, place, async ({ bytes, contacts, lastCell }, at) => {
			const found = await pushed(bytes.subarray(0, at % bytes.length));
			if (typeof found === 'string') return;
			for (const [index, contact] of found.sent.entries()) {
				// No reader can recognize that the last cell of the last row is cut off.
				const unsure = index === found.sent.length - 1 ? [lastCell] : [];
				expect(omit(contact, unsure)).toEqual(omit(contacts[index], unsure));
			}
		}),
		{ numRuns: 2 * MANY_RUNS },
	);
});
