import type { PreparedRows } from './prepareRows';
import type { ContactBuffer } from './contactBuffer';

/** Creates the contacts of the next request while a request is in flight. */
export class Prefetcher {
	private next: { rows: readonly number[]; contacts: Promise<ContactBuffer> } | undefined;

	constructor(private readonly contactsOf: PreparedRows['contactsOf']) {}

	/** Starts to create the contacts of rows that are probably next. */
	begin(rows: readonly number[]): void {
		if (this.next !== undefined || rows.length === 0) return;
		const contacts = this.contactsOf(rows);
		// An error is thrown when the contacts are needed, which may be never.
		contacts.catch(() => undefined);
		this.next = { rows, contacts };
	}

	async contacts(rows: readonly number[]): Promise<ContactBuffer> {
		const { next } = this;
		const isPrefetched = next?.rows.length === rows.length && next.rows[0] === rows[0];
		if (isPrefetched) {
			this.next = undefined;
			return await next.contacts;
		}
		await this.end();
		return await this.contactsOf(rows);
	}

	/** Waits until prefetching ends, because a file can't be read twice at the same time. */
	async end(): Promise<void> {
		await this.next?.contacts.catch(() => undefined);
		this.next = undefined;
	}
}
