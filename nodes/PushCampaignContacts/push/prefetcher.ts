import type { PreparedRows } from './prepareRows';
import type { ContactBuffer } from './contactBuffer';

/** Makes the contacts of a request, those of the next one while a request is under way. */
export class Prefetcher {
	private next: { rows: readonly number[]; contacts: Promise<ContactBuffer> } | undefined;

	constructor(private readonly contactsOf: PreparedRows['contactsOf']) {}

	/** Makes those of rows that will most likely be asked for. */
	begin(rows: readonly number[]): void {
		if (this.next !== undefined || rows.length === 0) return;
		const contacts = this.contactsOf(rows);
		// What went wrong is told when they are asked for, which may be never.
		contacts.catch(() => undefined);
		this.next = { rows, contacts };
	}

	async contacts(rows: readonly number[]): Promise<ContactBuffer> {
		const { next } = this;
		const areThese = next?.rows.length === rows.length && next.rows[0] === rows[0];
		if (areThese) {
			this.next = undefined;
			return await next.contacts;
		}
		await this.end();
		return await this.contactsOf(rows);
	}

	/** Waits for what was begun: two who read one file would disturb each other. */
	async end(): Promise<void> {
		await this.next?.contacts.catch(() => undefined);
		this.next = undefined;
	}
}
