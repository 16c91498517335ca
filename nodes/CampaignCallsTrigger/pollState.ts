import { OutcomeUnknown } from '../shared/api/errors';
import { onScreenOnly } from '../shared/api/resolution';
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json';

/** The most fingerprints to remember. They take 2.7 MB in n8n's database. */
const MAX_FINGERPRINTS = 250_000;

/** All contact lists are read after this time, because a list may show a call later than the campaign counts it. */
const ALL_LISTS_EVERY_MS = 3_600_000;

const BYTES = BigUint64Array.BYTES_PER_ELEMENT;

/** The queues, as the campaign status shows them, and the number of listed calls. */
export type EndedList = { queues: string; calls: number };

/** What the trigger remembers between polls. n8n stores it at publication, and then with each execution. */
export class PollState {
	private constructor(
		/** The calls that are checked. Other ones start with an empty state. */
		private readonly subject: string,
		/** Fingerprints of the outcomes that have started the workflow, or never do. */
		private readonly seen: Set<bigint>,
		/** The contact lists that were read before. */
		private readonly lists: Set<string>,
		/** Completed contact lists whose calls have all ended. */
		private readonly ended: Map<string, EndedList>,
		/** The attempts of the campaign that its lists don't show. Negative if calls were placed between the two readings. */
		private unlisted: number,
		/** When all lists were read. Epoch milliseconds. */
		private allReadAt: number,
	) {}

	/** Restores a state from {@link toStored}, or begins one. */
	static restore(stored: unknown, subject: string): PollState {
		const known = isJsonObject(stored) && stored.subject === subject ? stored : {};
		const { seen, lists, ended, unlisted, allReadAt } = known;
		const endedLists = Object.entries(isJsonObject(ended) ? ended : {});
		return new PollState(
			subject,
			fingerprintsFromText(typeof seen === 'string' ? seen : ''),
			new Set(Array.isArray(lists) ? lists.map(String) : []),
			new Map(endedLists.flatMap(([id, list]) => (isEndedList(list) ? [[id, list]] : []))),
			typeof unlisted === 'number' ? unlisted : 0,
			typeof allReadAt === 'number' ? allReadAt : -Infinity,
		);
	}

	toStored(): JsonObject {
		const { subject, seen, lists, ended, unlisted, allReadAt } = this;
		return {
			subject,
			seen: fingerprintsToText(seen),
			lists: [...lists],
			ended: Object.fromEntries(ended),
			unlisted,
			...(Number.isFinite(allReadAt) && { allReadAt }),
		};
	}

	/** Whether the first reading is complete. */
	get isBegun(): boolean {
		return Number.isFinite(this.allReadAt);
	}

	isKnown(listId: string): boolean {
		return this.lists.has(listId);
	}

	has(fingerprint: bigint): boolean {
		return this.seen.has(fingerprint);
	}

	/** @throws OutcomeUnknown if there are too many */
	add(fingerprints: readonly bigint[]): void {
		for (const one of fingerprints) this.seen.add(one);
		if (this.seen.size <= MAX_FINGERPRINTS) return;
		throw new OutcomeUnknown(
			`The trigger can't remember more than ${MAX_FINGERPRINTS.toLocaleString('en-US')} outcomes of calls`,
			onScreenOnly('Choose fewer calls, such as those of a new campaign or contact list.'),
		);
	}

	/** @param ended if it's completed, and all its calls have ended */
	noteRead(listId: string, ended: EndedList | undefined): void {
		this.lists.add(listId);
		if (ended === undefined) this.ended.delete(listId);
		else this.ended.set(listId, ended);
	}

	/** How many calls a list had that can have no new ones, as far as its queues show it. Undefined for other lists. */
	endedCalls(listId: string, queues: string | undefined, now: number): number | undefined {
		const ended = this.ended.get(listId);
		return !this.isDue(now) && ended?.queues === queues ? ended?.calls : undefined;
	}

	/** Whether the campaign has calls that no list showed before, such as a redial of a completed list. */
	hasMoreUnlisted(unlisted: number): boolean {
		return unlisted > this.unlisted;
	}

	noteAllRead(now: number, unlisted: number): void {
		this.unlisted = unlisted;
		if (this.isDue(now)) this.allReadAt = now;
	}

	private isDue(now: number): boolean {
		return Math.abs(now - this.allReadAt) >= ALL_LISTS_EVERY_MS;
	}
}

function isEndedList(list: JsonValue): list is EndedList {
	return isJsonObject(list) && typeof list.queues === 'string' && typeof list.calls === 'number';
}

/** As base64, with 8 bytes each. */
function fingerprintsToText(fingerprints: ReadonlySet<bigint>): string {
	return Buffer.from(BigUint64Array.from(fingerprints).buffer).toString('base64');
}

function fingerprintsFromText(text: string): Set<bigint> {
	const bytes = Buffer.from(text, 'base64');
	const fingerprints = new Set<bigint>();
	for (let offset = 0; offset + BYTES <= bytes.length; offset += BYTES) {
		fingerprints.add(bytes.readBigUInt64LE(offset));
	}
	return fingerprints;
}
