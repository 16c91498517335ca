import type { Contact } from '../../shared/api/types';

/** Guessed for a contact; it doubles where they are longer. */
const USUAL_BYTES = 128;
/** What UTF-8 takes at most for a UTF-16 unit. */
const MAX_BYTES = 3;
const COMMA = Buffer.from(',');

/** Contacts as the JSON that travels. Of a million rows, objects would leave 80 MB more for n8n to collect. */
export class ContactBuffer {
	private bytes: Buffer;
	/** Where each of them ends. */
	private readonly ends: number[] = [];

	constructor(expected: number) {
		this.bytes = Buffer.allocUnsafe(expected * USUAL_BYTES);
	}

	add(contact: Contact): void {
		const text = JSON.stringify(contact);
		const start = this.end;
		const most = start + COMMA.length + MAX_BYTES * text.length;
		if (most > this.bytes.length) {
			const larger = Buffer.allocUnsafe(2 * most);
			this.bytes.copy(larger, 0, 0, start);
			this.bytes = larger;
		}
		const begin = start === 0 ? 0 : start + COMMA.copy(this.bytes, start);
		this.ends.push(begin + this.bytes.write(text, begin));
	}

	/** The JSON of one, counted from 0 as they were added. */
	at(place: number): Buffer {
		const end = this.ends[place] ?? 0;
		const before = this.ends[place - 1];
		return this.bytes.subarray(before === undefined ? 0 : before + COMMA.length, end);
	}

	/** All of them, with commas in between. */
	all(): Buffer {
		return this.bytes.subarray(0, this.end);
	}

	/** Some of them, with commas in between. */
	some(places: readonly number[]): Buffer {
		const parts = places.flatMap((place, nth) =>
			nth === 0 ? [this.at(place)] : [COMMA, this.at(place)],
		);
		return Buffer.concat(parts);
	}

	private get end(): number {
		return this.ends.at(-1) ?? 0;
	}
}
