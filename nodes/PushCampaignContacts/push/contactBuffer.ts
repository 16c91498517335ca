import type { Contact } from '../../shared/api/types';

/** The initial size per contact. The buffer grows for longer ones. */
const USUAL_BYTES = 128;
/** The maximum length of a UTF-16 unit in UTF-8. */
const MAX_BYTES = 3;
const COMMA = Buffer.from(',');

/** Contacts as JSON. With a million rows, objects would leave 80 MB more garbage. */
export class ContactBuffer {
	private bytes: Buffer;
	/** The end of each contact. */
	private readonly ends: number[] = [];

	constructor(expected: number) {
		this.bytes = Buffer.allocUnsafe(expected * USUAL_BYTES);
	}

	add(contact: Contact): void {
		const text = JSON.stringify(contact);
		const start = this.end;
		const maxEnd = start + COMMA.length + MAX_BYTES * text.length;
		if (maxEnd > this.bytes.length) {
			const larger = Buffer.allocUnsafe(2 * maxEnd);
			this.bytes.copy(larger, 0, 0, start);
			this.bytes = larger;
		}
		const begin = start === 0 ? 0 : start + COMMA.copy(this.bytes, start);
		this.ends.push(begin + this.bytes.write(text, begin));
	}

	/** The JSON of one contact, in the order in which they were added. */
	at(position: number): Buffer {
		const end = this.ends[position] ?? 0;
		const before = this.ends[position - 1];
		return this.bytes.subarray(before === undefined ? 0 : before + COMMA.length, end);
	}

	/** All contacts, separated by commas. */
	all(): Buffer {
		return this.bytes.subarray(0, this.end);
	}

	/** Some contacts, separated by commas. */
	some(positions: readonly number[]): Buffer {
		const parts = positions.flatMap((position, index) =>
			index === 0 ? [this.at(position)] : [COMMA, this.at(position)],
		);
		return Buffer.concat(parts);
	}

	private get end(): number {
		return this.ends.at(-1) ?? 0;
	}
}
