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
	if (!isJsonObject(read)) throw new Error('The body is no object');
	return read;
}

describe('the body as it travels', () => {
	const text = fc.string({ unit: 'binary' });

	test('is its JSON', () => {
		fc.assert(
			fc.property(fc.dictionary(text, text), (body) => {
				expect(bytesOf(body).toString()).toBe(JSON.stringify(body));
			}),
		);
	});

	test('holds a list that is written already beside whatever else there is', () => {
		fc.assert(
			fc.property(fc.dictionary(text, text), fc.array(text), (others, entries) => {
				const { contacts: _none, ...body } = others;
				const read = readBack(bytesOf(body, written(entries)));
				expect(read).toEqual({ ...body, contacts: entries });
			}),
		);
	});

	test('holds the written list in the place of one that the body names alike', () => {
		const bytes = bytesOf({ contacts: ['other'], enqueue: true }, written([{ phone: '1' }]));
		expect(bytes.toString()).toBe('{"enqueue":true,"contacts":[{"phone":"1"}]}');
	});
});

test('an answer that did not come is known by its code, and by what the machine was doing', () => {
	const fault = new TransportFault('ECONNRESET', 'The line broke', 'read');
	expect(fault).toMatchObject({
		name: 'TransportFault',
		code: 'ECONNRESET',
		message: 'The line broke',
		syscall: 'read',
	});
});
