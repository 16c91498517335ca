import partition from 'lodash/partition';
import { NotSent } from '../api/errors';
import { onScreenOnly } from '../api/resolution';
import { removeAll, type DeduplicationStore } from '../deduplicationStore';
import { noLimit } from '../keyedMutex';

/** Hexadecimal digits, and a separator. */
const CHARACTERS = [...'0123456789abcdef/'];
const END = '.';

/** More than any workflow has. If n8n is killed in several searches in a row, each can multiply the beginnings. */
const MAX_BEGINNINGS = 2_000;

/**
 * The names of the lists that a store contains. The store can't list its texts, so each beginning of a name is a text.
 * To find the names, all possible next characters are added, and then removed again. If n8n is killed in between, the
 * next search removes most of them, and can find names that no list has.
 */
export class ListNames {
	/**
	 * @param kind of the lists, such as "calls"
	 * @param exclusive runs one part of a search while nothing else uses the store
	 */
	constructor(
		private readonly store: DeduplicationStore,
		private readonly kind: string,
		private readonly exclusive = noLimit,
	) {}

	/** The texts that make the store contain this name. */
	textsOf(name: string): string[] {
		const whole = `${name}${END}`;
		return Array.from(whole, (_character, index) => this.textOf(whole.slice(0, index + 1)));
	}

	/** @throws NotSent if the store is damaged */
	async all(): Promise<string[]> {
		const names: string[] = [];
		const found: string[] = [];
		let beginnings = [''];
		while (beginnings.length > 0) {
			if (beginnings.length > MAX_BEGINNINGS) throw unreadable();
			const shorter = beginnings;
			const longer = await this.exclusive(async () => await this.longerThan(shorter));
			found.push(...longer);
			const [ends, others] = partition(longer, (text) => text.endsWith(END));
			names.push(...ends.map((text) => text.slice(0, -1)));
			beginnings = others;
		}
		const used = new Set(names.flatMap((name) => this.textsOf(name)));
		const unused = found.map((text) => this.textOf(text)).filter((text) => !used.has(text));
		if (unused.length > 0) {
			await this.exclusive(async () => await removeAll(this.store, unused));
		}
		return names;
	}

	/** The texts in the store that have one more character than these. */
	private async longerThan(beginnings: readonly string[]): Promise<string[]> {
		const candidates = beginnings.flatMap((text) => [...CHARACTERS, END].map((one) => text + one));
		const added = new Set(await this.store.add(candidates.map((text) => this.textOf(text))));
		await removeAll(this.store, [...added]);
		return candidates.filter((text) => !added.has(this.textOf(text)));
	}

	private textOf(beginning: string): string {
		return `list of ${this.kind} ${beginning}`;
	}
}

function unreadable(): NotSent {
	return new NotSent(
		"The lists of numbers of this workflow can't be read, so nothing was forgotten",
		onScreenOnly("Execute the node once with 'All Numbers' in 'Numbers to Forget'."),
		undefined,
		false,
		'n8n',
	);
}
