import fc from 'fast-check';
import { bytesOf, TransportFault } from '../../../../nodes/shared/api/http';
import { isJsonObject, parseJson, type JsonObject } from '../../../../nodes/shared/json';

const written = (entries: readonly unknown[]) => ({
	field: 'contacts',
	entries: Buffer.from(entries.map((entry) => JSON.stringify(entry)).join(',')),
});

/** As the service reads it. */
function readBack(bytes: Buffer): JsonObject {
	const read = parseJson(bytes.toString());
	if (!isJsonObject(read)) throw new Error("The body isn't an object");
	return read;
}

describe('the serialized body', () => {
	const text = fc.string({ unit: 'binary' });

	test('is the JSON of the object', () => {
		fc.assert(
			fc.property(fc.dictionary(text, text), (body) => {
				expect(bytesOf(body).toString()).toBe(JSON.stringify(body));
			}),
		);
	});

	test('contains a serialized list and all other fields', () => {
		fc.assert(
			fc.property(fc.dictionary(text, text), fc.array(text), (others, entries) => {
				const { contacts: _none, ...body } = others;
				const read = readBack(bytesOf(body, written(entries)));
				expect(read).toEqual({ ...body, contacts: entries });
			}),
		);
	});

	test('has the serialized list instead of a field with the same name', () => {
		const bytes = bytesOf({ contacts: ['other'], enqueue: true }, written([{ phone: '1' }]));
		expect(bytes.toString()).toBe('{"enqueue":true,"contacts":[{"phone":"1"}]}');
	});
});

test('a missing response has a code and a system call', () => {
	const fault = new TransportFault('ECONNRESET', 'The line broke', 'read');
	expect(fault).toMatchObject({
		name: 'TransportFault',
		code: 'ECONNRESET',
		message: 'The line broke',
		syscall: 'read',
	});
});
