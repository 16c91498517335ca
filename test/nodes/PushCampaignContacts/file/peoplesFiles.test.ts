import fc from 'fast-check';
import omit from 'lodash/omit';
import Papa from 'papaparse';
import { FileRows } from '../../../../nodes/PushCampaignContacts/file/fileRows';
import { resolveColumns } from '../../../../nodes/PushCampaignContacts/push/columns';
import { prepareRows } from '../../../../nodes/PushCampaignContacts/push/prepareRows';
import { InvalidInput } from '../../../../nodes/shared/api/errors';
import { isJsonObject, parseJson, type JsonObject } from '../../../../nodes/shared/json';
import { MANY_RUNS } from '../../../fuzz/runs';
import { defaultChoice } from '../push/scripted';

/** A person in a list. Each one has their own number and ID. */
type Person = { subscriber: string; cells: { [column: string]: string } };

const choice = { ...defaultChoice, from: 'csv' } as const;

const LATIN_NAMES = ['Asha Rao', 'Renée', 'Zoë', 'Rao, Asha', 'a "b" c', 'x;y', 'p|q', 'ÿ'];
const NAMES = [...LATIN_NAMES, 'आशा राव', 'रवि', 'ज़ोया', 'நா'];
const NOTES = ['', 'a\nb', '12, MG Road', '500', 'é', 'tab\there'];
/** Formats of a number that people or programs write. */
const FORMATS: Array<(digits: string) => string> = [
	(digits) => digits,
	(digits) => `+91${digits}`,
	(digits) => `91${digits}`,
	(digits) => `0${digits}`,
	(digits) => `+91 ${digits.slice(0, 5)} ${digits.slice(5)}`,
	(digits) => `${digits}.0`,
	(digits) => `${digits.charAt(0)}.${digits.slice(1)}E+9`,
];
const NAME_HEADINGS = ['person_name', 'Person Name', 'Name'];
const ENCODINGS = ['utf-8', 'utf-8 with mark', 'utf-16le', 'windows-1252'] as const;

type Written = {
	people: Person[];
	columns: string[];
	delimiter: string;
	newline: string;
	encoding: (typeof ENCODINGS)[number];
	hasLastLineBreak: boolean;
};

function bytesOf({ people, columns, delimiter, newline, encoding, hasLastLineBreak }: Written) {
	const rows = [columns, ...people.map(({ cells }) => columns.map((name) => cells[name] ?? ''))];
	const text = Papa.unparse(rows, { delimiter, newline }) + (hasLastLineBreak ? newline : '');
	if (encoding === 'utf-16le') return Buffer.from(`\ufeff${text}`, 'utf16le');
	if (encoding === 'windows-1252') return Buffer.from(text, 'latin1');
	return Buffer.from(encoding === 'utf-8' ? text : `\ufeff${text}`);
}

const subscriber = fc
	.tuple(fc.constantFrom('6', '7', '91', '98'), fc.integer({ min: 1, max: 99_999_998 }))
	.map(([start, rest]) => start + String(rest).padStart(10 - start.length, '0'))
	.filter((digits) => !digits.endsWith('000000'));

const written: fc.Arbitrary<Written> = fc
	.tuple(
		fc.constantFrom(...ENCODINGS),
		fc.constantFrom('phone', 'Phone', 'Mobile No'),
		fc.constantFrom(...NAME_HEADINGS),
	)
	.chain(([encoding, phone, name]) => {
		const isLatin = encoding === 'windows-1252';
		const person = fc.record({
			digits: subscriber,
			format: fc.constantFrom(...FORMATS),
			called: fc.constantFrom(...(isLatin ? LATIN_NAMES : NAMES)),
			note: fc.constantFrom(...NOTES),
		});
		const list = {
			minLength: 1,
			maxLength: 6,
			selector: ({ digits }: { digits: string }) => digits,
		};
		return fc.record({
			encoding: fc.constant(encoding),
			columns: fc.constantFrom([phone, 'id', name, 'note'], ['id', name, 'note', phone]),
			delimiter: fc.constantFrom(',', ';', '\t', '|'),
			newline: fc.constantFrom('\n', '\r\n', '\r'),
			hasLastLineBreak: fc.boolean(),
			people: fc.uniqueArray(person, list).map((people) =>
				people.map(({ digits, format, called, note }, index) => ({
					subscriber: digits,
					cells: { id: String(index), note, [name]: called, [phone]: format(digits) },
				})),
			),
		});
	});

/** The contacts that are sent from a file, and the rows that are rejected with a reason. */
async function pushed(content: Uint8Array) {
	const source = await FileRows.open({ name: 'a.csv', open: () => [content] });
	const columns = (await source.columns()).map((found) => resolveColumns(found, choice));
	const prepared = await prepareRows(source, columns);
	const contacts = await prepared.contactsOf([...prepared.rows]);
	const sent = parseJson(`[${contacts.join()}]`);
	if (!Array.isArray(sent)) throw new Error('The contacts are not a list');
	return {
		sent: sent.filter(isJsonObject),
		reported: [...prepared.notPushed],
		notes: source.notes,
		source,
	};
}

const orStopped = async (content: Uint8Array) =>
	await pushed(content).catch((error: unknown) => {
		if (error instanceof InvalidInput) return undefined;
		throw error;
	});

const subscriberOf = ({ phone }: JsonObject) => (typeof phone === 'string' ? phone.slice(-10) : '');

/** The cells of a person, by the headings of the file. */
function expected({ subscriber: digits, cells }: Person, { columns }: Written): JsonObject {
	const heading = columns.find((name) => NAME_HEADINGS.includes(name)) ?? '';
	return { id: cells.id ?? '', note: cells.note ?? '', name: cells[heading] ?? '', digits };
}

function asExpected(contact: JsonObject): JsonObject {
	const { id = '', note: text = '', person_name: name = '' } = contact;
	return { id, note: text, name, digits: subscriberOf(contact) };
}

test('sends or reports every person of a list in any format', async () => {
	await fc.assert(
		fc.asyncProperty(written, async (file) => {
			const { sent, reported, notes } = await pushed(bytesOf(file));
			const people = file.people.map((person) => expected(person, file));
			expect([sent.map(asExpected), reported]).toEqual([people, []]);
			const isGuessed =
				file.encoding === 'windows-1252' && bytesOf(file).some((byte) => byte > 0x7f);
			expect(notes.length > 0).toBe(isGuessed);
		}),
		{ numRuns: MANY_RUNS },
	);
});

/** A position in a file, equally likely everywhere. */
const cut = fc.noBias(fc.nat({ max: 5_000 }));

test('sends no incomplete row of a file that is cut off, and nothing wrong before its last cell', async () => {
	await fc.assert(
		fc.asyncProperty(written, cut, async (file, place) => {
			const whole = bytesOf(file);
			const result = await orStopped(whole.subarray(0, place % whole.length));
			if (result === undefined) return;
			// No reader can recognize that the last cell of the last row is cut off.
			const lastCell = file.columns.at(-1) === 'note' ? 'note' : 'digits';
			for (const [at, contact] of result.sent.entries()) {
				const wanted = file.people.slice(at, at + 1).map((person) => expected(person, file));
				const unsure = at === result.sent.length - 1 ? [lastCell] : [];
				expect(omit(asExpected(contact), unsure)).toEqual(omit(wanted[0], unsure));
			}
		}),
		{ numRuns: 3 * MANY_RUNS },
	);
});

/** Changes of a file between two readings. */
const CHANGES: Array<(bytes: Buffer, place: number) => Buffer> = [
	(bytes, place) => bytes.subarray(0, place),
	(bytes, place) => Buffer.concat([bytes.subarray(0, place), bytes.subarray(place + 1)]),
	(bytes, place) =>
		Buffer.concat([bytes.subarray(0, place), Buffer.from('7'), bytes.subarray(place)]),
	(bytes, place) =>
		Buffer.concat([bytes.subarray(0, place), Buffer.from('a'), bytes.subarray(place + 1)]),
];

const phonesIn = (contacts: readonly string[]) =>
	contacts.map((contact) => /"phone":"([^"]*)"/.exec(contact)?.[1]);

test('sends a changed file only to the numbers that were checked', async () => {
	await fc.assert(
		fc.asyncProperty(written, cut, fc.constantFrom(...CHANGES), async (file, place, change) => {
			let bytes = bytesOf(file);
			const source = await FileRows.open({ name: 'a.csv', open: () => [bytes] });
			const columns = (await source.columns()).map((found) => resolveColumns(found, choice));
			const { rows, contactsOf } = await prepareRows(source, columns);
			const checked = phonesIn(await contactsOf([...rows]));
			bytes = change(bytes, place % bytes.length);
			await source.close();
			const sent = await contactsOf([...rows]).then(phonesIn, (error: unknown) => error);
			if (sent instanceof Error)
				expect(sent.message).toMatch(/^The file changed after its rows were checked/);
			else expect(sent).toEqual(checked);
		}),
		{ numRuns: MANY_RUNS },
	);
});
