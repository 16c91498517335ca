import { fingerprint } from '../hash';
import { removeAll, type DeduplicationStore } from '../deduplicationStore';
import { type Limiter, noLimit } from '../keyedMutex';
import { CalledNumbers } from './calledNumbers';
import { ListNames } from './listNames';
import { forgetPushed } from './pushedKeys';

/** The first text of the store. n8n removes the oldest texts first, so if this one is there, all others are. */
const FIRST_TEXT = 'numbers of this workflow';

/** Of the few nodes of a workflow. */
const NODE_CHARACTERS = 6;

/** `calls`: one list per node. `pushes`: one list per node and campaign. */
export type ListOwner = { node: string } & (
	| { kind: 'calls' }
	| { kind: 'pushes'; campaign: number }
);

/** A number as the lists contain it: its keys in lists of pushes, and in lists of calls. */
export type NumberKeys = { pushed: readonly string[]; called: readonly string[] };

/** Where a number was forgotten. */
export type Forgotten = { campaigns: number[]; calls: boolean };

/** The name of a list, which is a part of its keys. */
export function listName(owner: ListOwner): string {
	const node = fingerprint(owner.node).slice(0, NODE_CHARACTERS);
	return owner.kind === 'calls' ? node : `${node}/${owner.campaign}`;
}

/** The key of a number in a list of calls. */
export function calledKey(list: string, number: string): string {
	return `${list} ${number}`;
}

/**
 * Creates the list unless it exists, so that its numbers can be forgotten without knowing its node or its campaign.
 *
 * @returns false if other texts were in the store before, or n8n has removed some, so that numbers may be missing
 */
export async function createList(store: DeduplicationStore, owner: ListOwner): Promise<boolean> {
	const texts = new ListNames(store, owner.kind).textsOf(listName(owner));
	const added = await store.add([FIRST_TEXT, ...texts]);
	if (!added.includes(FIRST_TEXT) || (await store.count()) === added.length) return true;
	await removeAll(store, added);
	return false;
}

/** All lists of numbers in a store. */
export class NumberLists {
	private constructor(
		private readonly store: DeduplicationStore,
		private readonly pushes: readonly string[],
		private readonly calls: readonly string[],
		private readonly exclusive: Limiter,
	) {}

	/**
	 * @param exclusive runs a few accesses while nothing else uses the store. All of them together can take minutes, and
	 * a process can't keep the store for so long.
	 */
	static async read(store: DeduplicationStore, exclusive = noLimit): Promise<NumberLists> {
		const pushes = await new ListNames(store, 'pushes', exclusive).all();
		const calls = await new ListNames(store, 'calls', exclusive).all();
		return new NumberLists(store, pushes, calls, exclusive);
	}

	async forget({ pushed, called }: NumberKeys): Promise<Forgotten> {
		const campaigns = new Set<number>();
		for (const list of this.pushes) {
			const isForgotten = await this.exclusive(
				async () => await forgetPushed(this.store, list, pushed),
			);
			if (isForgotten) campaigns.add(Number(list.split('/').at(-1)));
		}
		const numbers = new CalledNumbers(this.store);
		let calls = false;
		for (const key of this.calls.flatMap((list) => called.map((one) => calledKey(list, one)))) {
			if (await this.exclusive(async () => await numbers.forget(key))) calls = true;
		}
		return { campaigns: [...campaigns], calls };
	}
}
